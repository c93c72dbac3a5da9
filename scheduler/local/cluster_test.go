package local_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	_ scheduler.Backend     = (*local.Cluster)(nil)
	_ schedulertest.Cluster = (*local.Cluster)(nil)
)

func TestBackend(t *testing.T) {
	for _, isolate := range []bool{false, true} {
		t.Run(map[bool]string{false: "shared", true: "isolated"}[isolate], func(t *testing.T) {
			schedulertest.RunBackend(t, func(executors, slots int) schedulertest.Cluster {
				return local.New(local.Options{Executors: executors, Slots: slots, Isolate: isolate})
			})
		})
	}
}
