package streamingcontext_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

// With KeepPersisted references are dropped, but persisted partitions and received blocks stay.
func TestKeepPersisted_C5(t *testing.T) {
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprintf("keep=%t", keep), func(t *testing.T) {
			kit := streamtest.New(t, streamtest.Options{Configure: func(o *streamingcontext.Options) { o.KeepPersisted = keep }})
			h := newHanded()
			var computed atomic.Int64
			mapped := dstream.Map(streamingcontext.Receive[int](kit.Context(), h), func(x int) int { computed.Add(1); return x }).Cache()
			held := map[dstream.Time]*rdd.RDD[int]{}
			dstream.ForeachRDD(mapped, func(ctx context.Context, r *rdd.RDD[int], at dstream.Time) error {
				held[at] = r
				_, err := r.Count(ctx)
				return err
			})
			kit.Advance(1)
			for i := range 5 {
				h.store(t, i)
				kit.Advance(1)
			}
			if got := mapped.Remembered(); !slices.Equal(got, []dstream.Time{6000}) {
				t.Errorf("remembered %v", got)
			}
			wantPersisted, wantBlocks, wantComputed := 1, 1, int64(6)
			if keep {
				wantPersisted, wantBlocks, wantComputed = 5, 5, 5
			}
			if n, err := held[2000].Count(t.Context()); n != 1 || err != nil { // also behind what was dropped
				t.Errorf("a forgotten batch: %d rows, %v", n, err)
			}
			if n := computed.Load(); n != wantComputed {
				t.Errorf("%d rows were computed, want %d", n, wantComputed)
			}
			_, persisted := kit.Context().Engine().Cluster().Blocks()
			if persisted != wantPersisted {
				t.Errorf("%d partitions are held, want %d", persisted, wantPersisted)
			}
			if got := streamingcontext.HeldBatches(kit.Context()); !slices.Equal(got, []int{wantBlocks}) {
				t.Errorf("batches of blocks held: %v, want %d", got, wantBlocks)
			}
		})
	}
}

// The checkpoints of forgotten batches go whatever is kept.
func TestKeepPersistedRemovesCheckpoints(t *testing.T) {
	dir := t.TempDir()
	kit := streamtest.New(t, streamtest.Options{Engine: streamingcontext.EngineOptions{CheckpointDir: dir},
		Configure: func(o *streamingcontext.Options) { o.KeepPersisted = true }})
	in := streamtest.Input[int](kit)
	if err := in.Stream().Checkpoint(time.Second); err != nil {
		t.Fatal(err)
	}
	discard(in.Stream())
	for i := range 10 {
		in.Push(i)
		kit.Advance(1)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 4 {
		t.Errorf("%d checkpoints, %v", len(entries), err)
	}
}

// What inputs reported is kept as long as their RDDs can be asked for, and a batch that was forgotten can be made again.
func TestInputInfoIsKeptAndDropped_E9(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	in := streamtest.Input[int](kit)
	discard(dstream.Window(in.Stream(), 3*time.Second, time.Second))
	g := kit.Context().Graph()
	for i := range 6 {
		in.Push(make([]int, i+1)...)
		kit.Advance(1)
	}
	// The input remembers four seconds: batches 3 to 6 and, of what was reported, batch 2.
	for k, want := range map[int]int{1: 0, 2: 1, 3: 1, 6: 1} {
		infos := g.InputInfos(kit.Time(k))
		if len(infos) != want || want == 1 && infos[0].Records != int64(k) {
			t.Errorf("batch %d: %+v", k, infos)
		}
	}
	rdds, err := dstream.Slice(in.Stream(), kit.Time(1), kit.Time(6))
	if err != nil || len(rdds) != 6 {
		t.Errorf("slice: %d RDDs, %v", len(rdds), err)
	}
}

// S-22: a batch function with several actions finds the same state each time, and the state is updated once.
func TestSeveralActionsUpdateStateOnce_S22(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	in := streamtest.Input[rdd.Pair[string, int]](kit)
	var calls atomic.Int64
	counts := dstream.UpdateStateByKey(in.Stream(), func(values []int, old rdd.Option[int]) rdd.Option[int] {
		calls.Add(1)
		return rdd.Option[int]{Value: old.Value + len(values), OK: true}
	}, dstream.TouchedOnly())
	var answers []string
	dstream.ForeachRDD(counts, func(ctx context.Context, r *rdd.RDD[rdd.Pair[string, int]], _ dstream.Time) error {
		n, err := r.Count(ctx)
		if err != nil {
			return err
		}
		first, err := r.Collect(ctx)
		if err != nil {
			return err
		}
		again, err := r.Collect(ctx)
		if err != nil {
			return err
		}
		if err := r.SaveAsTextFile(ctx, fmt.Sprintf("%s/%d", t.TempDir(), len(answers))); err != nil {
			return err
		}
		if !slices.Equal(first, again) {
			t.Errorf("rows %v, then %v", first, again)
		}
		answers = append(answers, fmt.Sprintf("%d %v", n, first))
		return nil
	})
	for range 3 {
		in.Push(rdd.Pair[string, int]{Key: "a", Value: 1}, rdd.Pair[string, int]{Key: "a", Value: 1})
		kit.Advance(1)
	}
	if want := []string{"1 [(a,2)]", "1 [(a,4)]", "1 [(a,6)]"}; !slices.Equal(answers, want) {
		t.Errorf("answers %q, want %q", answers, want)
	}
	if calls.Load() != 3 {
		t.Errorf("the state was updated %d times, want 3", calls.Load())
	}
}

// W-17: each value with its count, not the number of values.
func TestCountByValueAndWindow_W17Bug(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{Partitions: 1, Engine: streamingcontext.EngineOptions{DefaultParallelism: 1}})
	in := streamtest.Input[string](kit)
	out := streamtest.Collect(kit, dstream.CountByValueAndWindow(in.Stream(), 2*time.Second, time.Second))
	in.Push("a", "b")
	kit.Advance(1)
	in.Push("a", "c")
	kit.Advance(1)
	got := map[string]int64{}
	for _, p := range out.Batch(2) {
		got[p.Key] = p.Value
	}
	if len(got) != 3 || got["a"] != 2 || got["b"] != 1 || got["c"] != 1 {
		t.Errorf("counts %v", got)
	}
}

// F-03: a file is chosen once, though it is remembered for one batch only.
func TestAFileIsReadOnce_F03(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{Configure: func(o *streamingcontext.Options) { o.FileRemember = time.Second }})
	f := folder{t, t.TempDir()}
	out := streamtest.Collect(kit, kit.Context().TextFiles(f.dir))
	kit.Advance(1)
	f.write("a", 1500, "a\n")
	kit.Advance(5)
	if got := slices.Concat(out.Batches()...); !slices.Equal(got, []string{"a"}) {
		t.Errorf("lines %v", got)
	}
}
