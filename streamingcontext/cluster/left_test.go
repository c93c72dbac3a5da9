package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

func TestPartsThatHang(t *testing.T) {
	in := func(name string, run func(t *testing.T, node *Node, dir string)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				node, err := Open(dir, Options{})
				if err != nil {
					t.Fatal(err)
				}
				run(t, node, dir)
				if err := node.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
	in("a_node_that_is_well_waits_for_its_parts", func(t *testing.T, node *Node, _ string) {
		hang := make(chan struct{})
		time.AfterFunc(time.Hour, func() { close(hang) })
		if err := node.ended("part", func() { <-hang }); err != nil {
			t.Errorf("a part that ends at last: %v", err)
		}
	})
	in("a_node_that_has_stopped_leaves_them_behind", func(t *testing.T, node *Node, dir string) {
		stop(t, node, dir)
		hang := make(chan struct{})
		before := time.Now()
		if err := node.ended("part", func() { <-hang }); !errors.Is(err, ErrLeftBehind) || time.Since(before) != leftAfter {
			t.Errorf("a part that hangs: %v after %s", err, time.Since(before))
		}
		close(hang)
		if err := node.ended("part", func() {}); err != nil {
			t.Errorf("a part that ends: %v", err)
		}
	})
	in("a_node_that_stops_ends_what_it_serves", func(t *testing.T, node *Node, dir string) {
		stop(t, node, dir)
		var poison *raftlog.PoisonError
		if err := node.Serve(t.Context(), func(ctx context.Context) error { <-ctx.Done(); return nil }); !errors.As(err, &poison) {
			t.Errorf("Serve = %v, want a PoisonError", err)
		}
	})
}

// stop makes a node that was just opened stop for good: it cannot write which cluster it is in.
func stop(t *testing.T, node *Node, dir string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(dir, "raft", "identity.tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	<-node.log.Failed()
}
