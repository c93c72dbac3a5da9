package failover

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

var (
	losses  = flag.Int("failover.losses", 64, "how often TestLeaderLossInsideEachStep loses the leader")
	seed    = flag.Uint64("failover.seed", 1, "the first seed; a run of eight losses has one")
	batches = flag.Int64("failover.batches", 200, "batches of TestStateUnderFaults_Toy8")
	disks   = flag.Int("failover.disks", 5, "how often TestTheDiskOfTheLeaderFails_Toy11 has a disk fail")
	growth  = flag.Int64("failover.growth", 200, "batches of TestNothingGrows_Toy13")
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
