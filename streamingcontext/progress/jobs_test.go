package progress_test

import (
	"errors"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/streamingcontext/progress"
)

var epoch = time.Unix(100, 0)

// jobOf says that a job of an output started, with a stage of its own number.
func jobOf(id int, batch dstream.Time, output int) scheduler.JobStarted {
	return scheduler.JobStarted{Job: id, Name: "collect", Time: epoch, Stages: []scheduler.StageInfo{{Stage: id, Op: "map", Site: "main.go:2"}},
		Properties: lineage.Properties{Batch: int64(batch), Output: output}}
}

func TestAJobMayStartBeforeItsBatchIsKnown(t *testing.T) {
	s := progress.New(progress.Options{})
	l := s.SchedulerListener()
	l.JobStarted(jobOf(3, 1000, 1))
	if _, ok := s.Batch(1000); ok {
		t.Fatal("a batch that nobody told of")
	}
	s.Listener().BatchSubmitted(batchAt(1000))
	if jobs := s.Jobs(1000, 1); len(jobs) != 1 || jobs[0].ID != 3 || !jobs[0].Known {
		t.Errorf("jobs: %+v", jobs)
	}
	if jobs := s.Jobs(1000, 0); len(jobs) != 0 {
		t.Errorf("jobs of another output: %+v", jobs)
	}
}

func TestLinksAreBounded(t *testing.T) {
	s := progress.New(progress.Options{})
	l := s.SchedulerListener()
	complete(s, batchAt(1000), 1000, 1001) // 1 + 10 batches may have links
	for i := range 50 {
		l.JobStarted(jobOf(i, dstream.Time(1000*(i+1)), 0))
	}
	for i := range 50 {
		n := len(s.Jobs(dstream.Time(1000*(i+1)), 0))
		if want := map[bool]int{true: 1}[i >= 39]; n != want {
			t.Errorf("batch %d has %d jobs, want %d", i, n, want)
		}
	}
}

func TestForgottenJobsKeepTheirNumbers(t *testing.T) {
	s := progress.New(progress.Options{RetainedJobs: 2})
	l := s.SchedulerListener()
	for i := range 5 {
		l.JobStarted(jobOf(i, 1000, 0))
		l.JobEnded(scheduler.JobEnded{Job: i, Time: epoch.Add(time.Second)})
		l.JobEnded(scheduler.JobEnded{Job: i, Time: epoch.Add(time.Second)}) // told twice
	}
	l.JobStarted(scheduler.JobStarted{Job: 7}) // of no batch
	l.JobEnded(scheduler.JobEnded{Job: 7, Err: errors.New("no")})
	for i, j := range s.Jobs(1000, 0) {
		d, ok := j.Duration()
		if known := i >= 3; j.ID != i || j.Known != known || ok != known || known && (d != time.Second || len(j.Stages) != 1) {
			t.Errorf("job %d: %+v", i, j)
		}
	}
	if c := s.Scheduler(); c.JobsFailed != 1 || c.JobsRunning != 0 {
		t.Errorf("counts: %+v", c)
	}
}

func TestStagesAndTasks(t *testing.T) {
	s := progress.New(progress.Options{})
	l := s.SchedulerListener()
	start := jobOf(0, 1000, 0)
	start.RDDs = [][]scheduler.RDDInfo{{{ID: lineage.NodeID{Scope: lineage.Scope{Batch: 1000, Stream: 2}}, Op: "map"}}}
	l.JobStarted(start)
	info := start.Stages[0]
	l.StageSubmitted(scheduler.StageSubmitted{StageInfo: info, Tasks: 3, Time: epoch})
	at := scheduler.TaskStarted{}
	for _, e := range []scheduler.TaskEnded{{}, {Err: errors.New("no")}, {Killed: true}, {}} {
		l.TaskStarted(at)
		l.TaskEnded(e)
	}
	broken := errors.New("fetch")
	l.StageCompleted(scheduler.StageCompleted{StageInfo: info, Err: broken, Time: epoch.Add(time.Second)})
	l.StageSubmitted(scheduler.StageSubmitted{StageInfo: info, Attempt: 1, Tasks: 1, Time: epoch.Add(2 * time.Second)})
	late := scheduler.StageInfo{Stage: 9, Op: "late"} // needed again after a loss
	l.StageSubmitted(scheduler.StageSubmitted{StageInfo: late, Tasks: 1, Time: epoch, Properties: start.Properties})
	stages := s.Jobs(1000, 0)[0].Stages
	if len(stages) != 2 || stages[1].Op != "late" || !stages[1].Running {
		t.Fatalf("stages: %+v", stages)
	}
	st := stages[0]
	if st.Attempts != 2 || st.Tasks != 3 || st.Succeeded != 2 || st.Failed != 1 || st.Killed != 1 || !st.Running || st.Err != nil || len(st.RDDs) != 1 {
		t.Errorf("stage: %+v", st)
	}
	c := s.Scheduler()
	want := progress.SchedulerCounts{JobsRunning: 1, StagesRunning: 2, StagesFailed: 1, TasksSucceeded: 2, TasksFailed: 1, TasksKilled: 1}
	if c != want {
		t.Errorf("counts %+v, want %+v", c, want)
	}
}

// late tells a store of batches that each come later than the one before, by so much.
func late(s *progress.Store, n int, by int64) {
	for i := range int64(n) {
		at := dstream.Time(1000 * (i + 1))
		start := int64(at) + i*by
		complete(s, batchAt(at, 1), start, start+1000+by)
	}
}

func TestOverloadNamesTheSlowestStage(t *testing.T) {
	s := progress.New(progress.Options{Interval: time.Second, Operations: []dstream.Operation{{ID: 1, Op: "socketText"}, {ID: 2, Op: "updateStateByKey"}}})
	late(s, 6, 500)
	s.Listener().BatchSubmitted(batchAt(7000))
	o, yes := s.Overload()
	if !yes || o.Batches != 6 || o.From != 1500*time.Millisecond || o.To != 4*time.Second || o.Waiting != 1 || o.Found {
		t.Fatalf("%t: %+v", yes, o)
	}
	l := s.SchedulerListener()
	start := jobOf(8, 6000, 0)
	start.Stages = append(start.Stages, scheduler.StageInfo{Stage: 9, Op: "cogroup", Site: "main.go:7"}, scheduler.StageInfo{Stage: 10, Op: "skipped"})
	start.RDDs = [][]scheduler.RDDInfo{nil, {{ID: lineage.NodeID{Scope: lineage.Scope{Batch: 6000, Stream: 2}}}}, nil}
	l.JobStarted(start)
	for i, took := range []time.Duration{time.Second, 3 * time.Second} {
		l.StageSubmitted(scheduler.StageSubmitted{StageInfo: start.Stages[i], Time: epoch})
		l.StageCompleted(scheduler.StageCompleted{StageInfo: start.Stages[i], Time: epoch.Add(took)})
	}
	l.JobEnded(scheduler.JobEnded{Job: 8, Time: epoch, Skipped: []int{10}})
	o, _ = s.Overload()
	want := progress.SlowStage{Batch: 6000, Job: 8, Stage: 9, Op: "updateStateByKey", Site: "main.go:7", Took: 3 * time.Second, Share: 0.75}
	if !o.Found || o.Slowest != want {
		t.Errorf("slowest %+v, want %+v", o.Slowest, want)
	}
}

func TestNoOverload(t *testing.T) {
	for name, tell := range map[string]func(s *progress.Store){
		"nothing_has_completed": func(*progress.Store) {},
		"two_batches":           func(s *progress.Store) { late(s, 2, 2000) },
		"late_and_no_later":     func(s *progress.Store) { late(s, 6, 1) },
		"slower_within_interval": func(s *progress.Store) {
			complete(s, batchAt(1000), 1000, 1001)
			complete(s, batchAt(2000), 2000, 2400)
			complete(s, batchAt(3000), 3000, 3900)
		},
		"one_delay_is_not_known": func(s *progress.Store) { late(s, 5, 500); s.Listener().BatchCompleted(batchAt(9000)) },
		"catches_up_after_a_peak": func(s *progress.Store) {
			complete(s, batchAt(1000), 1000, 5000)
			complete(s, batchAt(2000), 5000, 5010)
			complete(s, batchAt(3000), 5010, 5020)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := progress.New(progress.Options{Interval: time.Second})
			tell(s)
			if o, yes := s.Overload(); yes {
				t.Errorf("overload: %+v", o)
			}
		})
	}
}

func TestOptionsAreValidated(t *testing.T) {
	if err := (progress.Options{}).Validate(); err != nil {
		t.Error(err)
	}
	if err := (progress.Options{RetainedBatches: -1, RetainedJobs: -1}).Validate(); err == nil {
		t.Error("negative numbers are allowed")
	}
	s := progress.New(progress.Options{RetainedBatches: -1})
	complete(s, batchAt(1000), 1000, 1001)
	if n := len(s.Snapshot().Completed); n != 1 {
		t.Errorf("%d batches", n)
	}
	if got := []string{progress.Queued.String(), progress.Processing.String(), progress.Completed.String(), progress.Status(7).String()}; got[0] != "QUEUED" ||
		got[1] != "PROCESSING" || got[2] != "COMPLETED" || got[3] != "status 7" {
		t.Errorf("statuses: %v", got)
	}
}
