package progress_test

import (
	"errors"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/streamingcontext"
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

func TestOverloadIsWhatWasToldLast(t *testing.T) {
	s := progress.New(progress.Options{Interval: time.Second})
	l := s.Listener()
	for _, told := range []streamingcontext.OverloadInfo{
		{Phase: streamingcontext.OverloadBegun, Batch: 2000, SchedulingDelay: 1100 * time.Millisecond},
		{Phase: streamingcontext.OverloadGrown, Batch: 5000, SchedulingDelay: 2300 * time.Millisecond},
	} {
		l.Overloaded(told)
		if o := s.Snapshot().Overload; o == nil || *o != told {
			t.Errorf("overload %v, want %v", o, told)
		}
	}
	l.Overloaded(streamingcontext.OverloadInfo{Phase: streamingcontext.OverloadOver, Batch: 9000})
	if o := s.Snapshot().Overload; o != nil {
		t.Errorf("overload %v after it was over", o)
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
