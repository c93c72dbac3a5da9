package rdd

import (
	"iter"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

func TestLocalCheckpoint_L13(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		var calls atomic.Int64
		src := Parallelize(c, upTo(6), 3)
		r := Map(src, func(x int) int { calls.Add(1); return 10 * x })
		if err := r.LocalCheckpoint(); err != nil {
			t.Fatal(err)
		}
		if r.IsCheckpointed() || r.Level() != MemoryAndDisk() || r.Deps()[0].Parent.ID() != src.Node().ID() {
			t.Errorf("a mark alone: checkpointed %t, level %s", r.IsCheckpointed(), r.Level())
		}
		same(t, "the first job meets one partition", must(r.Take(t.Context(), 1)), []int{10})
		if !r.IsCheckpointed() {
			t.Fatal("it is not checkpointed")
		}
		origin := r.Deps()[0].Parent
		if n, err := origin.NumPartitions(); len(r.Deps()) != 1 || origin.Op() != "localCheckpoint" || n != 3 || err != nil || len(origin.Deps()) != 0 {
			t.Errorf("parent %v of %d partitions", origin, n)
		}
		if n := calls.Load(); n != 6 {
			t.Errorf("%d calls, want 6: each partition once", n)
		}
		want := []int{10, 20, 30, 40, 50, 60}
		same(t, "rows", collect(t, r), want)
		same(t, "derived", collect(t, r.Repartition(1)), []int{10, 20, 30, 40, 50, 60})
		if n := calls.Load(); n != 6 {
			t.Errorf("%d calls, want 6: it is computed again", n)
		}
		r.Unpersist()
		_, err := r.Collect(t.Context())
		wantErr(t, "after Unpersist", err, ErrCheckpointLost)
		_, err = Map(r, func(x int) int { return x }).Count(t.Context())
		wantErr(t, "derived, after Unpersist", err, ErrCheckpointLost)
		if n := calls.Load(); n != 6 {
			t.Errorf("%d calls: what is lost is computed again", n)
		}
	})
}

func TestLosingAPartitionOfALocalCheckpoint_L13(t *testing.T) {
	c, runner := inlineContext(t, Options{})
	r := Map(Parallelize(c, upTo(4), 2), func(x int) int { return -x })
	if err := r.LocalCheckpoint(); err != nil {
		t.Fatal(err)
	}
	must(r.Count(t.Context()))
	delete(runner.kept[r.Node().ID()], 1)
	same(t, "what is left", must(r.Take(t.Context(), 2)), []int{-1, -2})
	_, err := r.Collect(t.Context())
	wantErr(t, "lost", err, ErrCheckpointLost)
}

func TestLocalCheckpointAndOtherMarks_L13(t *testing.T) {
	c, _ := inlineContext(t, Options{CheckpointDir: t.TempDir()})
	fresh := func() *RDD[int] { return Parallelize(c, upTo(4), 2) }
	check := func(what string, r *RDD[int], op string, level StorageLevel) {
		t.Helper()
		same(t, what, collect(t, r), upTo(4))
		if got := r.Deps()[0].Parent.Op(); got != op || r.Level() != level || c.marked.Load() != 0 {
			t.Errorf("%s: %s at %s, %d marks left; want %s at %s", what, got, r.Level(), c.marked.Load(), op, level)
		}
	}
	r := fresh()
	if r.Checkpoint() != nil || r.LocalCheckpoint() != nil {
		t.Fatal("marks")
	}
	check("local overrides a mark for files", r, "localCheckpoint", MemoryAndDisk())
	if err := r.Checkpoint(); err != nil {
		t.Errorf("for files after a local one: %v", err)
	}
	r = fresh()
	if r.LocalCheckpoint() != nil || r.Checkpoint() != nil {
		t.Fatal("marks")
	}
	check("a mark for files after a local one is ignored", r, "localCheckpoint", MemoryAndDisk())
	r = fresh()
	if err := r.Persist(MemoryOnlySer()); err != nil || r.LocalCheckpoint() != nil || r.LocalCheckpoint() != nil {
		t.Fatal("marks")
	}
	check("the disk is added to a level", r, "localCheckpoint", MemoryAndDiskSer())
	r = fresh()
	if err := r.LocalCheckpoint(); err != nil {
		t.Fatal(err)
	}
	r.Unpersist()
	check("Unpersist before the job", r, "localCheckpoint", MemoryAndDisk())
	r = fresh()
	must(r.Count(t.Context()))
	wantErr(t, "L8 after a job", r.LocalCheckpoint(), ErrCheckpointTooLate)
	same(t, "the level stays", r.Level(), StorageLevel{})
	r = fresh()
	written(t, r)
	if err := r.LocalCheckpoint(); err != nil || r.Level() != (StorageLevel{}) {
		t.Errorf("after one that was written: %v, level %s", err, r.Level())
	}
	none := Empty[int](c)
	if err := none.LocalCheckpoint(); err != nil {
		t.Fatal(err)
	}
	must(none.Count(t.Context()))
	if !none.IsCheckpointed() {
		t.Error("an RDD without partitions is not checkpointed")
	}
}

// full is a runner whose executors keep nothing.
type full struct{ *inlineRunner }

func (f full) Kept(lineage.NodeID) []bool { return nil }

func TestLocalCheckpointThatIsNotKeptCutsNothing(t *testing.T) {
	c := newTestContext(t, full{newInlineRunner(false)}, Options{})
	src := Parallelize(c, upTo(4), 2)
	r := Map(src, func(x int) int { return -x })
	if err := r.LocalCheckpoint(); err != nil {
		t.Fatal(err)
	}
	_, err := r.Count(t.Context())
	wantErr(t, "no room", err, errNoRoom)
	if r.IsCheckpointed() || r.Deps()[0].Parent.ID() != src.Node().ID() {
		t.Error("the lineage is cut")
	}
}

// A job that runs while another one makes a local checkpoint finds the partitions where they are kept, though its
// tasks were made before.
func TestLocalCheckpointBesideARunningJob_L13(t *testing.T) {
	s := scheduler.New(local.New(local.Options{Executors: 2, Slots: 1}), scheduler.Options{})
	defer s.Close()
	c := must(NewContext(s, Options{}))
	r := Map(Parallelize(c, upTo(3), 1), func(x int) int { return 10 * x })
	if err := r.LocalCheckpoint(); err != nil {
		t.Fatal(err)
	}
	begun, release, busy, over := make(chan struct{}, 10), make(chan struct{}), make(chan struct{}, 1), make(chan struct{})
	late := MapPartitions(r, func(in iter.Seq[int]) iter.Seq[int] {
		return func(yield func(int) bool) {
			begun <- struct{}{}
			<-release
			in(yield)
		}
	})
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() {
		defer close(over)
		rows, err := late.Collect(t.Context())
		if err != nil {
			t.Error(err)
		}
		same(t, "rows", rows, []int{10, 20, 30})
	})
	<-begun
	must(r.Count(t.Context())) // on the other executor
	if !r.IsCheckpointed() {
		t.Error("it is not checkpointed")
	}
	// That one is busy, so that what fails is tried again where nothing is kept.
	running.Go(func() {
		if _, err := Map(Parallelize(c, upTo(1), 1), func(x int) int { busy <- struct{}{}; <-over; return x }).Count(t.Context()); err != nil {
			t.Error(err)
		}
	})
	<-busy
	close(release)
}
