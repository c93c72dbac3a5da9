package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var _ scheduler.Sink = (*scheduler.ScriptLoop)(nil)

func TestOptions(t *testing.T) {
	if err := (scheduler.Options{}).Validate(); err != nil {
		t.Errorf("zero options: %v", err)
	}
	bad := scheduler.Options{MaxFailures: -1, ResubmitDelay: -1}
	err := bad.Validate()
	if err == nil || !strings.Contains(err.Error(), "MaxFailures") || !strings.Contains(err.Error(), "ResubmitDelay") {
		t.Errorf("got %v, want both mistakes", err)
	}
	s := scheduler.New(new(schedulertest.Scripted), bad)
	defer s.Close()
	job, _ := schedulertest.Collect(new(schedulertest.Graph).Source("source", 1, nil))
	if got := s.Run(t.Context(), job); got == nil || got.Error() != err.Error() {
		t.Errorf("run: got %v, want %v", got, err)
	}
}

func ExampleOptions_String() {
	fmt.Println(scheduler.Options{MaxFailures: 1})
	// Output: max failures 1, max stage failures 4, resubmit delay 0s, listeners 0, listener queue 10000
}

// launched waits until n tasks have been launched and returns the last.
func launched(t *testing.T, b *schedulertest.Scripted, n int) *scheduler.Task {
	t.Helper()
	if err := b.Wait(t.Context(), func() bool { return len(b.Launched()) >= n }); err != nil {
		t.Fatal(err)
	}
	return b.Launched()[n-1]
}

func TestResubmitDelayIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(schedulertest.Scripted)
		b.Add("a", 1)
		s := scheduler.New(b, scheduler.Options{ResubmitDelay: 200 * time.Millisecond})
		defer s.Close()
		g := new(schedulertest.Graph)
		final := g.Shuffle("final", g.Source("source", 1, nil), 1)
		var wg sync.WaitGroup
		wg.Go(func() {
			job, _ := schedulertest.Collect(final)
			if err := s.Run(t.Context(), job); err != nil {
				t.Error(err)
			}
		})
		b.Succeed(launched(t, b, 1), nil)
		failed := time.Now()
		b.Fail(launched(t, b, 2), &scheduler.FetchError{Shuffle: final.ShuffleOf().ID, Executor: "a"})
		again := launched(t, b, 3)
		if got := time.Since(failed); got != 200*time.Millisecond {
			t.Errorf("resubmitted after %v", got)
		}
		b.Succeed(again, nil)
		b.Succeed(launched(t, b, 4), []int64{})
		wg.Wait()
	})
}

func TestClosePutsOffNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := new(schedulertest.Scripted)
		b.Add("a", 1)
		s := scheduler.New(b, scheduler.Options{ResubmitDelay: time.Hour})
		g := new(schedulertest.Graph)
		final := g.Shuffle("final", g.Source("source", 1, nil), 1)
		var wg sync.WaitGroup
		wg.Go(func() {
			job, _ := schedulertest.Collect(final)
			if err := s.Run(t.Context(), job); !errors.Is(err, scheduler.ErrClosed) {
				t.Errorf("got %v, want ErrClosed", err)
			}
		})
		b.Succeed(launched(t, b, 1), nil)
		b.Fail(launched(t, b, 2), &scheduler.FetchError{Shuffle: final.ShuffleOf().ID, Executor: "a"})
		synctest.Wait()
		begin := time.Now()
		s.Close()
		wg.Wait()
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("close took %v", waited)
		}
	})
}

func TestListeners(t *testing.T) {
	run := func(t *testing.T, opts scheduler.Options, during func()) {
		t.Helper()
		b := new(schedulertest.Scripted)
		b.Add("a", 1)
		s := scheduler.New(b, opts)
		var wg sync.WaitGroup
		wg.Go(func() {
			job, _ := schedulertest.Collect(new(schedulertest.Graph).Source("source", 5, nil))
			if err := s.Run(t.Context(), job); err != nil {
				t.Error(err)
			}
		})
		for i := range 5 {
			b.Succeed(launched(t, b, i+1), []int64{})
		}
		wg.Wait() // whatever the listeners do, the job is over
		during()
		s.Close()
	}
	t.Run("E2_order_holds_and_close_drains", func(t *testing.T) {
		var got []string
		say := func(s string) { got = append(got, s) }
		run(t, scheduler.Options{Listeners: []scheduler.Listener{{
			JobStarted:     func(scheduler.JobStarted) { say("job") },
			StageSubmitted: func(scheduler.StageSubmitted) { say("stage") },
			TaskStarted:    func(scheduler.TaskStarted) { say("task") },
			TaskEnded:      func(scheduler.TaskEnded) { say("end") },
			StageCompleted: func(scheduler.StageCompleted) { say("stage end") },
			JobEnded:       func(scheduler.JobEnded) { say("job end") },
		}}}, func() {})
		want := "job stage" + strings.Repeat(" task end", 5) + " stage end job end"
		if strings.Join(got, " ") != want {
			t.Errorf("got %v, want %s", got, want)
		}
	})
	t.Run("E3_a_slow_one_loses_events_and_is_told", func(t *testing.T) {
		release := make(chan bool)
		seen, dropped, other := 0, 0, 0
		run(t, scheduler.Options{ListenerQueue: 3, Listeners: []scheduler.Listener{
			{
				TaskEnded: func(scheduler.TaskEnded) { <-release; seen++ },
				Dropped:   func(n int) { dropped += n },
			},
		}}, func() { close(release) })
		if dropped == 0 || seen == 5 {
			t.Errorf("%d ends seen, %d events dropped", seen, dropped)
		}
		run(t, scheduler.Options{Listeners: []scheduler.Listener{
			{TaskEnded: func(scheduler.TaskEnded) { panic("broken listener") }},
			{TaskEnded: func(scheduler.TaskEnded) { other++ }},
		}}, func() {})
		if other != 5 {
			t.Errorf("beside a panicking listener another one saw %d of 5 ends", other)
		}
	})
}

func TestPanicsOnTheLoopFailTheJobOnly(t *testing.T) {
	b := new(schedulertest.Scripted)
	b.Add("a", 1)
	s := scheduler.New(b, scheduler.Options{})
	defer s.Close()
	g := new(schedulertest.Graph)
	src := g.Source("source", 1, nil)
	for i, c := range []struct {
		name string
		done func(int, lineage.Block) error
		text string
	}{
		{"error", func(int, lineage.Block) error { return errors.New("no room") }, "no room"},
		{"panic", func(int, lineage.Block) error { panic("no luck") }, "no luck"},
		{"nothing", func(int, lineage.Block) error { return nil }, ""},
	} {
		job, _ := schedulertest.Collect(src)
		job.Done = c.done
		var wg sync.WaitGroup
		wg.Go(func() {
			err := s.Run(t.Context(), job)
			var je *scheduler.JobError
			if c.text == "" && err != nil || c.text != "" && (!errors.As(err, &je) || !strings.Contains(err.Error(), c.text)) {
				t.Errorf("%s: got %v", c.name, err)
			}
		})
		b.Succeed(launched(t, b, i+1), []int64{})
		wg.Wait()
	}
	broken := brokenNode{src}
	job, _ := schedulertest.Collect(src)
	job.Final = broken
	var pe *scheduler.PanicError
	if err := s.Run(t.Context(), job); !errors.As(err, &pe) || pe.Value != "no dependencies" {
		t.Errorf("got %v, want the node's panic", err)
	}
}

// A brokenNode panics when its dependencies are asked for.
type brokenNode struct{ *schedulertest.Node }

func (brokenNode) Deps() []lineage.Dep { panic("no dependencies") }

func TestABackendThatEndsFailsAllJobs(t *testing.T) {
	s := scheduler.New(endingBackend{}, scheduler.Options{})
	defer s.Close()
	job, _ := schedulertest.Collect(new(schedulertest.Graph).Source("source", 1, nil))
	for range 2 {
		if err := s.Run(t.Context(), job); !errors.Is(err, errNoPower) {
			t.Errorf("got %v, want the backend's error", err)
		}
	}
}

var errNoPower = errors.New("no power")

type endingBackend struct{}

func (endingBackend) Run(context.Context, scheduler.Sink) error { return errNoPower }
func (endingBackend) Launch(*scheduler.Task)                    {}
func (endingBackend) Cancel(scheduler.TaskID)                   {}
func (endingBackend) Drop(lineage.Drop)                         {}
