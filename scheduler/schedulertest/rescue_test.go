package schedulertest_test

import (
	"testing"
	"time"

	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

func TestSpeculationGetsPastAHangingAttempt(t *testing.T) {
	for _, of := range []string{"map", "result"} {
		t.Run("D25_"+of, func(t *testing.T) {
			k := &schedulertest.KillSwitch{Backend: local.New(local.Options{Executors: 2, Slots: 2}),
				Decide: func(task *scheduler.Task) schedulertest.Fate {
					a := task.Attempt
					if (task.Shuffle != nil) == (of == "map") && a.Partition == 0 && a.Number == 0 {
						return schedulertest.Hang
					}
					return schedulertest.Run
				}}
			copies, killed := 0, 0
			s := scheduler.New(k, scheduler.Options{
				Speculation: scheduler.Speculation{Enabled: true, Interval: time.Millisecond, MinRuntime: 1, Multiplier: 1, Quantile: 0.5, AnyRate: true},
				Listeners: []scheduler.Listener{{
					TaskStarted: func(e scheduler.TaskStarted) {
						if e.Speculative && e.Attempt.Partition == 0 {
							copies++
						}
					},
					TaskEnded: func(e scheduler.TaskEnded) {
						if e.Killed && e.Attempt.Partition == 0 && e.Attempt.Number == 0 {
							killed++
						}
					},
				}}})
			if err := collect(t, s); err != nil {
				t.Error(err)
			}
			s.Close()
			if copies == 0 || killed == 0 {
				t.Errorf("%d copies of the hanging task were run, %d attempts of it killed", copies, killed)
			}
		})
	}
}

func TestExclusionKeepsAwayFromABrokenExecutor(t *testing.T) {
	for _, on := range []bool{false, true} {
		k := &schedulertest.KillSwitch{Backend: local.New(local.Options{Executors: 2, Slots: 1}),
			Decide: func(task *scheduler.Task) schedulertest.Fate {
				if task.Executor == "local-0" && task.Attempt.Number%2 == 0 {
					return schedulertest.Fail
				}
				return schedulertest.Run
			}}
		failures := 0
		s := scheduler.New(k, scheduler.Options{Exclusion: scheduler.Exclusion{Enabled: on}, Listeners: []scheduler.Listener{{
			TaskEnded: func(e scheduler.TaskEnded) {
				if e.Err != nil {
					failures++
				}
			}}}})
		for range 5 {
			if err := collect(t, s); err != nil {
				t.Error(err)
			}
		}
		s.Close()
		if on && failures > 2 { // of the first stage; it succeeds in the end, and the executor is excluded from the others
			t.Errorf("D26f: %d failures on the broken executor", failures)
		}
		if !on && failures < 5 {
			t.Errorf("without exclusion %d failures only: the test shows nothing", failures)
		}
	}
}
