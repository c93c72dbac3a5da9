package rdd

import (
	"slices"
	"testing"
)

func TestCoalesce(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		ten := Parallelize(c, upTo(10), 10)
		t.Run("C10 neighbours are joined", func(t *testing.T) {
			r := ten.Coalesce(3)
			same(t, "partitions", partsOf(t, r), [][]int{{1, 2, 3}, {4, 5, 6}, {7, 8, 9, 10}})
			same(t, "parents of output 1", r.Node().Deps()[0].Narrow(1), []int{3, 4, 5})
			same(t, "one", partsOf(t, ten.Coalesce(1)), [][]int{upTo(10)})
		})
		t.Run("C10 it never makes more", func(t *testing.T) {
			if n := sizeOf(t, ten.Coalesce(20)); n != 10 {
				t.Errorf("%d partitions, want 10", n)
			}
		})
		t.Run("C10 zero is refused", func(t *testing.T) {
			_, err := ten.Coalesce(0).Count(t.Context())
			wantErr(t, "count", err, ErrArgument)
			_, err = ten.Coalesce(0).Coalesce(-1).Count(t.Context())
			wantErr(t, "count", err, ErrArgument)
		})
		t.Run("G7 without partitions", func(t *testing.T) {
			same(t, "records", collect(t, Empty[int](c).Coalesce(3)), []int{})
		})
		t.Run("the partitioner is lost", func(t *testing.T) {
			r := PartitionBy(Parallelize(c, []Pair[int, int]{kv(1, 1), kv(2, 2)}, 2), Partitioner[int](Hash[int](4)))
			if p := r.Coalesce(2).Partitioner(); p != nil {
				t.Errorf("partitioner %s, want none", p)
			}
			same(t, "pairs", partsOf(t, r.Coalesce(2)), [][]Pair[int, int]{{kv(1, 1)}, {kv(2, 2)}})
		})
	})
}

func TestRepartition(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		t.Run("C11 equal shares", func(t *testing.T) {
			r := Parallelize(c, upTo(1000), 10).Repartition(2)
			parts := partsOf(t, r)
			if len(parts) != 2 || len(parts[0]) != 500 || len(parts[1]) != 500 || r.Partitioner() != nil {
				t.Fatalf("%d partitions of %d and %d, partitioner %v", len(parts), len(parts[0]), len(parts[1]), r.Partitioner())
			}
			same(t, "records", slices.Sorted(slices.Values(slices.Concat(parts...))), upTo(1000))
			same(t, "again", partsOf(t, r), parts)
		})
		t.Run("the shares of each input partition differ by one at most", func(t *testing.T) {
			for _, n := range []int{1, 3, 7, 16} {
				in := MapPartitionsWithIndex(Parallelize(c, upTo(50), 4), tagged[int])
				shares := map[int]map[int]int{}
				for out, rows := range partsOf(t, in.Repartition(n)) {
					for _, p := range rows {
						if shares[p.Key] == nil {
							shares[p.Key] = map[int]int{}
						}
						shares[p.Key][out]++
					}
				}
				for part, by := range shares {
					least, most := 1<<30, 0
					for out := range n {
						least, most = min(least, by[out]), max(most, by[out])
					}
					if most-least > 1 {
						t.Errorf("n=%d: input %d gave shares from %d to %d", n, part, least, most)
					}
				}
			}
		})
		t.Run("short inputs do not fill the first outputs only", func(t *testing.T) {
			used := 0
			for _, rows := range partsOf(t, Parallelize(c, upTo(64), 64).Repartition(8)) {
				if len(rows) > 0 {
					used++
				}
			}
			if used < 6 {
				t.Errorf("64 inputs of one record went to %d of 8 outputs", used)
			}
		})
		t.Run("zero is refused", func(t *testing.T) {
			_, err := Parallelize(c, upTo(3), 2).Repartition(0).Count(t.Context())
			wantErr(t, "count", err, ErrArgument)
		})
		t.Run("G7 without partitions", func(t *testing.T) {
			same(t, "records", partsOf(t, Empty[int](c).Repartition(3)), [][]int{nil, nil, nil})
		})
	})
}

func TestPrunePartitions(t *testing.T) {
	c, runner := inlineContext(t, Options{})
	r := Parallelize(c, upTo(10), 5).PrunePartitions(func(i int) bool { return i%2 == 1 })
	same(t, "kept", partsOf(t, r), [][]int{{3, 4}, {7, 8}})
	same(t, "jobs", jobsOf(runner), []string{"collectPartitions[0 1]"})
	same(t, "parent of output 1", r.Node().Deps()[0].Narrow(1), []int{3})
	same(t, "none kept", collect(t, r.PrunePartitions(func(int) bool { return false })), []int{})
	_, err := r.PrunePartitions(nil).Count(t.Context())
	wantErr(t, "nil", err, ErrNilFunction)
}
