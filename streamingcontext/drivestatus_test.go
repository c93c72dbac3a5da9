package streamingcontext_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/streamingcontext"
)

// While the application is paused nothing is begun; then come the batches of the times that have passed. Once it is stopped, all drivers end, and
// later ones do not begin.
func TestTheStatusOfAnApplication(t *testing.T) {
	const batches = 12
	want, _ := ledAlone(t, batches)
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprint("leader_lost_meanwhile=", lost), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newDrivers(t, 3)
				paused, resumed := make(chan string, 9), make(chan string, 9)
				w.options = func(name string, o *streamingcontext.Options) {
					o.DriverListener.Paused = func() { paused <- name }
					o.DriverListener.Resumed = func() { resumed <- name }
				}
				set := func(node string, status driverlog.Status) {
					t.Helper()
					if err := driverlog.SetStatus(t.Context(), w.group.Node(node), "app", status); err != nil {
						t.Error(err)
					}
				}
				w.startAll()
				w.await(3)
				set("a", driverlog.Paused)
				leader := <-paused
				if lost {
					w.group.Elect("b")
					if leader = <-paused; leader != "b" {
						t.Errorf("%s is paused, want b", leader)
					}
				}
				begun := w.group.State()
				w.pass(5 * time.Second)
				if now := w.group.State(); now.App("app").Next != begun.App("app").Next || begun.App("app").Next > 5 {
					t.Errorf("%d batches were begun when it was paused, then %d", begun.App("app").Next, now.App("app").Next)
				}
				set(leader, driverlog.Running)
				if name := <-resumed; name != leader {
					t.Errorf("%s goes on, want %s", name, leader)
				}
				w.await(batches - 1)
				set(leader, driverlog.Stopped)
				for _, d := range w.nodes {
					<-d.ended
				}
				w.stopAll()
				w.check(batches, want)
				late := w.group.State()
				w.group.Elect("c")
				w.nodes["c"] = &driver{of: w, name: "c", bystand: make(chan struct{})}
				w.start("c")
				<-w.nodes["c"].ended
				if now := w.group.State(); w.nodes["c"].err != nil || now.App("app").Next != late.App("app").Next {
					t.Errorf("a driver of a stopped application ends with %v after %d batches", w.nodes["c"].err, now.App("app").Next-late.App("app").Next)
				}
				name := w.group.Leader() // c has resigned
				set(name, driverlog.Running)
				w.nodes[name] = &driver{of: w, name: name, bystand: make(chan struct{})}
				w.start(name)
				app := late.App("app")
				w.await(app.Next)
				w.stop(name)
			})
		})
	}
}

// Receivers of a paused application go on until as much waits as may.
func TestReceiversOfAPausedApplication(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDrivers(t, 1)
		w.dir = t.TempDir()
		const bound = 8
		paused := make(chan struct{})
		w.options = func(_ string, o *streamingcontext.Options) {
			o.MaxPendingRecords = bound
			o.DriverListener.Paused = func() { close(paused) }
		}
		var stored, counted atomic.Int64
		w.declare = func(d *driver, ssc *streamingcontext.Context) error {
			in := streamingcontext.Receive[int](ssc, receivers.Func[int](func(ctx context.Context, s receivers.Sink[int]) error {
				for {
					if err := s.StoreBlock(ctx, []int{1, 2}); err != nil {
						return err
					}
					stored.Add(2)
				}
			}))
			dstream.ForeachRDD(in, func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
				n, err := r.Count(ctx)
				counted.Add(n)
				return err
			})
			return nil
		}
		w.startAll()
		w.await(3)
		if err := driverlog.SetStatus(t.Context(), w.group.Node("a"), "app", driverlog.Paused); err != nil {
			t.Fatal(err)
		}
		<-paused
		w.pass(time.Second)
		before, done := stored.Load(), counted.Load()
		w.pass(20 * time.Second)
		if now := stored.Load(); now != before || now-done > bound || now == done || counted.Load() != done {
			t.Errorf("%d records were stored and %d counted, then %d and %d", before, done, now, counted.Load())
		}
		begun := w.group.State()
		if err := driverlog.SetStatus(t.Context(), w.group.Node("a"), "app", driverlog.Running); err != nil {
			t.Fatal(err)
		}
		app := begun.App("app")
		w.await(app.Next + 30)
		w.stopAll()
		if stored.Load() != counted.Load() || stored.Load() < before+10 {
			t.Errorf("%d records were stored, %d counted", stored.Load(), counted.Load())
		}
	})
}

// A paused application is stopped with its process, and goes on in the next one with what has passed, as one batch where that is the policy.
func TestAPauseOverAPlannedStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDrivers(t, 2)
		paused, empty := make(chan string, 9), t.TempDir()
		w.options = func(name string, o *streamingcontext.Options) {
			o.DriverListener.Paused = func() { paused <- name }
			o.Missed = streamingcontext.MissedCoalesce
		}
		w.declare = func(d *driver, ssc *streamingcontext.Context) error {
			discard(ssc.TextFiles(empty))
			return nil
		}
		w.startAll()
		w.await(2)
		if err := driverlog.SetStatus(t.Context(), w.group.Node("a"), "app", driverlog.Paused); err != nil {
			t.Fatal(err)
		}
		<-paused
		begun := w.group.State()
		w.stop("a")
		if name := <-paused; name != "b" {
			t.Errorf("%s is paused, want b", name)
		}
		w.pass(60 * time.Second)
		now := w.group.State()
		if now.App("app").Next != begun.App("app").Next {
			t.Errorf("%d batches were begun, then %d", begun.App("app").Next, now.App("app").Next)
		}
		if err := driverlog.SetStatus(t.Context(), w.group.Node("b"), "app", driverlog.Running); err != nil {
			t.Fatal(err)
		}
		next := begun.App("app").Next
		w.await(next)
		now = w.group.State()
		before, after := begun.App("app"), now.App("app")
		last, _ := before.LastTime()
		b, ok := after.Batch(next)
		if !ok || b.Time < last+60_000 {
			t.Errorf("the batch after the pause has time %d, the one before %d", b.Time, last)
		}
		w.await(next + 2)
		w.stop("b")
	})
}

// stopHeld starts all drivers, and stops the application while its first batch runs, which goes on until what is returned is closed.
func (w *drivers) stopHeld() (release chan struct{}) {
	w.t.Helper()
	held, empty := make(chan struct{}, 99), w.t.TempDir()
	release = make(chan struct{})
	w.declare = func(_ *driver, ssc *streamingcontext.Context) error {
		dstream.ForeachRDD(ssc.TextFiles(empty), func(context.Context, *rdd.RDD[string], dstream.Time) error {
			held <- struct{}{}
			<-release
			return nil
		})
		return nil
	}
	w.startAll()
	<-held
	if err := driverlog.SetStatus(w.t.Context(), w.group.Node("a"), "app", driverlog.Stopped); err != nil {
		w.t.Fatal(err)
	}
	return release
}

// Who leads needs a majority for what it has begun. So the others stay until that is committed, longer than they look at a status that ends them.
func TestTheOthersStayUntilAStoppedApplicationHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDrivers(t, 3)
		release := w.stopHeld()
		w.pass(8 * time.Second)
		for _, name := range []string{"b", "c"} {
			select {
			case <-w.nodes[name].ended:
				t.Errorf("%s has ended before the batch", name)
			default:
			}
		}
		close(release)
		for _, name := range []string{"a", "b", "c"} {
			<-w.nodes[name].ended
		}
		if s := w.group.State(); len(s.App("app").Open) > 0 {
			t.Errorf("%d batches are left", len(s.App("app").Open))
		}
		w.stopAll()
	})
}

// The only driver loses its term while it finishes the batches of an application that was stopped: it finishes them in its next term.
func TestAStoppedApplicationIsFinishedInAnotherTerm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDrivers(t, 1)
		release := w.stopHeld()
		w.pass(time.Second) // the stop is under way
		w.group.Depose("a")
		w.pass(time.Second)
		close(release)
		w.pass(time.Second)
		w.group.Elect("a")
		<-w.nodes["a"].ended
		if s := w.group.State(); w.nodes["a"].err != nil || len(s.App("app").Open) > 0 {
			t.Errorf("it ends with %v, and %d batches are left", w.nodes["a"].err, len(s.App("app").Open))
		}
		w.stopAll()
	})
}

// What is left of a stopped application is finished by as many terms as it takes, each as long as a stop may last. A term in which nothing is done
// is the last one.
func TestWhatAStopCutsShortIsFinished(t *testing.T) {
	for _, c := range []struct {
		name    string
		takes   func(run int) time.Duration // a batch
		lost    bool                        // the first term is lost in the stop
		terms   int
		timeout bool
	}{
		{"batches that are slower than they come", func(int) time.Duration { return 1490 * time.Millisecond }, false, 3, false},
		{"batches of a lost term", func(int) time.Duration { return 1490 * time.Millisecond }, true, 4, false},
		{"a batch that does not end", func(int) time.Duration { return time.Hour }, false, 1, true},
		{"a batch that does not end after some", func(run int) time.Duration { return time.Duration(run/5) * time.Hour }, false, 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newDrivers(t, 1)
				var runs atomic.Int64
				empty, made := t.TempDir(), make(chan int64, 99)
				w.options = func(_ string, o *streamingcontext.Options) {
					o.StopTimeout = 4110 * time.Millisecond // at no time at which anything else happens
					o.Missed = streamingcontext.MissedCoalesce
				}
				w.declare = func(_ *driver, ssc *streamingcontext.Context) error {
					dstream.ForeachRDD(ssc.TextFiles(empty), func(ctx context.Context, _ *rdd.RDD[string], _ dstream.Time) error {
						n := runs.Add(1)
						made <- n
						select {
						case <-time.After(c.takes(int(n))):
							return nil
						case <-ctx.Done():
							return ctx.Err()
						}
					})
					return nil
				}
				w.startAll()
				<-made
				w.pass(9300 * time.Millisecond)
				if err := driverlog.SetStatus(t.Context(), w.group.Node("a"), "app", driverlog.Stopped); err != nil {
					t.Fatal(err)
				}
				if c.lost {
					w.pass(2300 * time.Millisecond)
					w.group.Depose("a")
					w.pass(time.Second)
					w.group.Elect("a")
				}
				<-w.nodes["a"].ended
				s := w.group.State()
				_, timeout := errors.AsType[*streamingcontext.StopTimeoutError](w.nodes["a"].err)
				if timeout != c.timeout || !timeout && w.nodes["a"].err != nil || (len(s.App("app").Open) > 0) != timeout || len(w.epochs) != c.terms {
					t.Errorf("it ends with %v after %d terms, %d runs, and %d batches are left", w.nodes["a"].err, len(w.epochs), runs.Load(), len(s.App("app").Open))
				}
				w.nodes["a"].err = nil
				w.stopAll()
			})
		})
	}
}
