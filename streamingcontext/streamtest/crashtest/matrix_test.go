package crashtest_test

import (
	"flag"
	"testing"

	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest/crashtest"
)

var (
	all  = flag.Bool("crash.all", false, "run all crash points, not a sample of them")
	seed = flag.Uint64("crash.seed", 1, "which cases a sample has")
)

// TestMatrix runs programs of all kinds of streams, inputs and sinks under crashes, and prints the points.
// Shows INV-1, INV-3, INV-4, INV-6.
func TestMatrix(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup func(*streamingcontext.Context, *crashtest.World) error
	}{{"state_window_mapWithState", stateful}, {"exactlyonce_to_files", exactlyOnce}, {"received_blocks", received}, {"blobs", blobs}} {
		t.Run(c.name, func(t *testing.T) {
			crashtest.Run(t, crashtest.Program{Setup: c.setup, Seed: *seed, All: *all})
		})
	}
}
