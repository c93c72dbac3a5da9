package local_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

func TestClose(t *testing.T) {
	t.Run("twice_and_without_a_job", func(t *testing.T) {
		s := scheduler.New(local.New(local.Options{}), scheduler.Options{})
		for range 2 {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := s.Run(t.Context(), emptyJob(1)); !errors.Is(err, scheduler.ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
		s.Drop(lineage.Drop{Scopes: []lineage.Scope{lineage.Scope{Batch: 1}}})
	})
	t.Run("fails_running_jobs_and_cancels_their_tasks", func(t *testing.T) {
		s := scheduler.New(local.New(local.Options{}), scheduler.Options{})
		src := new(schedulertest.Graph).Source("source", 1, nil)
		begun := make(chan bool, 1)
		src.Hook = func(ctx context.Context, env lineage.Env, part int) error {
			begun <- true
			<-ctx.Done()
			return ctx.Err()
		}
		job, _ := schedulertest.Collect(src)
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := s.Run(t.Context(), job); !errors.Is(err, scheduler.ErrClosed) {
				t.Errorf("got %v, want ErrClosed", err)
			}
		})
		<-begun
		s.Close()
		wg.Wait()
	})
	t.Run("nothing_is_held_afterwards", func(t *testing.T) {
		c := local.New(local.Options{Executors: 2, Dir: t.TempDir()})
		s := scheduler.New(c, scheduler.Options{})
		g := new(schedulertest.Graph)
		src := g.Source("source", 3, func(part int) []int64 { return []int64{int64(part), 7} }).Persist()
		job, _ := schedulertest.Collect(g.Shuffle("final", src, 2))
		if err := s.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		if outputs, persisted := c.Blocks(); outputs != 3 || persisted != 3 {
			t.Errorf("before: %d outputs, %d partitions", outputs, persisted)
		}
		s.Close()
		outputs, persisted := c.Blocks()
		reserved, stored := c.Memory()
		if outputs+persisted != 0 || reserved+stored != 0 {
			t.Errorf("%d outputs, %d partitions, %d bytes reserved, %d stored", outputs, persisted, reserved, stored)
		}
	})
	t.Run("cluster_serves_one_scheduler", func(t *testing.T) {
		c := local.New(local.Options{})
		s1 := scheduler.New(c, scheduler.Options{})
		defer s1.Close()
		if err := s1.Run(t.Context(), emptyJob(1)); err != nil {
			t.Fatal(err)
		}
		s2 := scheduler.New(c, scheduler.Options{})
		defer s2.Close()
		if err := s2.Run(t.Context(), emptyJob(1)); err == nil {
			t.Error("a second scheduler ran a job on the same cluster")
		}
	})
	t.Run("wrong_options_fail_the_first_job", func(t *testing.T) {
		s := scheduler.New(local.New(local.Options{Slots: -1}), scheduler.Options{})
		defer s.Close()
		if err := s.Run(t.Context(), emptyJob(1)); err == nil {
			t.Error("slots of -1 were accepted")
		}
	})
}
