package rdd

import (
	"context"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/leat-io/leat/lineage"
)

func TestPackPartitions_H11_C40(t *testing.T) {
	for _, tt := range []struct {
		name   string
		sizes  []int64
		target int64
		want   []PartitionRange
	}{
		{"C40", []int64{110, 30, 170, 15, 35}, 128, []PartitionRange{{0, 1}, {1, 2}, {2, 3}, {3, 5}}},
		{"C40 empty ones are left out", []int64{200, 0, 0}, 100, []PartitionRange{{0, 1}}},
		{"exactly the target", []int64{50, 50, 1}, 100, []PartitionRange{{0, 2}, {2, 3}}},
		{"all empty", []int64{0, 0, 0}, 100, []PartitionRange{{0, 3}}},
		{"none", nil, 100, nil},
		{"no target", []int64{1, 0, 2}, 0, []PartitionRange{{0, 1}, {2, 3}}},
		{"sums that overflow", []int64{math.MaxInt64, math.MaxInt64, 1}, math.MaxInt64, []PartitionRange{{0, 1}, {1, 2}, {2, 3}}},
	} {
		same(t, tt.name, PackPartitions(tt.sizes, tt.target), tt.want)
	}
	for _, tt := range []struct {
		total int64
		parts int
		want  int64
	}{{1 << 40, 8, 64 << 20}, {80 << 20, 8, 10 << 20}, {80<<20 + 1, 8, 10<<20 + 1}, {100, 8, 1 << 20}, {100, 0, 1 << 20}, {32 << 20, 0, 32 << 20}} {
		if got := CoalesceTarget(tt.total, tt.parts); got != tt.want {
			t.Errorf("target of %d in %d: %d, want %d", tt.total, tt.parts, got, tt.want)
		}
	}
}

func TestPackPartitionsCoversAllBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.Int64Range(0, 50), 1, 30).Draw(t, "sizes")
		target := rapid.Int64Range(0, 100).Draw(t, "target")
		groups := PackPartitions(sizes, target)
		if len(groups) == 0 {
			t.Fatal("no group")
		}
		var total, packed int64
		for _, n := range sizes {
			total += n
		}
		at := 0
		for _, g := range groups {
			var sum int64
			for i := g.From; i < g.To; i++ {
				sum += sizes[i]
			}
			if g.From < at || g.To <= g.From || sum > target && g.To-g.From > 1 && sum != sizes[g.From] {
				t.Fatalf("group %v of %d bytes after %d", g, sum, at)
			}
			at, packed = g.To, packed+sum
		}
		if at > len(sizes) || packed != total {
			t.Fatalf("%v holds %d of %d bytes", groups, packed, total)
		}
	})
}

func TestCoalesceShuffled(t *testing.T) {
	onInline(t, Options{}, func(t *testing.T, c *Context, runner *inlineRunner) {
		pairs := Map(Parallelize(c, upTo(100), 4), func(x int) Pair[int, int] { return kv(x%10, x) })
		sums := ReduceByKey(pairs, add[int], NumPartitions(20))
		sizes := must(MapOutputSizes(t.Context(), sums, 0))
		if len(sizes) != 4 || len(sizes[0]) != 20 {
			t.Fatalf("sizes %v", sizes)
		}
		for m, row := range sizes {
			for reduce, n := range row {
				if (n > 0) != (reduce < 10) {
					t.Errorf("map %d reduce %d: %d bytes", m, reduce, n)
				}
			}
		}
		want := collect(t, sums)
		tasks := runner.tasks
		r := must(CoalesceShuffled(t.Context(), sums, reducerSizes(sizes, 20)[0]*3))
		if runner.tasks != tasks {
			t.Errorf("%d tasks for what is there", runner.tasks-tasks)
		}
		same(t, "partitions", sizeOf(t, r), 4)
		same(t, "rows", collect(t, r), want)
		same(t, "parents", r.Deps()[0].Narrow(3), []int{9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19})
		if r.Partitioner() != nil {
			t.Errorf("partitioner %v", r.Partitioner())
		}
		same(t, "the usual target", sizeOf(t, must(CoalesceShuffled(t.Context(), sums, 0))), 1)
		both := CoGroup(pairs, pairs, NumPartitions(10))
		joined := must(CoalesceShuffled(t.Context(), both, 1<<20))
		same(t, "of two shuffles", sizeOf(t, joined), 1)
		if n := must(joined.Count(t.Context())); n != 10 {
			t.Errorf("%d records", n)
		}
		for what, same := range map[string]*RDD[Pair[int, int]]{
			"narrow": pairs, "above a shuffle": MapValues(sums, func(x int) int { return x }), "a source": Parallelize(c, want, 2),
		} {
			if got := must(CoalesceShuffled(t.Context(), same, 1<<20)); !got.Same(same) {
				t.Errorf("%s: it is coalesced", what)
			}
		}
		if got := must(CoalesceShuffled(t.Context(), ReduceByKey(pairs, add[int], NumPartitions(3)), 1)); sizeOf(t, got) != 3 || got.Op() != "reduceByKey" {
			t.Errorf("no fewer: %s of %d", got.Op(), sizeOf(t, got))
		}
		_, err := CoalesceShuffled(t.Context(), sums, -1)
		wantErr(t, "negative", err, ErrArgument)
		_, err = MapOutputSizes(t.Context(), sums, 1)
		wantErr(t, "no such dependency", err, ErrArgument)
		_, err = MapOutputSizes(t.Context(), pairs, 0)
		wantErr(t, "narrow dependency", err, ErrArgument)
		bad := Map[int, int](Parallelize(c, upTo(1), 1), nil).Repartition(2)
		_, err = CoalesceShuffled(t.Context(), bad, 1)
		wantErr(t, "broken", err, ErrNilFunction)
		_, err = MapOutputSizes(t.Context(), bad, 0)
		wantErr(t, "broken", err, ErrNilFunction)
	})
	c := newTestContext(t, noSizes{newInlineRunner(false)}, Options{})
	_, err := CoalesceShuffled(t.Context(), Parallelize(c, upTo(4), 2).Repartition(2), 1)
	if !errors.Is(err, errNoSizes) {
		t.Errorf("a runner that brings no sizes: %v", err)
	}
}

// noSizes is a runner that knows no jobs of a map stage alone.
type noSizes struct{ Runner }

func (noSizes) Run(context.Context, lineage.Job) error { return nil }
