package local_test

import (
	"errors"
	"testing"

	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

func TestExecutorsComeWithoutAJob(t *testing.T) {
	cluster := local.New(local.Options{Executors: 3, Slots: 1})
	s := scheduler.New(cluster, scheduler.Options{})
	if n := len(cluster.Executors()); n != 0 {
		t.Errorf("%d executors before the start", n)
	}
	for range 2 {
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
	}
	<-cluster.Ready()
	if n := len(cluster.Executors()); n != 3 {
		t.Errorf("%d executors, want 3", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Start(); !errors.Is(err, scheduler.ErrClosed) {
		t.Errorf("start after close: %v", err)
	}
}
