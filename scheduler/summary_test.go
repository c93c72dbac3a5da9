package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

func TestSummary(t *testing.T) {
	sum := scheduler.NewSummary(2)
	backend := new(schedulertest.Scripted)
	loop := scheduler.NewScriptLoop(backend, scheduler.Options{Listeners: []scheduler.Listener{sum.Listener()},
		Speculation: scheduler.Speculation{Enabled: true, AnyRate: true, Quantile: 0.5}})
	loop.ExecutorAdded(scheduler.ExecutorInfo{ID: "a", Slots: 4})
	loop.ExecutorAdded(scheduler.ExecutorInfo{ID: "b", Slots: 4})
	g := new(schedulertest.Graph)
	counts := g.Shuffle("counts", g.Source("words", 4, nil), 1)
	job, _ := schedulertest.Collect(counts)
	loop.Submit(job)
	maps := backend.Launched()
	success := func(task *scheduler.Task, m lineage.Metrics) {
		end := schedulertest.Success(task, []int64{})
		end.Metrics = m
		loop.TaskEnded(end)
	}
	loop.Advance(time.Second)
	success(maps[0], lineage.Metrics{ShuffleBytes: 100, PeakMemory: 7})
	loop.Advance(2 * time.Second)
	success(maps[1], lineage.Metrics{ShuffleBytes: 10, PeakMemory: 5})
	loop.TaskEnded(&scheduler.TaskEnd{Task: maps[2].ID, Err: errors.New("no luck"), Metrics: lineage.Metrics{SpilledBytes: 3}})
	success(backend.Launched()[4], lineage.Metrics{}) // the one that failed, at once
	loop.Advance(20 * time.Second)                    // the fourth is copied
	success(backend.Launched()[5], lineage.Metrics{})
	loop.TaskEnded(schedulertest.Success(maps[3], nil))
	success(backend.Launched()[6], lineage.Metrics{FetchedBytes: 9})

	got := sum.Jobs()
	if len(got) != 1 || len(got[0].Stages) != 2 {
		t.Fatalf("got %+v", got)
	}
	st := got[0].Stages[0]
	took := st.Times
	want := scheduler.Counts{Launched: 6, Succeeded: 4, Failed: 1, Killed: 1, Copies: 1, Retries: 1,
		Metrics: lineage.Metrics{ShuffleBytes: 110, PeakMemory: 7, SpilledBytes: 3}}
	if diff := cmp.Diff(st.Counts, want); diff != "" {
		t.Errorf("counts (-got +want):\n%s", diff)
	}
	if took.Min != 0 || took.Max < 3*time.Second || took.Median < time.Second {
		t.Errorf("got %v", took)
	}
	if total := got[0].Total; total.Succeeded != 5 || total.Metrics.FetchedBytes != 9 || total.Metrics.ShuffleBytes != 110 {
		t.Errorf("total: got %+v", total)
	}

	t.Run("skipped_stages_count_for_nothing", func(t *testing.T) {
		loop.Submit(job)
		success(backend.Launched()[7], lineage.Metrics{})
		second := sum.Jobs()[1]
		if !second.Stages[0].Skipped || second.Stages[1].Skipped || second.Total.Succeeded != 1 {
			t.Errorf("got %+v", second)
		}
	})
	t.Run("old_jobs_are_forgotten", func(t *testing.T) {
		loop.Submit(job)
		success(backend.Launched()[8], lineage.Metrics{})
		if jobs := sum.Jobs(); len(jobs) != 2 || jobs[0].Job != 1 {
			t.Errorf("got %d jobs, the first is %d", len(jobs), jobs[0].Job)
		}
	})
}

// Whoever adds a field to the metrics is told here that a summary has to add it up.
func TestSummaryAddsUpAllMetrics(t *testing.T) {
	var one lineage.Metrics
	v := reflect.ValueOf(&one).Elem()
	for i := range v.NumField() {
		v.Field(i).SetInt(1)
	}
	sum := scheduler.NewSummary(0)
	li := sum.Listener()
	li.JobStarted(scheduler.JobStarted{Stages: []scheduler.StageInfo{{Stage: 0}}})
	for range 2 {
		li.TaskEnded(scheduler.TaskEnded{Metrics: one})
	}
	got := reflect.ValueOf(sum.Jobs()[0].Total.Metrics)
	for i := range got.NumField() {
		name, want := got.Type().Field(i).Name, int64(2)
		if name == "PeakMemory" {
			want = 1
		}
		if got.Field(i).Int() != want {
			t.Errorf("%s: got %d, want %d", name, got.Field(i).Int(), want)
		}
	}
}

// The second job finds the outputs of the first one's map stage.
func ExampleSummary() {
	summary := scheduler.NewSummary(100)
	s := scheduler.New(local.New(local.Options{Slots: 1}), scheduler.Options{Listeners: []scheduler.Listener{summary.Listener()}})
	g := new(schedulertest.Graph)
	numbers := g.Source("numbers", 4, func(part int) []int64 { return []int64{int64(part)} })
	parity := g.Shuffle("parity", numbers, 2)
	for range 2 {
		job, _ := schedulertest.Collect(parity)
		if err := s.Run(context.Background(), job); err != nil {
			fmt.Println(err)
		}
	}
	s.Close() // delivers the events that are on their way
	for _, job := range summary.Jobs() {
		fmt.Printf("job %d, %s: %d tasks\n", job.Job, job.Name, job.Total.Succeeded)
		for _, st := range job.Stages {
			if st.Skipped {
				fmt.Printf("  %s was skipped\n", st.Op)
			} else {
				fmt.Printf("  %s: %d tasks, %d retried\n", st.Op, st.Succeeded, st.Retries)
			}
		}
	}
	// Output:
	// job 0, collect: 6 tasks
	//   numbers: 4 tasks, 0 retried
	//   parity: 2 tasks, 0 retried
	// job 1, collect: 2 tasks
	//   numbers was skipped
	//   parity: 2 tasks, 0 retried
}

func TestSummaryPrints(t *testing.T) {
	sum := scheduler.NewSummary(0)
	li := sum.Listener()
	at := time.Unix(0, 0)
	li.JobStarted(scheduler.JobStarted{Name: "count", Site: "main.go:3", Time: at, Stages: []scheduler.StageInfo{{Stage: 0, Op: "words"}, {Stage: 1, Op: "counts"}}})
	li.TaskEnded(scheduler.TaskEnded{TaskStarted: scheduler.TaskStarted{Time: at, Attempt: lineage.Attempt{Stage: 1}}, Ended: at.Add(time.Second),
		Metrics: lineage.Metrics{SpilledBytes: 5}})
	li.JobEnded(scheduler.JobEnded{Time: at.Add(2 * time.Second), Skipped: []int{0}})
	want := strings.Join([]string{
		"job 0 (count at main.go:3): done in 2s, 1 tasks done, spilled 5 B",
		"  stage 0 (words): skipped",
		"  stage 1 (counts): 1 tasks done, spilled 5 B, took 1s, 1s, 1s", ""}, "\n")
	if diff := cmp.Diff(sum.String(), want); diff != "" {
		t.Errorf("page (-got +want):\n%s", diff)
	}
}
