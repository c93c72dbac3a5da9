package rdd

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
)

// tagged pairs every record with the index of its partition.
func tagged[T any](part int, in iter.Seq[T]) iter.Seq[Pair[int, T]] {
	return func(yield func(Pair[int, T]) bool) {
		for x := range in {
			if !yield(kv(part, x)) {
				return
			}
		}
	}
}

// jobsOf returns the jobs since the last call, as in "count[0 1]".
func jobsOf(r *inlineRunner) []string {
	var jobs []string
	for _, j := range r.ran() {
		jobs = append(jobs, fmt.Sprint(j.name, j.parts))
	}
	return jobs
}

func TestZip(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		four := Parallelize(c, upTo(4), 2)
		t.Run("pairs by position", func(t *testing.T) {
			r := Zip(four, Parallelize(c, []string{"a", "b", "c", "d"}, 2))
			same(t, "pairs", partsOf(t, r), [][]Pair[int, string]{{kv(1, "a"), kv(2, "b")}, {kv(3, "c"), kv(4, "d")}})
		})
		t.Run("across chunks that do not line up", func(t *testing.T) {
			a := Range(c, 0, 5000, 1, 1)
			b := FlatMap(Range(c, 0, 2500, 1, 1), func(x int64) []int64 { return []int64{2 * x, 2*x + 1} })
			for i, p := range collect(t, Zip(a, b)) {
				if p.Key != int64(i) || p.Value != int64(i) {
					t.Fatalf("pair %d is %v", i, p)
				}
			}
		})
		t.Run("C09 other lengths fail the task", func(t *testing.T) {
			_, err := Zip(four, Parallelize(c, upTo(5), 2)).Collect(t.Context())
			wantErr(t, "second longer", err, ErrLengths)
			_, err = Zip(Parallelize(c, upTo(5), 2), four).Collect(t.Context())
			wantErr(t, "first longer", err, ErrLengths)
			got, err := Zip(Parallelize(c, upTo(9), 1), Parallelize(c, upTo(3), 1)).Take(t.Context(), 2)
			if err != nil {
				t.Errorf("take of what pairs up: %v", err)
			}
			same(t, "take", got, []Pair[int, int]{kv(1, 1), kv(2, 2)})
		})
	})
	t.Run("C09 other counts launch no task", func(t *testing.T) {
		c, runner := inlineContext(t, Options{})
		_, err := Zip(Parallelize(c, upTo(4), 2), Parallelize(c, upTo(4), 1)).Collect(t.Context())
		wantErr(t, "collect", err, ErrLengths)
		var build *BuildError
		if !errors.As(err, &build) || build.Op != "zip" {
			t.Errorf("error %v does not name the zip", err)
		}
		same(t, "jobs", jobsOf(runner), nil)
	})
}

func TestZipPartitions(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		a, b := Parallelize(c, upTo(4), 2), Parallelize(c, upTo(5), 2)
		t.Run("lengths may differ", func(t *testing.T) {
			r := ZipPartitions(a, b, func(x, y iter.Seq[int]) iter.Seq[Pair[int, int]] {
				return slices.Values([]Pair[int, int]{kv(len(slices.Collect(x)), len(slices.Collect(y)))})
			})
			same(t, "lengths", partsOf(t, r), [][]Pair[int, int]{{kv(2, 2)}, {kv(2, 3)}})
		})
		t.Run("one sequence inside the other, stopping early", func(t *testing.T) {
			r := ZipPartitions(a, b, func(x, y iter.Seq[int]) iter.Seq[Pair[int, int]] {
				return func(yield func(Pair[int, int]) bool) {
					for i := range x {
						for j := range y {
							if !yield(kv(i, j)) {
								return
							}
						}
						return
					}
				}
			})
			same(t, "pairs", partsOf(t, r), [][]Pair[int, int]{{kv(1, 1), kv(1, 2)}, {kv(3, 3), kv(3, 4), kv(3, 5)}})
		})
		t.Run("counts may not", func(t *testing.T) {
			r := ZipPartitions(a, Parallelize(c, upTo(1), 3), func(x, _ iter.Seq[int]) iter.Seq[int] { return x })
			_, err := r.Collect(t.Context())
			wantErr(t, "collect", err, ErrLengths)
		})
		t.Run("the partitioner is kept when promised", func(t *testing.T) {
			p := PartitionBy(Map(a, func(x int) Pair[int, int] { return kv(x, x) }), Partitioner[int](Hash[int](2)))
			left := func(x, _ iter.Seq[Pair[int, int]]) iter.Seq[Pair[int, int]] { return x }
			if got := ZipPartitions(p, p, left).Partitioner(); got != nil {
				t.Errorf("partitioner %s, want none", got)
			}
			if got := ZipPartitions(p, p, left, PreservePartitioning()).Partitioner(); got == nil || !got.Equal(Hash[int](2)) {
				t.Errorf("partitioner %v, want hash:2", got)
			}
		})
		t.Run("an input that fails is the cause", func(t *testing.T) {
			bad := TryMap(b, func(x int) (int, error) { return 0, errBoom })
			_, err := ZipPartitions(a, bad, func(x, y iter.Seq[int]) iter.Seq[int] { return y }).Collect(t.Context())
			var user *UserError
			if !errors.As(err, &user) || user.Op != "tryMap" {
				t.Errorf("error %v is not the input's", err)
			}
		})
	})
}

var errBoom = errors.New("boom")

func TestZipWithIndex(t *testing.T) {
	rows := []string{"a", "b", "c", "d", "e"}
	t.Run("C08 one job over all partitions but the last", func(t *testing.T) {
		c, runner := inlineContext(t, Options{})
		r, err := ZipWithIndex(t.Context(), Parallelize(c, rows, 3))
		if err != nil {
			t.Fatal(err)
		}
		same(t, "jobs", jobsOf(runner), []string{"zipWithIndex[0 1]"})
		same(t, "indexes", collect(t, r), []Pair[string, int64]{kv("a", int64(0)), kv("b", int64(1)), kv("c", int64(2)), kv("d", int64(3)), kv("e", int64(4))})
	})
	t.Run("no job for one partition or none", func(t *testing.T) {
		c, runner := inlineContext(t, Options{})
		for _, r := range []*RDD[string]{Parallelize(c, rows, 1), Empty[string](c)} {
			if _, err := ZipWithIndex(t.Context(), r); err != nil {
				t.Error(err)
			}
		}
		same(t, "jobs", jobsOf(runner), nil)
	})
	t.Run("C08 unique ids need no job", func(t *testing.T) {
		c, runner := inlineContext(t, Options{})
		r := ZipWithUniqueID(Parallelize(c, rows, 3))
		same(t, "jobs", jobsOf(runner), nil)
		same(t, "ids", collect(t, r), []Pair[string, int64]{kv("a", int64(0)), kv("b", int64(1)), kv("c", int64(4)), kv("d", int64(2)), kv("e", int64(5))})
	})
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		r, err := ZipWithIndex(t.Context(), Range(c, 0, 7000, 1, 3).Filter(func(x int64) bool { return x%3 == 0 }))
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range collect(t, r) {
			if p.Value != int64(i) || p.Key != int64(3*i) {
				t.Fatalf("record %d is %v", i, p)
			}
		}
	})
}

func TestCartesian(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		a, b := Parallelize(c, upTo(3), 2), Parallelize(c, []string{"x", "y"}, 2)
		r := Cartesian(a, b)
		same(t, "pairs", partsOf(t, r), [][]Pair[int, string]{
			{kv(1, "x")}, {kv(1, "y")}, {kv(2, "x"), kv(3, "x")}, {kv(2, "y"), kv(3, "y")},
		})
		same(t, "parents of 2", [][]int{r.Node().Deps()[0].Narrow(2), r.Node().Deps()[1].Narrow(2)}, [][]int{{1}, {0}})
		same(t, "with no partitions", sizeOf(t, Cartesian(a, Empty[int](c))), 0)
		same(t, "with empty ones", partsOf(t, Cartesian(a, Parallelize(c, []int{}, 1))), [][]Pair[int, int]{nil, nil})
		// A shuffled side is read again for every record of the other.
		same(t, "count", must(Cartesian(Range(c, 0, 1500, 1, 1), Range(c, 0, 1500, 1, 2).Repartition(1)).Count(t.Context())), 1500*1500)
	})
	t.Run("each pair is its receiver's to change", func(t *testing.T) {
		c, _ := inlineContext(t, Options{})
		r := Cartesian(Parallelize(c, [][]int{{1}}, 1), Parallelize(c, upTo(3), 1))
		seen := Map(r, func(p Pair[[]int, int]) int { p.Key[0]++; return p.Key[0] })
		same(t, "first elements", collect(t, seen), []int{2, 2, 2})
	})
}
