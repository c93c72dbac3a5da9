package recovery

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

var (
	ownerOf     = flag.String("recovery.owner", "", "for the other process of a test only: the site that it owns")
	allDamages  = flag.Bool("recovery.all", false, "every damage of TestDamage, not one in eight")
	manyBatches = flag.Int("recovery.batches", 2000, "batches of TestManyBatches")
)

func TestMain(m *testing.M) {
	flag.Parse()
	if *ownerOf != "" {
		os.Exit(own(site{*ownerOf}))
	}
	goleak.VerifyTestMain(m)
}
