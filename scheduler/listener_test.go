package scheduler_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// TestEvents looks at what events say, one by one, through the event handler.
func TestEvents(t *testing.T) {
	var jobs []scheduler.JobStarted
	var jobEnds []scheduler.JobEnded
	var submitted []scheduler.StageSubmitted
	var completed []scheduler.StageCompleted
	var ended []scheduler.TaskEnded
	var blocks []scheduler.BlockUpdated
	var forgotten []lineage.Drop
	backend := new(schedulertest.Scripted)
	loop := scheduler.NewScriptLoop(backend, scheduler.Options{Listeners: []scheduler.Listener{{
		JobStarted:     func(e scheduler.JobStarted) { jobs = append(jobs, e) },
		JobEnded:       func(e scheduler.JobEnded) { jobEnds = append(jobEnds, e) },
		StageSubmitted: func(e scheduler.StageSubmitted) { submitted = append(submitted, e) },
		StageCompleted: func(e scheduler.StageCompleted) { completed = append(completed, e) },
		TaskEnded:      func(e scheduler.TaskEnded) { ended = append(ended, e) },
		BlockUpdated:   func(e scheduler.BlockUpdated) { blocks = append(blocks, e) },
		Unpersisted:    func(d lineage.Drop) { forgotten = append(forgotten, d) },
	}}})
	loop.ExecutorAdded(scheduler.ExecutorInfo{ID: "a", Host: "h1", Slots: 2})
	g := new(schedulertest.Graph)
	words := g.Source("words", 2, nil)
	counts := g.Shuffle("counts", words, 1)
	job, _ := schedulertest.Collect(counts)
	job.Properties = lineage.Properties{Group: "batch", Description: "the first", Tags: []string{"x"}}
	loop.Submit(job)
	job.Properties.Tags[0] = "changed" // events have a copy
	loop.Advance(2 * time.Second)
	tasks := backend.Launched()
	loop.TaskEnded(schedulertest.Success(tasks[0], nil))
	loop.TaskEnded(&scheduler.TaskEnd{Task: tasks[1].ID, Err: errors.New("no luck"), Metrics: lineage.Metrics{InputRows: 5}})
	loop.Advance(time.Second)
	loop.TaskEnded(schedulertest.Success(backend.Launched()[2], nil))
	end := schedulertest.Success(backend.Launched()[3], []int64{})
	end.Metrics = lineage.Metrics{RunTime: 7, FetchedBytes: 9}
	end.Updates = []lineage.Update{{ID: 1, Name: "rows", Value: 3}, {ID: 2, Value: 4}}
	id := scheduler.BlockID{Node: counts.ID(), Part: 0}
	end.Cached = []scheduler.CachedBlock{{BlockID: id, Executors: []scheduler.ExecutorID{"a"}}}
	loop.TaskEnded(end)
	job.Properties = lineage.Properties{}
	loop.Submit(job)
	loop.TaskEnded(schedulertest.Success(backend.Launched()[4], []int64{}))
	loop.BlocksLost("a", []scheduler.BlockID{id})
	loop.Forget(lineage.Drop{Nodes: []lineage.NodeID{counts.ID()}})

	t.Run("E1_job_start_lists_all_stages_and_copies_the_properties", func(t *testing.T) {
		want := []scheduler.StageInfo{
			{Stage: 0, Op: "words", Site: "words.go:1", Map: true, Shuffle: counts.ShuffleOf().ID, Parts: 2},
			{Stage: 1, Op: "counts", Site: "counts.go:1", Parts: 1, Parents: []int{0}},
		}
		if diff := cmp.Diff(jobs[0].Stages, want); diff != "" {
			t.Errorf("stages (-got +want):\n%s", diff)
		}
		if p := jobs[0].Properties; p.Description != "the first" || p.Tags[0] != "x" {
			t.Errorf("got properties %+v", p)
		}
		if s := jobs[1].Stages[0]; s.Present != 2 {
			t.Errorf("the second job's map stage has %d outputs present, want 2", s.Present)
		}
	})
	t.Run("E1_skipped_stages_are_listed", func(t *testing.T) {
		if diff := cmp.Diff([][]int{jobEnds[0].Skipped, jobEnds[1].Skipped}, [][]int{nil, {2}}); diff != "" {
			t.Errorf("skipped (-got +want):\n%s", diff)
		}
	})
	t.Run("E1_stages_that_never_began_are_skipped", func(t *testing.T) {
		var skipped []int
		loop := scheduler.NewScriptLoop(new(schedulertest.Scripted), scheduler.Options{Listeners: []scheduler.Listener{{
			JobEnded: func(e scheduler.JobEnded) { skipped = e.Skipped },
		}}})
		loop.Submit(job)(context.Canceled)
		if diff := cmp.Diff(skipped, []int{1}); diff != "" {
			t.Errorf("skipped by a job that waits for its map stage (-got +want):\n%s", diff)
		}
	})
	t.Run("E1_stage_events_have_counts_and_times", func(t *testing.T) {
		if s := submitted[0]; s.Tasks != 2 || s.Properties.Group != "batch" {
			t.Errorf("got %+v", s)
		}
		if c := completed[0]; c.Time.Sub(c.Submitted) != 3*time.Second || c.Err != nil || c.Present != 2 {
			t.Errorf("got %+v", c)
		}
	})
	t.Run("E1_task_end_has_times_metrics_updates_and_the_reason", func(t *testing.T) {
		if e := ended[1]; e.Ended.Sub(e.Time) != 2*time.Second || e.Err == nil || e.Metrics.InputRows != 5 || e.Killed {
			t.Errorf("failed attempt: got %+v", e)
		}
		e := ended[3]
		if e.Metrics.RunTime != 7 || e.Metrics.FetchedBytes != 9 || e.Locality != scheduler.ProcessLocal {
			t.Errorf("got %+v", e)
		}
		if diff := cmp.Diff(e.Updates, []lineage.Update{{ID: 1, Name: "rows", Value: 3}}); diff != "" {
			t.Errorf("updates with a name (-got +want):\n%s", diff)
		}
	})
	t.Run("E1_blocks_and_unpersisted_nodes", func(t *testing.T) {
		want := []scheduler.BlockUpdated{{BlockID: id, Executor: "a", Held: true}, {BlockID: id, Executor: "a"}}
		if diff := cmp.Diff(blocks, want); diff != "" {
			t.Errorf("blocks (-got +want):\n%s", diff)
		}
		if diff := cmp.Diff(forgotten, []lineage.Drop{{Nodes: []lineage.NodeID{counts.ID()}}}); diff != "" {
			t.Errorf("forgotten (-got +want):\n%s", diff)
		}
	})
}

// An order checks E2: what must come before what, and that nothing comes twice.
type order struct {
	jobs, stages, tasks map[string]string // to what was seen last
	wrong               []string
}

func (o *order) step(of map[string]string, key, from, to string) {
	if of[key] != from {
		o.wrong = append(o.wrong, fmt.Sprintf("%s is %s after %q", key, to, of[key]))
	}
	of[key] = to
}

func (o *order) listener() scheduler.Listener {
	o.jobs, o.stages, o.tasks = map[string]string{}, map[string]string{}, map[string]string{}
	return scheduler.Listener{
		JobStarted: func(e scheduler.JobStarted) { o.step(o.jobs, fmt.Sprint("job ", e.Job), "", "started") },
		JobEnded:   func(e scheduler.JobEnded) { o.step(o.jobs, fmt.Sprint("job ", e.Job), "started", "ended") },
		StageSubmitted: func(e scheduler.StageSubmitted) {
			o.step(o.stages, fmt.Sprint("stage ", e.Stage, ".", e.Attempt), "", "submitted")
			if len(o.jobs) == 0 {
				o.wrong = append(o.wrong, "a stage comes before any job")
			}
		},
		StageCompleted: func(e scheduler.StageCompleted) {
			o.step(o.stages, fmt.Sprint("stage ", e.Stage, ".", e.Attempt), "submitted", "completed")
		},
		TaskStarted: func(e scheduler.TaskStarted) {
			o.step(o.tasks, fmt.Sprint("task ", e.Task), "", "started")
			if at := fmt.Sprint("stage ", e.Attempt.Stage, ".", e.Attempt.StageAttempt); o.stages[at] != "submitted" {
				o.wrong = append(o.wrong, fmt.Sprintf("task %d starts while %s is %q", e.Task, at, o.stages[at]))
			}
			if at := fmt.Sprint("job ", e.Attempt.Job); o.jobs[at] != "started" {
				o.wrong = append(o.wrong, fmt.Sprintf("task %d starts while %s is %q", e.Task, at, o.jobs[at]))
			}
		},
		TaskEnded: func(e scheduler.TaskEnded) { o.step(o.tasks, fmt.Sprint("task ", e.Task), "started", "ended") },
	}
}

func (o *order) check(t *testing.T) {
	t.Helper()
	for _, w := range o.wrong {
		t.Error(w)
	}
	for key, state := range o.tasks {
		if state != "ended" {
			t.Errorf("%s is %s in the end", key, state)
		}
	}
	for key, state := range o.stages {
		if state != "completed" {
			t.Errorf("%s is %s in the end", key, state)
		}
	}
}

func TestEventsComeInOrder(t *testing.T) {
	t.Run("E2_failed_attempts_and_cancelled_jobs", func(t *testing.T) {
		o := new(order)
		backend := new(schedulertest.Scripted)
		loop := scheduler.NewScriptLoop(backend, scheduler.Options{Listeners: []scheduler.Listener{o.listener()}})
		loop.ExecutorAdded(scheduler.ExecutorInfo{ID: "a", Slots: 4})
		loop.ExecutorAdded(scheduler.ExecutorInfo{ID: "b", Slots: 4})
		g := new(schedulertest.Graph)
		counts := g.Shuffle("counts", g.Source("words", 2, nil), 4)
		job, _ := schedulertest.Collect(counts)
		cancel := loop.Submit(job)
		for _, task := range backend.Launched() {
			loop.TaskEnded(schedulertest.Success(task, nil))
		}
		reduce := backend.Launched()[2:]
		for _, task := range reduce[:3] { // a burst of failures completes the attempt once
			loop.TaskEnded(&scheduler.TaskEnd{Task: task.ID, Err: &scheduler.FetchError{Shuffle: counts.ShuffleOf().ID, Executor: "a"}})
		}
		loop.Fire()
		loop.ExecutorLost("b", scheduler.Loss{})
		cancel(context.Canceled)
		loop.TaskEnded(schedulertest.Success(reduce[3], []int64{})) // when its job is long over
		loop.Close()
		o.check(t)
		if len(o.tasks) < 7 || len(o.stages) < 3 {
			t.Errorf("%d tasks and %d stages seen, want more", len(o.tasks), len(o.stages))
		}
	})
}

func TestBlockedListeners(t *testing.T) {
	// run runs a job of some tasks under options, in a bubble.
	run := func(t *testing.T, opts scheduler.Options, tasks int) *scheduler.Scheduler {
		t.Helper()
		b := new(schedulertest.Scripted)
		b.Add("a", 1)
		s := scheduler.New(b, opts)
		var wg sync.WaitGroup
		wg.Go(func() {
			job, _ := schedulertest.Collect(new(schedulertest.Graph).Source("source", tasks, nil))
			if err := s.Run(t.Context(), job); err != nil {
				t.Error(err)
			}
		})
		for i := range tasks {
			b.Succeed(launched(t, b, i+1), []int64{})
		}
		wg.Wait()
		return s
	}
	t.Run("E3_one_that_never_returns_holds_up_close_for_a_while_only", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan bool)
			after, others := 0, 0
			s := run(t, scheduler.Options{ListenerPatience: 5 * time.Second, Listeners: []scheduler.Listener{
				{TaskStarted: func(scheduler.TaskStarted) { <-release }, TaskEnded: func(scheduler.TaskEnded) { after++ }},
				{TaskEnded: func(scheduler.TaskEnded) { others++ }},
			}}, 3)
			synctest.Wait() // it is stuck by now: it does not get on while Close waits
			begin := time.Now()
			for range 2 {
				if err := s.Close(); !errors.Is(err, scheduler.ErrListenerStuck) {
					t.Errorf("got %v, want ErrListenerStuck", err)
				}
			}
			if took := time.Since(begin); took != 5*time.Second {
				t.Errorf("close took %v", took)
			}
			close(release)
			synctest.Wait() // its goroutine ends once it returns
			if after != 0 || others != 3 {
				t.Errorf("%d events after it was left behind, want none; the other one had %d, want 3", after, others)
			}
		})
	})
	t.Run("E3_a_slow_one_that_gets_on_is_waited_for", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			seen := 0
			s := run(t, scheduler.Options{ListenerPatience: 5 * time.Second, Listeners: []scheduler.Listener{{
				TaskEnded: func(scheduler.TaskEnded) {
					<-time.After(3 * time.Second)
					seen++
				},
			}}}, 6)
			if err := s.Close(); err != nil || seen != 6 {
				t.Errorf("close returned %v after %d of 6 events", err, seen)
			}
		})
	})
	t.Run("E3_drops_are_counted_and_warned_of_once_in_a_while", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			release := make(chan bool)
			dropped, got := 0, 0
			s := run(t, scheduler.Options{ListenerQueue: 2, Logger: slog.New(slog.NewTextHandler(&log, nil)), Listeners: []scheduler.Listener{{
				JobStarted: func(scheduler.JobStarted) { <-release },
				TaskEnded:  func(scheduler.TaskEnded) { got++ },
				Dropped:    func(n int) { dropped += n },
			}}}, 20)
			synctest.Wait()
			if n := strings.Count(log.String(), "listener is too slow"); n != 1 {
				t.Errorf("%d warnings, want 1", n)
			}
			close(release)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if dropped < 20 || dropped+got > 44 {
				t.Errorf("%d dropped, %d task ends seen", dropped, got)
			}
		})
	})
}
