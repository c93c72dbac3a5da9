package schedulertest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

func TestKillSwitchIsABackend(t *testing.T) {
	schedulertest.RunBackend(t, func(executors, slots int) schedulertest.Cluster {
		return &schedulertest.KillSwitch{Backend: local.New(local.Options{Executors: executors, Slots: slots})}
	})
}

// collect runs a job of two stages over k and checks its rows and that each came once.
func collect(t *testing.T, s *scheduler.Scheduler) error {
	t.Helper()
	g := new(schedulertest.Graph)
	src := g.Source("source", 4, func(part int) []int64 { return []int64{int64(part), int64(part) + 4} })
	job, result := schedulertest.Collect(g.Shuffle("final", src, 2))
	if err := s.Run(t.Context(), job); err != nil {
		return err
	}
	if diff := cmp.Diff(result.Rows(), [][]int64{{0, 4, 2, 6}, {1, 5, 3, 7}}); diff != "" {
		t.Errorf("rows (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(result.Times(), []int{1, 1}); diff != "" {
		t.Errorf("results (-got +want):\n%s", diff)
	}
	return nil
}

func TestKillSwitch(t *testing.T) {
	// first gives the first attempt of partition 1 of the map stage a fate.
	first := func(fate schedulertest.Fate) func(*scheduler.Task) schedulertest.Fate {
		return func(task *scheduler.Task) schedulertest.Fate {
			if a := task.Attempt; task.Shuffle != nil && a.Partition == 1 && a.Number == 0 && a.StageAttempt == 0 {
				return fate
			}
			return schedulertest.Run
		}
	}
	for _, fate := range []schedulertest.Fate{schedulertest.Fail, schedulertest.Kill, schedulertest.KillAfter, schedulertest.Twice} {
		t.Run(fmt.Sprintf("fate_%d_costs_no_rows", fate), func(t *testing.T) {
			k := &schedulertest.KillSwitch{Backend: local.New(local.Options{Executors: 2, Slots: 1}), Decide: first(fate)}
			s := scheduler.New(k, scheduler.Options{})
			defer s.Close()
			if err := collect(t, s); err != nil {
				t.Error(err)
			}
			if k.Seen(fate) != 1 {
				t.Errorf("%d attempts met the fate", k.Seen(fate))
			}
		})
	}
	for _, fate := range []schedulertest.Fate{schedulertest.Hold, schedulertest.Late} {
		t.Run(fmt.Sprintf("fate_%d_waits_for_its_release", fate), func(t *testing.T) {
			k := &schedulertest.KillSwitch{Backend: local.New(local.Options{Executors: 2, Slots: 1}), Decide: first(fate)}
			s := scheduler.New(k, scheduler.Options{})
			defer s.Close()
			var wg sync.WaitGroup
			wg.Go(func() {
				if err := collect(t, s); err != nil {
					t.Error(err)
				}
			})
			released := 0
			if err := k.Wait(t.Context(), func() bool { released += k.ReleaseAll(); return released > 0 }); err != nil {
				t.Error(err)
			}
			wg.Wait()
			if released != 1 || k.ReleaseAll() != 0 {
				t.Errorf("%d released", released)
			}
		})
	}
	t.Run("hanging_attempts_end_when_they_are_cancelled", func(t *testing.T) {
		k := &schedulertest.KillSwitch{Backend: local.New(local.Options{Executors: 2, Slots: 1}), Decide: first(schedulertest.Hang)}
		ends := make(chan error, 20)
		s := scheduler.New(k, scheduler.Options{Listeners: []scheduler.Listener{{TaskEnded: func(e scheduler.TaskEnded) {
			if e.Attempt.Partition == 1 {
				ends <- e.Err
			}
		}}}})
		defer s.Close()
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			job, _ := schedulertest.Collect(new(schedulertest.Graph).Source("source", 2, func(int) []int64 { return nil }))
			job.Run = func(context.Context, lineage.Env, int) (lineage.Block, error) { return nil, nil }
			k.Decide = func(task *scheduler.Task) schedulertest.Fate {
				if task.Attempt.Partition == 1 {
					return schedulertest.Hang
				}
				return schedulertest.Run
			}
			if err := s.Run(ctx, job); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
		if err := k.Wait(t.Context(), func() bool { return len(k.Held()) == 1 }); err != nil {
			t.Error(err)
		}
		if k.ReleaseAll() != 0 {
			t.Error("a hanging attempt was released")
		}
		cancel()
		wg.Wait()
		if err := <-ends; !errors.Is(err, context.Canceled) {
			t.Errorf("the attempt ended with %v", err)
		}
	})
}

// Whatever befalls attempts, at random, the rows are the same. A failure prints its seed.
func TestRandomFates(t *testing.T) {
	for seed := range uint64(200) {
		var mu sync.Mutex // guards rng and harm
		rng := rand.New(rand.NewPCG(seed, 3))
		harm := 10
		k := &schedulertest.KillSwitch{Backend: local.New(local.Options{Executors: 3, Slots: 2, Isolate: seed%2 == 0}),
			Decide: func(*scheduler.Task) schedulertest.Fate {
				mu.Lock()
				defer mu.Unlock()
				fates := []schedulertest.Fate{schedulertest.Fail, schedulertest.Hold, schedulertest.Kill,
					schedulertest.KillAfter, schedulertest.Late, schedulertest.Twice}
				if harm == 0 || rng.IntN(2) == 0 {
					return schedulertest.Run
				}
				harm--
				return fates[rng.IntN(len(fates))]
			}}
		s := scheduler.New(k, scheduler.Options{MaxFailures: 100, MaxStageFailures: 100})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			_ = k.Wait(ctx, func() bool { k.ReleaseAll(); return false })
		})
		if err := collect(t, s); err != nil {
			t.Error(err)
		}
		cancel()
		wg.Wait()
		s.Close()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
