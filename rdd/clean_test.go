package rdd

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

// watched is a runner that tells what is dropped.
type watched struct {
	Runner
	drops chan lineage.Drop
	sweep *func() // the context's
}

func newWatched(r Runner) watched {
	idle := func() {}
	return watched{r, make(chan lineage.Drop, 64), &idle}
}

// context returns a context whose actions run on w.
func (w watched) context(t *testing.T, opts Options) *Context {
	c := newTestContext(t, w, opts)
	*w.sweep = c.Sweep
	return c
}

func (w watched) Drop(d lineage.Drop) {
	w.Runner.Drop(d)
	w.drops <- d
}

// collectGarbage collects until ok, or fails the test after a long while.
func collectGarbage(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("%s: nothing was cleaned", what)
		}
		runtime.GC()
		runtime.Gosched()
	}
}

// dropped collects until one drop has come and returns it.
func (w watched) dropped(t *testing.T, what string) (d lineage.Drop) {
	t.Helper()
	collectGarbage(t, what, func() bool {
		(*w.sweep)()
		select {
		case d = <-w.drops:
			return true
		default:
			return false
		}
	})
	return d
}

// quiet fails the test if something is dropped though several collections pass.
func (w watched) quiet(t *testing.T, what string) {
	t.Helper()
	for range 5 {
		runtime.GC()
		runtime.Gosched()
	}
	// Clean-ups run in the order they were queued: what this one finds was queued before.
	done := make(chan struct{})
	func() {
		x := new([64]byte)
		runtime.AddCleanup(x, func(c chan struct{}) { close(c) }, done)
	}()
	collectGarbage(t, what, func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	})
	(*w.sweep)()
	select {
	case d := <-w.drops:
		t.Errorf("%s: %+v is dropped", what, d)
	default:
	}
}

func TestUnreachableRDDsAreCleaned_L14(t *testing.T) {
	for _, r := range runners() {
		t.Run(r.name, func(t *testing.T) {
			w := newWatched(r.open(t))
			c := w.context(t, Options{})
			t.Run("persisted", func(t *testing.T) {
				var id lineage.NodeID
				func() {
					r := Map(Parallelize(c, upTo(4), 2), func(x int) int { return x }).Cache()
					id = r.Node().ID()
					must(r.Count(t.Context()))
					w.quiet(t, "while there is a handle")
					runtime.KeepAlive(r)
				}()
				same(t, "drop", w.dropped(t, "persisted"), lineage.Drop{Nodes: []lineage.NodeID{id}})
			})
			t.Run("persisted after a job", func(t *testing.T) {
				func() {
					r := Parallelize(c, upTo(4), 2)
					must(r.Count(t.Context()))
					must(r.Cache().Count(t.Context()))
				}()
				same(t, "nodes", len(w.dropped(t, "persisted").Nodes), 1)
			})
			t.Run("shuffled, through a child", func(t *testing.T) {
				var id lineage.NodeID
				var child *RDD[int]
				func() {
					r := Parallelize(c, upTo(4), 2).Repartition(3)
					id = r.Node().ID()
					child = Map(r, func(x int) int { return x })
					must(child.Count(t.Context()))
				}()
				w.quiet(t, "while a child leads to it")
				runtime.KeepAlive(child)
				child = nil
				d := w.dropped(t, "shuffled")
				same(t, "shuffles", d.Shuffles, []lineage.ShuffleID{{Node: id}})
			})
			if _, inline := w.Runner.(*inlineRunner); inline {
				t.Run("only the map stage ran", func(t *testing.T) {
					func() { must(MapOutputSizes(t.Context(), Parallelize(c, upTo(4), 2).Repartition(3), 0)) }()
					same(t, "shuffles", len(w.dropped(t, "sizes").Shuffles), 1)
				})
			}
			t.Run("what left nothing", func(t *testing.T) {
				func() {
					_ = Parallelize(c, upTo(4), 2).Cache().Repartition(2) // no job ran
					must(Parallelize(c, upTo(4), 2).Count(t.Context()))   // nothing is kept of it
					view := c.In(lineage.Scope{Batch: 1, Stream: 1}, "x:1", 0)
					must(Parallelize(view, upTo(2), 1).Cache().Repartition(2).Count(t.Context())) // goes with its scope
				}()
				w.quiet(t, "nothing to clean")
			})
			t.Run("broadcast", func(t *testing.T) {
				var id lineage.BroadcastID
				func() {
					b := must(NewBroadcast(c, []string{"x"}))
					id = b.spec.ID
					collect(t, withValue(Parallelize(c, []int{0}, 1), b))
				}()
				same(t, "drop", w.dropped(t, "broadcast"), lineage.Drop{Broadcasts: []lineage.BroadcastID{id}})
			})
		})
	}
}

func TestUnreachableAccumulatorsAreUnregistered_L14_A3(t *testing.T) {
	onInline(t, Options{}, func(t *testing.T, c *Context, _ *inlineRunner) {
		kept := must(NewLongAccumulator(c, "kept"))
		func() {
			a := must(NewLongAccumulator(c, "gone"))
			collect(t, counting(Parallelize(c, upTo(2), 1), a))
		}()
		registered := func() int {
			c.values.mu.Lock()
			defer c.values.mu.Unlock()
			return len(c.values.accumulators)
		}
		collectGarbage(t, "accumulator", func() bool { return registered() == 1 })
		collect(t, counting(Parallelize(c, upTo(2), 1), kept))
		same(t, "the other one", must(kept.Value(t.Context())).Sum, int64(2))
	})
}

func TestKeepUnreachableCleansNothing(t *testing.T) {
	w := newWatched(newInlineRunner(false))
	c := w.context(t, Options{KeepUnreachable: true})
	func() {
		must(Parallelize(c, upTo(4), 2).Cache().Repartition(2).Count(t.Context()))
		must(NewBroadcast(c, 1))
		must(NewLongAccumulator(c, ""))
	}()
	w.quiet(t, "switched off")
	same(t, "registered", len(c.values.accumulators), 1)
}

func TestFilesOfUnreachableCheckpointsGoWhereAskedFor_L14(t *testing.T) {
	c, _ := inlineContext(t, Options{CheckpointDir: t.TempDir(), CleanCheckpoints: true})
	dir := func() string { return written(t, Parallelize(c, upTo(2), 1)) }()
	collectGarbage(t, "files", func() bool {
		_, err := os.Stat(dir)
		return errors.Is(err, fs.ErrNotExist)
	})
	plain, _ := inlineContext(t, Options{CheckpointDir: t.TempDir()})
	dir = func() string { return written(t, Parallelize(plain, upTo(2), 1)) }()
	newWatched(newInlineRunner(false)).quiet(t, "files stay")
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}

func TestCleanShuffleDependencies(t *testing.T) {
	onRunners(t, Options{CheckpointDir: t.TempDir()}, func(t *testing.T, c *Context) {
		in := c.runner.(Inspector)
		below := Parallelize(c, upTo(4), 2).Repartition(2).Cache()
		middle := Map(below.Repartition(3), func(x int) int { return x })
		r := middle.Repartition(2)
		want := collect(t, r)
		written := func(r *RDD[int]) int { have, _ := in.Written(lineage.ShuffleID{Node: r.Node().ID()}); return have }
		if written(r) != 3 || written(below) != 2 {
			t.Fatalf("%d and %d outputs before", written(r), written(below))
		}
		r.CleanShuffleDependencies()
		if written(r) != 0 || written(below) != 2 {
			t.Errorf("%d and %d outputs after, want none up to what is persisted", written(r), written(below))
		}
		same(t, "again", collect(t, r), want)
	})
}

func TestAWrittenCheckpointDropsTheShufflesAbove(t *testing.T) {
	onRunners(t, Options{CheckpointDir: t.TempDir()}, func(t *testing.T, c *Context) {
		r := Parallelize(c, upTo(4), 2).Repartition(2)
		written(t, r)
		if have, _ := c.runner.(Inspector).Written(lineage.ShuffleID{Node: r.Node().ID()}); have != 0 {
			t.Errorf("%d outputs are there", have)
		}
	})
}

// The runtime's goroutine only takes a note: in a bubble of time, as tests of programs have, it could not do more.
func TestCleaningInABubble_L14(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scheduler.New(local.New(local.Options{Slots: 1}), scheduler.Options{})
		defer s.Close()
		c := newTestContext(t, s, Options{})
		for i := range 50 {
			must(Parallelize(c, upTo(4), 2).Repartition(3).Cache().Count(t.Context()))
			if i%10 == 0 {
				runtime.GC()
			}
		}
	})
}
