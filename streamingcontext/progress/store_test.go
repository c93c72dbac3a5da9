package progress_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/progress"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

// unknown is short for it.
const unknown = streamingcontext.Unknown

// batchAt is a submitted batch with one output.
func batchAt(t dstream.Time, records ...int64) streamingcontext.BatchInfo {
	b := streamingcontext.BatchInfo{Time: t, Submitted: int64(t), Started: unknown, Ended: unknown,
		Outputs: []streamingcontext.OutputInfo{{Batch: t, Name: "print", Site: "main.go:1", Started: unknown, Ended: unknown}}}
	for i, n := range records {
		b.Inputs = append(b.Inputs, dstream.InputInfo{Stream: i, Records: n})
	}
	return b
}

// complete tells a store of a batch from its submission to its end.
func complete(s *progress.Store, b streamingcontext.BatchInfo, started, ended int64) {
	l := s.Listener()
	l.BatchSubmitted(b)
	b.Started = started
	l.BatchStarted(b)
	b.Ended = ended
	l.BatchCompleted(b)
}

func stop(t *testing.T, ssc *streamingcontext.Context) {
	t.Helper()
	if err := ssc.Stop(t.Context(), streamingcontext.StopOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestRecordsAreReceivedAtTheStartAndProcessedAtTheEnd_E5(t *testing.T) {
	s := progress.New(progress.Options{})
	l := s.Listener()
	check := func(after string, received, processed int64, status progress.Status) {
		t.Helper()
		snap := s.Snapshot()
		last, ok := snap.LastReceived()
		if snap.ReceivedRecords != received || snap.ProcessedRecords != processed || !ok || last.Time != 1000 ||
			last.Records() != 600 || last.Status != status {
			t.Errorf("%s: received %d, processed %d, last %+v", after, snap.ReceivedRecords, snap.ProcessedRecords, last)
		}
		if _, completed := snap.LastCompleted(); completed != (status == progress.Completed) {
			t.Errorf("%s: a completed batch: %t", after, completed)
		}
	}
	if _, ok := s.Snapshot().LastReceived(); ok {
		t.Error("a batch before the first")
	}
	b := batchAt(1000, 300, 300)
	l.BatchSubmitted(b)
	check("submitted", 0, 0, progress.Queued)
	b.Started = 1001
	l.BatchStarted(b)
	check("started", 600, 0, progress.Processing)
	b.Ended = 1002
	l.BatchCompleted(b)
	check("completed", 600, 600, progress.Completed)
}

func TestARunIsCounted_E5(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	s := progress.New(progress.Options{})
	defer s.Attach(kit.Context())()
	a, b := streamtest.Input[int](kit), streamtest.Input[int](kit)
	streamtest.Collect(kit, a.Stream().Union(b.Stream()))
	a.Push(make([]int, 300)...)
	b.Push(make([]int, 300)...)
	kit.Advance(1)
	stop(t, kit.Context())
	snap := s.Snapshot()
	want := progress.Totals{CompletedBatches: 1, ReceivedRecords: 600, ProcessedRecords: 600}
	if diff := cmp.Diff(snap.Totals, want); diff != "" {
		t.Errorf("totals (-got +want):\n%s", diff)
	}
	for i, in := range snap.Inputs {
		if in.Stream != i || in.Records != 300 || in.Receiver || in.Name == "" {
			t.Errorf("input %d: %+v", i, in)
		}
	}
	if snap.App != t.Name() || snap.Interval != time.Second || snap.Started != 0 || len(snap.Inputs) != 2 {
		t.Errorf("snapshot: %+v", snap)
	}
}

func TestTheLastBatchesAreRetained_E6(t *testing.T) {
	for _, n := range []int{1, 7, 100} {
		s := progress.New(progress.Options{RetainedBatches: n})
		for i := range n + 10 {
			at := dstream.Time(1000 * (i + 1))
			complete(s, batchAt(at, 1), int64(at), int64(at)+5)
		}
		snap := s.Snapshot()
		if len(snap.Completed) != n || snap.CompletedBatches != int64(n+10) {
			t.Fatalf("%d retained of %d", len(snap.Completed), snap.CompletedBatches)
		}
		for i, b := range snap.Completed {
			if want := dstream.Time(1000 * (n + 10 - i)); b.Time != want {
				t.Errorf("batch %d is of %v, want %v", i, b.Time, want)
			}
			if _, ok := s.Batch(b.Time); !ok {
				t.Errorf("batch %v is not found", b.Time)
			}
		}
		if _, ok := s.Batch(10_000); ok {
			t.Error("a batch that was to be forgotten is found")
		}
	}
}

func TestActiveBatches(t *testing.T) {
	s := progress.New(progress.Options{})
	l := s.Listener()
	for _, at := range []dstream.Time{1000, 2000, 3000, 4000} {
		l.BatchSubmitted(batchAt(at))
	}
	for _, at := range []dstream.Time{2000, 1000} {
		b := batchAt(at)
		b.Started = 4500
		l.BatchStarted(b)
	}
	failed := errors.New("no")
	l.OutputCompleted(streamingcontext.OutputInfo{Batch: 1000, Started: 4500, Ended: 4600, Err: failed})
	l.OutputCompleted(streamingcontext.OutputInfo{Batch: 1000, ID: 5}) // there is no such output
	l.OutputCompleted(streamingcontext.OutputInfo{Batch: 9000})        // nor such a batch
	snap := s.Snapshot()
	times := func(batches []progress.Batch) (all []dstream.Time) {
		for _, b := range batches {
			all = append(all, b.Time)
		}
		return all
	}
	if got, want := fmt.Sprint(times(snap.Waiting), times(snap.Running)), "[4000 ms 3000 ms] [2000 ms 1000 ms]"; got != want {
		t.Errorf("waiting and running: %s, want %s", got, want)
	}
	if b, ok := s.Batch(1000); !ok || b.Outputs[0].Err != failed || b.Status != progress.Processing {
		t.Errorf("batch with an output that failed: %+v", b)
	}
	if last, _ := snap.LastReceived(); last.Time != 4000 {
		t.Errorf("last received %v", last.Time)
	}
	if got := fmt.Sprint(times(snap.Retained())); got != "[1000 ms 2000 ms 3000 ms 4000 ms]" {
		t.Errorf("retained: %s", got)
	}
}

// A driver of several that leads again tells of a context that has started: what the one before had open ended with its term.
func TestAnotherStartHasNoOpenBatches(t *testing.T) {
	s := progress.New(progress.Options{})
	l := s.Listener()
	l.StreamingStarted(500)
	for _, at := range []dstream.Time{1000, 2000} {
		l.BatchSubmitted(batchAt(at))
	}
	l.BatchStarted(batchAt(1000))
	l.StreamingStarted(9000)
	if snap := s.Snapshot(); len(snap.Waiting) != 0 || len(snap.Running) != 0 || snap.Started != 9000 {
		t.Errorf("open after another start: %+v, %+v", snap.Waiting, snap.Running)
	}
}

// A context has far fewer batches open; this is what a listener that loses events would pile up.
func TestBatchesWhoseEndWasMissedAreForgotten(t *testing.T) {
	s := progress.New(progress.Options{})
	l := s.Listener()
	for i := range 2000 {
		l.BatchSubmitted(batchAt(dstream.Time(i)))
		l.BatchStarted(batchAt(dstream.Time(i)))
	}
	if n := len(s.Snapshot().Running); n > 256 {
		t.Errorf("%d batches run", n)
	}
	l.Dropped(7)
	if n := s.Snapshot().DroppedEvents; n != 7 {
		t.Errorf("%d events dropped", n)
	}
}

func TestReceiversAreCounted(t *testing.T) {
	s := progress.New(progress.Options{})
	l := s.Listener()
	r := streamingcontext.ReceiverInfo{Stream: 1, Name: "Socket stream [1]", Active: true, Attempt: 1, LastErrorAt: unknown}
	l.ReceiverStarted(r)
	r.LastError, r.LastErrorAt = errors.New("reported"), 5
	l.ReceiverError(r)
	r.Active = false
	l.ReceiverStopped(r) // without an error of its own
	r.Active = true
	l.ReceiverStarted(r)
	r.Active, r.LastError = false, errors.New("ended")
	l.ReceiverStopped(r)
	snap := s.Snapshot()
	if len(snap.Receivers) != 1 || snap.Receivers[0].Starts != 2 || snap.Receivers[0].Errors != 2 || snap.ActiveReceivers() != 0 {
		t.Errorf("receivers: %+v", snap.Receivers)
	}
	if len(snap.Inputs) != 2 || snap.Inputs[1].Name != r.Name || !snap.Inputs[1].Receiver || snap.Inputs[1].Active {
		t.Errorf("inputs: %+v", snap.Inputs)
	}
}

func TestAStoreMayBeAttachedToARunningContext(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	in := streamtest.Input[int](kit)
	streamtest.Collect(kit, in.Stream())
	kit.Advance(2)
	s := progress.New(progress.Options{})
	detach := s.Attach(kit.Context())
	in.Push(1, 2)
	kit.Advance(1)
	stop(t, kit.Context())
	detach()
	detach()
	snap := s.Snapshot()
	if snap.CompletedBatches != 1 || snap.ReceivedRecords != 2 {
		t.Errorf("totals: %+v", snap.Totals)
	}
	if jobs := s.Jobs(kit.Time(3), 0); len(jobs) != 1 || jobs[0].Err != nil {
		t.Errorf("jobs: %+v", jobs)
	}
}

func TestJobsAreLinkedToTheirOutputs(t *testing.T) {
	for _, isolate := range []bool{false, true} {
		kit := streamtest.New(t, streamtest.Options{Engine: streamingcontext.EngineOptions{Isolate: isolate}})
		s := progress.New(progress.Options{})
		defer s.Attach(kit.Context())()
		in := streamtest.Input[int](kit)
		pairs := dstream.MapToPair(in.Stream(), func(n int) (int, int) { return n % 2, n })
		sums := dstream.ReduceByKey(pairs, func(a, b int) int { return a + b })
		dstream.ForeachRDD(sums, func(ctx context.Context, r *rdd.RDD[rdd.Pair[int, int]], _ dstream.Time) error {
			if _, err := r.Count(ctx); err != nil {
				return err
			}
			_, err := r.Collect(rdd.WithJobGroup(ctx, "mine", "a group of my own"))
			return err
		})
		dstream.ForeachRDD(in.Stream(), func(context.Context, *rdd.RDD[int], dstream.Time) error { return nil })
		dstream.ForeachRDD(in.Stream(), func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
			_, err := rdd.Map(r, func(n int) int { return n + 1 }).Collect(ctx)
			return err
		})
		in.Push(1, 2, 3)
		kit.Advance(2)
		stop(t, kit.Context())
		for _, at := range []dstream.Time{kit.Time(1), kit.Time(2)} {
			var got []string
			for output := range 4 {
				for _, j := range s.Jobs(at, output) {
					got = append(got, fmt.Sprintf("%d: %s in %q, %d stages, batch %v", output, j.Name, j.Group, len(j.Stages), j.Batch))
					if _, ok := j.Duration(); !ok || !j.Known || j.Err != nil || j.Output != output {
						t.Errorf("job: %+v", j)
					}
				}
			}
			b := fmt.Sprint(at)
			want := []string{
				`0: count in "", 2 stages, batch ` + b, `0: collect in "mine", 2 stages, batch ` + b, `2: collect in "", 1 stages, batch ` + b,
			}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("jobs (-got +want):\n%s", diff)
			}
		}
		// The second job of the first output reads the shuffle that the first one wrote.
		second := s.Jobs(kit.Time(1), 0)[1]
		if first := second.Stages[0]; !first.Skipped {
			t.Errorf("stage: %+v", first)
		}
		var ops []string
		for _, r := range s.Jobs(kit.Time(1), 2)[0].Stages[0].RDDs {
			ops = append(ops, fmt.Sprintf("%s of %d at %d", r.Op, r.ID.Stream, r.ID.Batch))
		}
		if want := []string{"map of 6 at 1000", "parallelize of 1 at 1000"}; !slices.Equal(ops, want) {
			t.Errorf("RDDs %q, want %q", ops, want)
		}
		c := s.Scheduler()
		if c.JobsSucceeded != 6 || c.JobsRunning != 0 || c.TasksRunning != 0 || c.StagesSkipped != 2 || c.Executors != 1 {
			t.Errorf("counts: %+v", c)
		}
	}
}

// count is an output that starts one job.
func count(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
	_, err := r.Count(ctx)
	return err
}

// A batch that was set aside stands among the completed ones as failed, also if it could not be generated.
func TestBatchesSetAside(t *testing.T) {
	s := progress.New(progress.Options{})
	broken := errors.New("broken")
	complete(s, batchAt(1000, 5), 1001, 1002)
	failed := batchAt(2000, 7)
	failed.Outputs[0].Err = broken
	complete(s, failed, 2001, 2002)
	l := s.Listener()
	l.BatchSetAside(streamingcontext.SetAsideBatch{Time: 2000, Err: broken, Outputs: []*streamingcontext.OutputError{{Batch: 2000, Err: broken}}})
	l.BatchSetAside(streamingcontext.SetAsideBatch{Time: 3000, ID: 3, Err: broken, Inputs: []dstream.InputInfo{{Records: 9}}})
	snap := s.Snapshot()
	var got []string
	for _, b := range snap.Completed {
		_, timed := b.TotalDelay()
		got = append(got, fmt.Sprint(int64(b.Time), " ", b.Status, " ", b.Failed(), " ", b.SetAside, " ", timed))
	}
	want := []string{"3000 COMPLETED true broken false", "2000 COMPLETED true broken true", "1000 COMPLETED false <nil> true"}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	totals := progress.Totals{CompletedBatches: 3, FailedBatches: 2, SetAsideBatches: 2, ReceivedRecords: 12, ProcessedRecords: 12}
	if diff := cmp.Diff(snap.Totals, totals); diff != "" {
		t.Errorf("totals (-got +want):\n%s", diff)
	}
	if last, ok := snap.LastCompleted(); !ok || last.Time != 2000 {
		t.Errorf("last completed: %+v, %t", last, ok)
	}
	if b, ok := s.Batch(3000); !ok || b.SetAside != broken {
		t.Errorf("batch 3000: %+v, %t", b, ok)
	}
}
