package streamingcontext_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

// events collects what a listener is told. It is read once the context has stopped.
type events struct {
	log                           []string
	submitted, started, completed []streamingcontext.BatchInfo
	committed                     []streamingcontext.CommittedBatch
	outputs                       []streamingcontext.OutputInfo
	overloads                     []streamingcontext.OverloadInfo
}

func (e *events) listener() streamingcontext.Listener {
	add := func(format string, args ...any) { e.log = append(e.log, fmt.Sprintf(format, args...)) }
	return streamingcontext.Listener{
		StreamingStarted: func(int64) { add("streaming started") },
		BatchSubmitted: func(b streamingcontext.BatchInfo) {
			e.submitted = append(e.submitted, b)
			add("%d submitted", b.Time)
		},
		BatchStarted: func(b streamingcontext.BatchInfo) {
			e.started = append(e.started, b)
			add("%d started", b.Time)
		},
		BatchCompleted: func(b streamingcontext.BatchInfo) {
			e.completed = append(e.completed, b)
			add("%d completed", b.Time)
		},
		BatchCommitted: func(b streamingcontext.CommittedBatch) { e.committed = append(e.committed, b) },
		BatchSetAside:  func(b streamingcontext.SetAsideBatch) { add("%d set aside", b.Time) },
		Overloaded:     func(o streamingcontext.OverloadInfo) { e.overloads = append(e.overloads, o) },
		OutputStarted:  func(o streamingcontext.OutputInfo) { add("%d output %d started", o.Batch, o.ID) },
		OutputCompleted: func(o streamingcontext.OutputInfo) {
			e.outputs = append(e.outputs, o)
			add("%d output %d completed", o.Batch, o.ID)
		},
		ReceiverStarted: func(r streamingcontext.ReceiverInfo) { add("receiver %d started %t", r.Stream, r.Active) },
		ReceiverError:   func(r streamingcontext.ReceiverInfo) { add("receiver %d: %v", r.Stream, r.LastError) },
		ReceiverStopped: func(r streamingcontext.ReceiverInfo) {
			add("receiver %d stopped %t: %v", r.Stream, r.Active, r.LastError)
		},
	}
}

// listened returns a kit whose context tells the events.
func listened(t *testing.T) (*streamtest.Kit, *events) {
	e := &events{}
	kit := streamtest.New(t, streamtest.Options{Configure: func(o *streamingcontext.Options) {
		o.Listeners = []streamingcontext.Listener{e.listener()}
	}})
	return kit, e
}

func TestEventsOfBatches_E1(t *testing.T) {
	kit, e := listened(t)
	in := streamtest.Input[int](kit)
	discard(in.Stream())
	for i := range 4 {
		in.Push(i)
		kit.Advance(1)
	}
	stop(t, kit.Context())
	check := func(what string, infos []streamingcontext.BatchInfo, scheduling, others bool) {
		t.Helper()
		if len(infos) != 4 {
			t.Fatalf("%d batches %s", len(infos), what)
		}
		for i, b := range infos {
			s, haveS := b.SchedulingDelay()
			p, haveP := b.ProcessingDelay()
			total, haveT := b.TotalDelay()
			if haveS != scheduling || haveP != others || haveT != others || s < 0 || p < 0 || total < 0 {
				t.Errorf("%s %d: delays %v %v %v, known %t %t %t", what, i, s, p, total, haveS, haveP, haveT)
			}
			if b.Records() != 1 || b.Time != kit.Time(i+1) || b.ID != int64(i) || b.Failed() {
				t.Errorf("%s %d: %+v", what, i, b)
			}
			if i > 0 && b.Submitted < infos[i-1].Submitted {
				t.Errorf("%s %d: submitted before the batch before it", what, i)
			}
		}
	}
	check("submitted", e.submitted, false, false)
	check("started", e.started, true, false)
	check("completed", e.completed, true, true)
}

// Every batch is told when it is committed, in order, also those without jobs.
func TestCommittedBatches(t *testing.T) {
	kit, e := listened(t)
	sparse := dstream.Window(streamtest.Input[int](kit).Stream(), 2*time.Second, 2*time.Second)
	discard(sparse) // every other batch has no job
	kit.Advance(4)
	stop(t, kit.Context())
	if len(e.committed) != 4 {
		t.Fatalf("committed: %+v", e.committed)
	}
	for i, b := range e.committed {
		if b.ID != int64(i) || b.Time != kit.Time(i+1) || b.Epoch == 0 || b.At < int64(b.Time) {
			t.Errorf("batch %d: %+v", i, b)
		}
	}
}

func TestDelays_E2(t *testing.T) {
	b := streamingcontext.BatchInfo{Time: 10000, Submitted: 10040, Started: 10100, Ended: 10750}
	for _, c := range []struct {
		what  string
		delay func() (time.Duration, bool)
		want  time.Duration
	}{{"scheduling", b.SchedulingDelay, 60}, {"processing", b.ProcessingDelay, 650}, {"total", b.TotalDelay, 710}} {
		if got, ok := c.delay(); !ok || got != c.want*time.Millisecond {
			t.Errorf("%s delay %v, %t; want %d ms", c.what, got, ok, c.want)
		}
	}
}

func TestFailedOutputs_E3(t *testing.T) {
	kit, e := listened(t)
	broken := errors.New("broken")
	in := streamtest.Input[int](kit).Stream()
	for range 2 {
		dstream.ForeachRDD(in, func(context.Context, *rdd.RDD[int], dstream.Time) error { return broken })
	}
	wantErr(t, "batch", kit.TryAdvance(1), broken)
	stop(t, kit.Context())
	if len(e.completed) != 1 || !e.completed[0].Failed() {
		t.Fatalf("completed: %+v", e.completed)
	}
	for i, o := range e.completed[0].Outputs {
		if o.ID != i || !errors.Is(o.Err, broken) || o.Name != "foreachRDD" {
			t.Errorf("output %d: %+v", i, o)
		}
	}
}

func TestOrderOfEvents_E4(t *testing.T) {
	kit, e := listened(t)
	in := streamtest.Input[int](kit).Stream()
	for range 3 {
		discard(in)
	}
	kit.Advance(2)
	stop(t, kit.Context())
	want := []string{"streaming started"}
	for _, b := range []int{1000, 2000} {
		want = append(want, fmt.Sprintf("%d submitted", b), fmt.Sprintf("%d started", b))
		for k := range 3 {
			want = append(want, fmt.Sprintf("%d output %d started", b, k), fmt.Sprintf("%d output %d completed", b, k))
		}
		want = append(want, fmt.Sprintf("%d completed", b))
	}
	if diff := cmp.Diff(e.log, want); diff != "" {
		t.Errorf("events (-got +want):\n%s", diff)
	}
}

func TestReceiverEvents_E8(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &events{}
		ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Listeners: []streamingcontext.Listener{e.listener()}})
		discard(streamingcontext.Receive(ssc, receivers.Func[int](func(_ context.Context, sink receivers.Sink[int]) error {
			sink.ReportError(errors.New("reported"))
			return errors.New("ended")
		})))
		if err := ssc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(2500 * time.Millisecond)
		stop(t, ssc)
		got := slices.DeleteFunc(e.log, func(s string) bool { return s[0] != 'r' })
		want := []string{"receiver 0 started true", "receiver 0: reported", "receiver 0 stopped false: ended"}
		want = append(want, want...) // R7: it is started again after two seconds
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("events (-got +want):\n%s", diff)
		}
	})
}

// reporting is an input that reports a number of records of its own.
type reporting int64

func (reporting) RDD(c *rdd.Context, _ dstream.Time) (*rdd.RDD[int], error) {
	return rdd.Empty[int](c), nil
}

func (n reporting) Report(dstream.Time) (int64, string, bool) { return int64(n), "", true }

func TestInputInfo_E9(t *testing.T) {
	kit, e := listened(t)
	g := kit.Context().Graph()
	a := dstream.NewInput[int](g, "a", "A", reporting(100))
	b := dstream.NewInput[int](g, "b", "B", reporting(300))
	discard(a.Union(b))
	kit.Advance(2)
	want := []dstream.InputInfo{{Stream: 0, Records: 100}, {Stream: 1, Records: 300}}
	if diff := cmp.Diff(g.InputInfos(kit.Time(2)), want); diff != "" {
		t.Errorf("the last batch's (-got +want):\n%s", diff)
	}
	stop(t, kit.Context())
	if diff := cmp.Diff(e.completed[0].Inputs, want); diff != "" || e.completed[0].Records() != 400 {
		t.Errorf("the event's (-got +want):\n%s", diff)
	}
}

func TestAListenerThatPanicsHarmsNobody(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{Configure: func(o *streamingcontext.Options) {
		o.Listeners = []streamingcontext.Listener{{BatchSubmitted: func(streamingcontext.BatchInfo) { panic("no") }}}
	}})
	discard(streamtest.Input[int](kit).Stream())
	kit.Advance(2)
}

func TestASlowListenerLosesEventsOnly(t *testing.T) {
	held, dropped := make(chan bool), make(chan int, 100)
	kit := streamtest.New(t, streamtest.Options{Configure: func(o *streamingcontext.Options) {
		o.ListenerQueue = 2
		o.Listeners = []streamingcontext.Listener{{
			StreamingStarted: func(int64) { <-held },
			Dropped:          func(n int) { dropped <- n },
		}}
	}})
	discard(streamtest.Input[int](kit).Stream())
	kit.Advance(3)
	close(held)
	stop(t, kit.Context())
	sum := 0
	for len(dropped) > 0 {
		sum += <-dropped
	}
	if sum < 15 || sum > 18 { // six a batch; up to three were held or queued
		t.Errorf("%d events dropped", sum)
	}
}
