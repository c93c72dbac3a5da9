package streamingcontext_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/blobstore/blobtest"
	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/memlog"
	"github.com/leat-io/leat/streamingcontext"
)

// everything returns digests of all that drivers have written.
func (w *drivers) everything() map[string]string {
	all := contents(w.t, w.store)
	var walk func(dir string)
	walk = func(dir string) {
		entries, err := w.disk.ReadDir(dir)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, e := range entries {
			path := dir + "/" + e.Name()
			if e.IsDir() {
				walk(path)
				continue
			}
			r, err := w.disk.Open(path)
			if err != nil {
				w.t.Fatal(err)
			}
			data, err := io.ReadAll(r)
			if err != nil {
				w.t.Fatal(err)
			}
			all[path] = fmt.Sprintf("%x", sha256.Sum256(data))
		}
	}
	walk("/out")
	state := w.group.State()
	all["the driver log"] = fmt.Sprintf("%x", state.Digest())
	return all
}

// A driver that stood still while it made a batch visible, and wakes up when another has gone on, changes nothing.
func TestAPausedDriverThatWakesUpChangesNothing(t *testing.T) {
	const batches = 9
	want, _ := ledAlone(t, batches)
	for _, point := range []string{"sink commit", "sink seal", "sink part", "log committed", "sink clean", "log prepared", "store put checkpoints"} {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/after=%t", point, after), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newDrivers(t, 2)
					w.strikes = func(d *driver, at string, nth int) *strike {
						if at == point && nth == 6 && d.name == "a" || at == point && d.name == "a" && nth == 2 && strings.HasPrefix(point, "store") {
							return &strike{what: "pause", after: after, next: "b"}
						}
						return nil
					}
					w.startAll()
					w.await(batches - 1)
					w.stop("b")
					before := w.everything()
					w.nodes["a"].wake()
					w.nodes["a"].standsBy(2)
					synctest.Wait()
					after := w.everything()
					if point == "sink part" { // a part that no batch counts
						maps.DeleteFunc(after, func(name, _ string) bool { return before[name] == "" && strings.Contains(name, "/data/") })
					}
					// A checkpoint that does not count, of the epoch that is over: one may be under way wherever the driver is paused.
					maps.DeleteFunc(after, func(name, _ string) bool {
						return before[name] == "" && strings.HasPrefix(name, "checkpoints/") && strings.HasSuffix(name, "-1")
					})
					if diff := cmp.Diff(before, after); diff != "" {
						t.Errorf("what is there before and after (-before +after):\n%s", diff)
					}
					w.stop("a")
					w.check(batches, want)
				})
			})
		}
	}
}

// A driver that stands by reads no input, asks no sink and writes nothing, and leads at once when the leader stops as planned.
func TestAPlannedStop(t *testing.T) {
	const batches = 8
	want, _ := ledAlone(t, batches)
	synctest.Test(t, func(t *testing.T) {
		w := newDrivers(t, 3)
		w.startAll()
		w.await(3)
		for _, name := range []string{"b", "c"} {
			if n := w.nodes[name].did; n != 0 {
				t.Errorf("%s has done %d things", name, n)
			}
		}
		w.stop("a")
		if leader := w.group.Leader(); leader != "b" {
			t.Errorf("%q leads, want b", leader)
		}
		synctest.Wait()
		if len(w.epochs) != 2 || !strings.HasPrefix(w.epochs[1], "b ") {
			t.Errorf("terms %q", w.epochs)
		}
		w.await(batches - 1)
		if n := w.nodes["c"].did; n != 0 {
			t.Errorf("c has done %d things", n)
		}
		w.stop("c", "b")
		w.check(batches, want)
	})
}

// failsAt declares an output that fails in the batch of a time, on one node.
func failsAt(node string, at int64, err error) func(d *driver, ssc *streamingcontext.Context) error {
	return func(d *driver, ssc *streamingcontext.Context) error {
		n := int64(0)
		dstream.ForeachRDD(each(ssc, "x"), func(ctx context.Context, _ *rdd.RDD[string], _ dstream.Time) error {
			if n++; d.name == node && n == at {
				return err
			}
			return nil
		})
		return nil
	}
}

// The error of a batch ends the driver, which lets another one lead.
func TestADriverEndsWithTheErrorOfABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDrivers(t, 2)
		broken := errors.New("broken on this machine")
		w.declare = failsAt("a", 3, broken)
		w.startAll()
		<-w.nodes["a"].ended
		var failed *streamingcontext.OutputError
		if err := w.nodes["a"].err; !errors.Is(err, broken) || !errors.As(err, &failed) || !strings.Contains(err.Error(), "app") {
			t.Errorf("a ends with %v", err)
		}
		w.await(6)
		w.stop("b")
	})
}

// An error that a driver meets when its term is over is none of the program's, also where the log does not say so.
func TestAnErrorAfterTheTermIsNone(t *testing.T) {
	for _, what := range []string{"deposed", "paused"} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newDrivers(t, 2)
				w.declare = func(d *driver, ssc *streamingcontext.Context) error {
					n := 0
					dstream.ForeachRDD(each(ssc, "x"), func(ctx context.Context, _ *rdd.RDD[string], _ dstream.Time) error {
						if n++; d.name != "a" || n != 3 {
							return nil
						}
						w.group.Hush("a")
						w.group.Elect("b")
						if _, err := w.group.Node("b").Lead(ctx); err != nil {
							t.Error(err)
						}
						if what == "paused" {
							w.group.Pause("a")
						}
						return errors.New("the files are gone: another driver has removed them")
					})
					return nil
				}
				w.startAll()
				w.await(4)
				if what == "paused" {
					w.await(20) // it gives up waiting for the log
					w.group.Resume("a")
				}
				w.nodes["a"].standsBy(2)
				w.stopAll()
				if err := w.nodes["a"].reason; err == nil || !strings.Contains(err.Error(), "the files are gone") {
					t.Errorf("a stood down for %v", err)
				}
			})
		})
	}
}

// A function that does not end with the term is left behind, and the driver with it.
func TestAFunctionThatIsLeftBehind(t *testing.T) {
	for name, in := range map[string]func(w *drivers, block func()) func(d *driver, ssc *streamingcontext.Context) error{
		"of_a_batch": func(w *drivers, block func()) func(d *driver, ssc *streamingcontext.Context) error {
			return func(d *driver, ssc *streamingcontext.Context) error {
				dstream.ForeachRDD(each(ssc, "x"), func(context.Context, *rdd.RDD[string], dstream.Time) error {
					if d.name == "a" {
						block()
					}
					return nil
				})
				return nil
			}
		},
		"of_a_sink_at_the_start": func(w *drivers, block func()) func(d *driver, ssc *streamingcontext.Context) error {
			w.strikes = func(d *driver, point string, nth int) *strike {
				if point == "sink last" && d.name == "a" {
					w.mu.Unlock()
					defer w.mu.Lock()
					block()
				}
				return nil
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newDrivers(t, 2)
				w.options = func(_ string, o *streamingcontext.Options) { o.StopTimeout = 3 * time.Second }
				at, free := make(chan struct{}), make(chan struct{})
				w.declare = in(w, func() { close(at); <-free })
				defer func() { close(free); synctest.Wait() }()
				w.startAll()
				<-at
				w.group.Elect("b")
				lost := time.Now()
				<-w.nodes["a"].ended
				var cut *streamingcontext.StopTimeoutError
				if err := w.nodes["a"].err; !errors.As(err, &cut) || time.Since(lost) > 4*time.Second {
					t.Errorf("a ends after %v with %v", time.Since(lost), err)
				}
				w.await(4)
				w.stop("b")
			})
		})
	}
}

// A command whose answer got lost ends the term, also where the log would go on with it.
func TestAnUnknownOutcomeBeginsAnotherTerm(t *testing.T) {
	const batches = 8
	want, _ := ledAlone(t, batches)
	for _, outcome := range []memlog.GroupOutcome{memlog.Lost, memlog.Dropped, memlog.Late} {
		for at := 1; at <= 14; at++ {
			t.Run(fmt.Sprint(outcome, " ", at), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newDrivers(t, 1)
					w.faults = func(c memlog.GroupCall) (f memlog.GroupFault) {
						if c.N == at {
							f.Outcome = outcome
						}
						return f
					}
					w.startAll()
					w.await(batches - 1)
					w.stopAll()
					w.check(batches, want)
					if at > 1 && len(w.epochs) != 2 {
						t.Errorf("terms %q", w.epochs)
					}
				})
			})
		}
	}
}

// Terms that come to nothing are begun less and less often.
func TestBackingOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDrivers(t, 1)
		fails := 10
		var began []time.Time
		w.faults = func(c memlog.GroupCall) (f memlog.GroupFault) {
			if fails > 0 && c.Commands[0].App != "" {
				fails--
				f.Outcome = memlog.Dropped
			}
			return f
		}
		w.options = func(_ string, o *streamingcontext.Options) {
			o.DriverListener.Leading = func(uint64) { began = append(began, time.Now()) }
		}
		w.startAll()
		w.await(2)
		w.stopAll()
		last, waits := began[0], map[time.Duration]bool{}
		for _, at := range began[1:] {
			waits[at.Sub(last)] = true
			last = at
		}
		want := []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond, 1600 * time.Millisecond, 3200 * time.Millisecond, 5 * time.Second}
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(waits))); diff != "" {
			t.Errorf("waits between terms (-want +got):\n%s", diff)
		}
	})
}

// A log that cannot begin a term ends the driver.
func TestALogThatNeverLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDrivers(t, 1)
		w.faults = func(memlog.GroupCall) memlog.GroupFault { return memlog.GroupFault{Outcome: memlog.Dropped} }
		w.start("a")
		<-w.nodes["a"].ended
		if err := w.nodes["a"].err; err == nil || !strings.Contains(err.Error(), "outcome unknown") {
			t.Errorf("a ends with %v", err)
		}
	})
}

// countsOf declares a running total of an input of some kind, which tells one graph from another.
func countsOf(ssc *streamingcontext.Context, kind string) error {
	in := dstream.NewInput(ssc.Graph(), kind, "Counted", dstream.Input[string](eternal[string]{rows: func(int64) []string { return []string{"x"} }}))
	totals := dstream.UpdateStateByKey(dstream.CountByValue(in), total)
	discard(totals)
	return totals.Checkpoint(2 * time.Second)
}

// A driver with another graph is refused when its node knows of the application, and does not hold the others up. What a node knew long ago
// does not count.
func TestADriverWithAnotherGraphIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newDrivers(t, 3)
		w.declare = func(d *driver, ssc *streamingcontext.Context) error {
			if d.name == "c" {
				return countsOf(ssc, "others")
			}
			return countsOf(ssc, "totals")
		}
		w.group.Lag("b")
		w.group.Lag("c")
		w.startAll()
		w.await(9)
		select {
		case <-w.nodes["c"].ended:
			t.Fatalf("a node that knows of no application ends with %v", w.nodes["c"].err)
		default:
		}
		w.group.CatchUp("c")
		<-w.nodes["c"].ended
		var changed *dstream.ChangedError
		if err := w.nodes["c"].err; !errors.As(err, &changed) || !strings.Contains(err.Error(), "others") {
			t.Errorf("c ends with %v", err)
		}
		w.stop("a") // b leads, whatever it knew
		w.await(14)
		w.stop("b")
	})
	t.Run("when_it_leads", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newDrivers(t, 2)
			w.declare = func(d *driver, ssc *streamingcontext.Context) error { return countsOf(ssc, d.name) }
			w.group.Lag("b")
			w.startAll()
			w.await(3)
			w.group.Elect("b")
			<-w.nodes["b"].ended
			var changed *dstream.ChangedError
			if err := w.nodes["b"].err; !errors.As(err, &changed) {
				t.Errorf("b ends with %v", err)
			}
			w.await(8) // a leads again
			w.stop("a")
		})
	})
	t.Run("not_for_what_its_node_knew", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			other := newDrivers(t, 1)
			other.declare = func(d *driver, ssc *streamingcontext.Context) error { return countsOf(ssc, "second") }
			other.startAll()
			other.await(0)
			other.stopAll()
			state := other.group.State()

			w := newDrivers(t, 3)
			kind := "first"
			w.declare = func(d *driver, ssc *streamingcontext.Context) error { return countsOf(ssc, kind) }
			w.start("a")
			w.await(2)
			w.stop("a")
			w.group.Lag("b")
			w.group.Elect("c")
			term, err := w.group.Node("c").Lead(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			was := w.group.State()
			if _, err := w.group.Node("c").Propose(t.Context(), driverlog.Command{Kind: driverlog.Application, Epoch: term.Epoch, App: "app",
				Time: was.App("app").Zero, Manifest: state.App("app").Description}); err != nil {
				t.Fatal(err)
			}
			kind = "second"
			w.start("b")
			time.AfterFunc(3500*time.Millisecond, func() { w.group.CatchUp("b") })
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			select {
			case <-w.nodes["b"].ended:
				t.Errorf("b ends with %v", w.nodes["b"].err)
			case <-ctx.Done():
			}
		})
	})
}

// A term that ends while the driver makes visible what is prepared, in a sink that does not take it, ends that as well.
func TestATermThatEndsAsItBegins(t *testing.T) {
	const batches = 8
	want, _ := ledAlone(t, batches)
	synctest.Test(t, func(t *testing.T) {
		w := newDrivers(t, 2)
		w.options = func(_ string, o *streamingcontext.Options) { o.StopTimeout = -1 }
		fails := make(chan struct{})
		tried := sync.OnceFunc(func() { close(fails) })
		once := false
		w.strikes = func(d *driver, point string, nth int) *strike {
			if d.name == "a" && point == "log prepared" && nth == 4 {
				once = true
				return &strike{after: true, what: "depose", next: "a"}
			}
			return nil
		}
		w.refuses = func(d *driver) error {
			if !once || d.name != "a" {
				return nil
			}
			tried()
			return errors.New("the sink is not there")
		}
		w.startAll()
		<-fails
		w.nodes["a"].standsBy(2)
		w.pass(3 * time.Second)
		w.group.Elect("b")
		w.nodes["a"].standsBy(3)
		w.await(batches - 1)
		w.stopAll()
		w.check(batches, want)
	})
}

func TestOptionsOfDrivers(t *testing.T) {
	g, err := memlog.NewGroup(memlog.GroupOptions{})
	if err != nil {
		t.Fatal(err)
	}
	node, store := g.Node("local"), blobtest.NewMemory()
	opts := streamingcontext.Options{Interval: time.Second, Cluster: node, Store: store}
	if err := opts.Validate(); err != nil {
		t.Error(err)
	}
	for want, o := range map[string]streamingcontext.Options{
		"needs a Store": {Interval: time.Second, Cluster: node}, "cannot both": {Interval: time.Second, Cluster: node, Log: node, Store: store},
	} {
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate = %v, want %q", err, want)
		}
		if err := streamingcontext.Drive(t.Context(), "", o, func(*streamingcontext.Context) error { return nil }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Drive = %v, want %q", err, want)
		}
	}
	ssc := streamingcontext.New(opts)
	discard(nothing(ssc))
	if err := ssc.Start(t.Context()); !errors.Is(err, streamingcontext.ErrClusterNeedsFolder) {
		t.Errorf("Start = %v, want ErrClusterNeedsFolder", err)
	}
	opts.Cluster = nil
	if err := streamingcontext.Drive(t.Context(), "", opts, func(*streamingcontext.Context) error { return nil }); !errors.Is(err, streamingcontext.ErrNoCluster) {
		t.Errorf("Drive = %v, want ErrNoCluster", err)
	}
	if err := streamingcontext.Drive(t.Context(), "", opts, nil); !errors.Is(err, dstream.ErrNilFunction) {
		t.Errorf("Drive = %v, want ErrNilFunction", err)
	}
	opts.Cluster = node
	broken := errors.New("broken")
	if err := streamingcontext.Drive(t.Context(), "", opts, func(*streamingcontext.Context) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("Drive = %v, want what setup returns", err)
	}
}
