package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

func TestCancel(t *testing.T) {
	for _, c := range []struct {
		name   string
		cancel func(s *scheduler.Scheduler)
	}{
		{"D30_group", func(s *scheduler.Scheduler) { s.CancelGroup("g", false) }},
		{"D30_group_and_later_jobs", func(s *scheduler.Scheduler) { s.CancelGroup("g", true) }},
		{"D30_tag", func(s *scheduler.Scheduler) { s.CancelTag("y") }},
		{"D30_job", func(s *scheduler.Scheduler) { s.CancelJob(0) }},
		{"D30_stage", func(s *scheduler.Scheduler) { s.CancelStage(0) }},
		{"D30_all", func(s *scheduler.Scheduler) { s.CancelAll() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			backend := new(schedulertest.Scripted)
			s := scheduler.New(backend, scheduler.Options{})
			defer s.Close()
			backend.Add("a", 1)
			job, _ := schedulertest.Collect(new(schedulertest.Graph).Source("numbers", 1, nil))
			job.Properties = lineage.Properties{Group: "g", Tags: []string{"x", "y"}}
			over := make(chan error, 1)
			var run sync.WaitGroup
			defer run.Wait()
			run.Go(func() { over <- s.Run(t.Context(), job) })
			if err := backend.Wait(t.Context(), func() bool { return len(backend.Launched()) == 1 }); err != nil {
				t.Fatal(err)
			}
			c.cancel(s)
			err := <-over
			var canceled *scheduler.CanceledError
			if !errors.Is(err, scheduler.ErrCanceled) || !errors.As(err, &canceled) || canceled.Job != 0 || canceled.Name != "collect" {
				t.Errorf("got %v, want a canceled error of job 0", err)
			}
			if errors.Is(err, context.Canceled) {
				t.Errorf("%v says that a context was canceled", err)
			}
			if err := backend.Wait(t.Context(), func() bool { return len(backend.Canceled()) == 1 }); err != nil {
				t.Error(err)
			}
			backend.Fail(backend.Launched()[0], errors.New("killed"))

			// The scheduler goes on; a later job of the group fails only where that was asked for.
			run.Go(func() { over <- s.Run(t.Context(), job) })
			if c.name == "D30_group_and_later_jobs" {
				if err := <-over; !errors.Is(err, scheduler.ErrCanceled) {
					t.Errorf("a later job of the group: %v", err)
				}
				return
			}
			if err := backend.Wait(t.Context(), func() bool { return len(backend.Launched()) == 2 }); err != nil {
				t.Fatal(err)
			}
			backend.Succeed(backend.Launched()[1], []int64{})
			if err := <-over; err != nil {
				t.Errorf("a later job: %v", err)
			}
		})
	}
}

func TestCanceledByContextIsCanceled(t *testing.T) {
	s := scheduler.New(new(schedulertest.Scripted), scheduler.Options{})
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	job, _ := schedulertest.Collect(new(schedulertest.Graph).Source("numbers", 1, nil))
	if err := s.Run(ctx, job); !errors.Is(err, scheduler.ErrCanceled) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestCanceledGroupsAreRememberedUpToALimit(t *testing.T) {
	loop := scheduler.NewScriptLoop(new(schedulertest.Scripted), scheduler.Options{})
	for i := range 1001 {
		loop.CancelGroup(fmt.Sprint("g", i), true)
		loop.CancelGroup("g1000", true) // a second time takes no room
	}
	if n := loop.CanceledGroups(); n != 1000 {
		t.Errorf("%d groups are remembered, want 1000", n)
	}
}

// Attempts ask from many goroutines, while the scheduler goes on: of two of the same partition one is told yes.
func TestMayCommitIsAskedFromAnyGoroutine(t *testing.T) {
	backend := new(schedulertest.Scripted)
	s := scheduler.New(backend, scheduler.Options{})
	defer s.Close()
	backend.Add("a", 40)
	g := new(schedulertest.Graph)
	counts := g.Shuffle("counts", g.Source("words", 1, nil), 11)
	job, _ := schedulertest.Collect(counts)
	over := make(chan error, 1)
	var run sync.WaitGroup
	defer run.Wait()
	run.Go(func() { over <- s.Run(t.Context(), job) })
	launched := func(n int) []*scheduler.Task {
		if err := backend.Wait(t.Context(), func() bool { return len(backend.Launched()) == n }); err != nil {
			t.Fatal(err)
		}
		return backend.Launched()
	}
	backend.Succeed(launched(1)[0], nil)
	first := launched(12)[1:]
	// The last reducer fails to fetch: the others go on, and a second attempt of each begins.
	backend.Fail(first[10], &scheduler.FetchError{Shuffle: counts.ShuffleOf().ID, Map: -1})
	second := launched(23)[12:]
	if backend.MayCommit(first[10].ID) || backend.MayCommit(99) {
		t.Error("an attempt that is over, or none, may commit")
	}
	yes := make([][2]bool, 10)
	var ask sync.WaitGroup
	for i := range yes {
		for which, task := range []*scheduler.Task{first[i], second[i]} {
			ask.Go(func() {
				yes[i][which] = backend.MayCommit(task.ID)
				for range 20 {
					if backend.MayCommit(task.ID) != yes[i][which] {
						t.Errorf("partition %d: the answer has changed", i)
					}
				}
			})
		}
	}
	ask.Wait()
	for i, y := range yes {
		if y[0] == y[1] {
			t.Errorf("partition %d: the two attempts were told %v", i, y)
		}
		if y[0] {
			backend.Succeed(first[i], []int64{})
			backend.Fail(second[i], errors.New("killed"))
		} else {
			backend.Succeed(second[i], []int64{})
		}
	}
	backend.Succeed(second[10], []int64{})
	if err := <-over; err != nil {
		t.Error(err)
	}
	if backend.MayCommit(second[10].ID) {
		t.Error("an attempt may commit though its job is over")
	}
}
