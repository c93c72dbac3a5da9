package hostile

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

func TestTenThousandNarrowSteps(t *testing.T) {
	e := engine(t, streamingcontext.EngineOptions{})
	r := rdd.Parallelize(e.RDDs(), ints(10), 2)
	for range 10_000 {
		r = rdd.Map(r, func(x int) int { return x + 1 })
	}
	var sum int
	err := within(t, "job", func() (err error) { sum, err = rdd.Sum(t.Context(), r); return err })
	if err != nil || sum != 45+100_000 {
		t.Errorf("sum %d, %v", sum, err)
	}
	if s := r.DebugString(); len(s) == 0 {
		t.Error("no lineage")
	}
}

func TestThreeHundredShuffles(t *testing.T) {
	e := engine(t, streamingcontext.EngineOptions{})
	r := rdd.Parallelize(e.RDDs(), ints(10), 2)
	for range 300 {
		r = r.Repartition(2)
	}
	var n int64
	err := within(t, "job", func() (err error) { n, err = r.Count(t.Context()); return err })
	if err != nil || n != 10 {
		t.Errorf("count %d, %v", n, err)
	}
}

func TestNestedUnions(t *testing.T) {
	e := engine(t, streamingcontext.EngineOptions{})
	one := rdd.Parallelize(e.RDDs(), []int{1}, 1)
	left, right := one, one
	for range 300 {
		left, right = left.Union(one), one.Union(right)
	}
	for _, r := range []*rdd.RDD[int]{left, right} {
		var n int64
		err := within(t, "job", func() (err error) { n, err = r.Count(t.Context()); return err })
		if err != nil || n != 301 {
			t.Errorf("count %d, %v", n, err)
		}
	}
}

// TestUnionsThatDouble asks for more partitions than there are numbers.
func TestUnionsThatDouble(t *testing.T) {
	e := engine(t, streamingcontext.EngineOptions{})
	for _, times := range []int{40, 63, 64, 65, 200} {
		r := rdd.Parallelize(e.RDDs(), []int{1}, 1)
		for range times {
			r = r.Union(r)
		}
		err := within(t, "job", func() error { _, err := r.Count(t.Context()); return err })
		wantPlace(t, err)
	}
}

func TestPartitionCountsBeyondMemory(t *testing.T) {
	e := engine(t, streamingcontext.EngineOptions{})
	nums := rdd.Parallelize(e.RDDs(), ints(4), 2)
	ps := rdd.Parallelize(e.RDDs(), pairs(4, 2), 2)
	wide := rdd.Parallelize(e.RDDs(), ints(4), 1<<16)
	for _, n := range []int{1 << 40, math.MaxInt} {
		for name, run := range map[string]func() (int64, error){
			"parallelize": func() (int64, error) { return rdd.Parallelize(e.RDDs(), ints(4), n).Count(t.Context()) },
			"range":       func() (int64, error) { return rdd.Range(e.RDDs(), 0, 4, 1, n).Count(t.Context()) },
			"repartition": func() (int64, error) { return nums.Repartition(n).Count(t.Context()) },
			"reduceByKey": func() (int64, error) { return rdd.ReduceByKey(ps, plus, rdd.NumPartitions(n)).Count(t.Context()) },
			"partitionBy": func() (int64, error) {
				return rdd.PartitionBy(ps, rdd.Partitioner[int](rdd.Hash[int](n))).Count(t.Context())
			},
			"sort": func() (int64, error) {
				r, err := rdd.SortBy(t.Context(), nums, func(x int) int { return x }, rdd.SortPartitions(n))
				if err != nil {
					return 0, err
				}
				return r.Count(t.Context())
			},
			"coalesced": func() (int64, error) { return nums.Repartition(n).Coalesce(2).Count(t.Context()) },
			"shuffled":  func() (int64, error) { return nums.Repartition(n).Repartition(2).Count(t.Context()) },
			"tree": func() (int64, error) {
				s, err := rdd.TreeReduce(t.Context(), nums.Repartition(n), plus, 3)
				return int64(s), err
			},
			"cartesian": func() (int64, error) { return rdd.Cartesian(wide, rdd.Cartesian(wide, wide)).Count(t.Context()) },
		} {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				wantPlace(t, within(t, name, func() error { _, err := run(); return err }))
			})
		}
	}
}

func TestSelfJoins(t *testing.T) {
	bothModes(t, func(t *testing.T, e *streamingcontext.Engine) {
		ps := rdd.Parallelize(e.RDDs(), pairs(6, 3), 2)
		var n int64
		for name, r := range map[string]*rdd.RDD[rdd.Pair[int, rdd.Joined[int, int]]]{
			"shuffled": rdd.Join(ps, ps),
			"aligned":  rdd.Join(rdd.PartitionBy(ps, rdd.Partitioner[int](rdd.Hash[int](3))), rdd.PartitionBy(ps, rdd.Partitioner[int](rdd.Hash[int](3)))),
		} {
			err := within(t, name, func() (err error) { n, err = r.Count(t.Context()); return err })
			if err != nil || n != 12 {
				t.Errorf("%s: %d, %v; want 12", name, n, err)
			}
		}
		same := rdd.ReduceByKey(ps, plus).Cache()
		for range 20 { // without the graph's shape in mind a walk would pass a million paths
			same = rdd.MapValues(rdd.Join(same, same), func(j rdd.Joined[int, int]) int { return max(j.Left, j.Right) }).Cache()
		}
		rows, err := same.Collect(t.Context())
		if err != nil || len(rows) != 3 {
			t.Errorf("repeated: %v, %v", rows, err)
		}
	})
}

func TestTwoActionsOnOneCachedRDDWhileItIsUnpersisted(t *testing.T) {
	bothModes(t, func(t *testing.T, e *streamingcontext.Engine) {
		r := rdd.Map(rdd.Parallelize(e.RDDs(), ints(5000), 8), func(x int) int { return x * 2 }).Cache()
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				for range 15 {
					sum, err := rdd.Sum(context.Background(), r)
					if err != nil || sum != 4999*5000 {
						t.Errorf("sum %d, %v", sum, err)
					}
					if i == 0 {
						r.Unpersist()
					}
				}
			})
		}
		_ = within(t, "jobs", func() error { wg.Wait(); return nil })
	})
}

func TestFunctionsThatChangeTheirInput(t *testing.T) {
	bothModes(t, func(t *testing.T, e *streamingcontext.Engine) {
		rows := [][]int{{1}, {2}, {3}, {4}}
		r := rdd.Parallelize(e.RDDs(), rows, 2).Cache()
		spoil := func(xs []int) int { x := xs[0]; xs[0] = -100; return x }
		for range 3 {
			sum, err := rdd.Sum(t.Context(), rdd.Map(r, spoil))
			if err != nil || sum != 10 {
				t.Errorf("sum %d, %v; want 10", sum, err)
			}
		}
		zero := map[int]int{}
		for range 2 {
			all, err := rdd.Aggregate(t.Context(), r, zero, func(m map[int]int, xs []int) map[int]int { m[xs[0]]++; return m },
				func(a, b map[int]int) map[int]int {
					for k, n := range b {
						a[k] += n
					}
					return a
				})
			if err != nil || len(all) != 4 || all[1] != 1 {
				t.Errorf("aggregate %v, %v", all, err)
			}
		}
		if len(zero) != 0 {
			t.Errorf("the zero was changed: %v", zero)
		}
		keyed := rdd.KeyBy(r, func(xs []int) int { return xs[0] % 2 })
		grown := rdd.ReduceByKey(keyed, func(a, b []int) []int { a[0] += b[0]; b[0] = 0; return a })
		for range 2 {
			got, err := rdd.CollectAsMap(t.Context(), grown)
			if err != nil || len(got) != 2 || got[0].Value[0]+got[1].Value[0] != 10 {
				t.Errorf("reduced %v, %v", got, err)
			}
		}
		if rows[0][0] != 1 {
			t.Errorf("the program's rows were changed: %v", rows)
		}
	})
}

// item is a key or record with a pointer.
type item struct{ N *int }

func TestKeysWithoutValue(t *testing.T) {
	e := engine(t, streamingcontext.EngineOptions{})
	nums := rdd.Parallelize(e.RDDs(), ints(4), 2)
	n := 1
	for name, run := range map[string]func() (int64, error){
		"pointer": func() (int64, error) {
			return rdd.Distinct(rdd.Map(nums, func(int) *int { return &n })).Count(t.Context())
		},
		"struct": func() (int64, error) {
			return rdd.Distinct(rdd.Map(nums, func(int) item { return item{&n} })).Count(t.Context())
		},
		"slice in an interface": func() (int64, error) {
			return rdd.Distinct(rdd.Map(nums, func(x int) any { return []int{x} })).Count(t.Context())
		},
		"function in an interface": func() (int64, error) {
			return rdd.Distinct(rdd.Map(nums, func(int) any { return func() {} })).Count(t.Context())
		},
		"channel": func() (int64, error) {
			return rdd.Distinct(rdd.Map(nums, func(int) chan int { return nil })).Count(t.Context())
		},
		"slice in an interface, count by value": func() (int64, error) {
			_, err := rdd.CountByValue(t.Context(), rdd.Map(nums, func(x int) any { return []int{x} }))
			return 0, err
		},
		"slice in an interface, locally": func() (int64, error) {
			_, err := rdd.ReduceByKeyLocally(t.Context(), rdd.Map(nums, func(x int) rdd.Pair[any, int] { return rdd.Pair[any, int]{Key: []int{x}} }), plus)
			return 0, err
		},
		"slice in an interface, lookup": func() (int64, error) {
			_, err := rdd.Lookup(t.Context(), rdd.PartitionBy(rdd.Map(nums, func(x int) rdd.Pair[any, int] { return rdd.Pair[any, int]{Key: x} }),
				rdd.Partitioner[any](rdd.Hash[any](2))), any([]int{1}))
			return 0, err
		},
	} {
		t.Run(name, func(t *testing.T) { wantPlace(t, within(t, name, func() error { _, err := run(); return err })) })
	}
}

func TestNaN(t *testing.T) {
	bothModes(t, func(t *testing.T, e *streamingcontext.Engine) {
		xs := []float64{3, math.NaN(), 1, math.NaN(), 2, math.Inf(-1), math.Float64frombits(0x7ff8000000000123), 0, math.Copysign(0, -1)}
		r := rdd.Parallelize(e.RDDs(), slices.Repeat(xs, 10), 4)
		counts, err := rdd.CountByValue(t.Context(), r)
		var total int64
		for _, c := range counts {
			total += c.Value
		}
		if err != nil || total != 90 {
			t.Errorf("%d records counted, %v; want 90", total, err)
		}
		shuffled, err := rdd.Counts(r, rdd.NumPartitions(3)).Collect(t.Context())
		total = 0
		for _, c := range shuffled {
			total += c.Value
		}
		if err != nil || total != 90 || len(shuffled) != len(counts) {
			t.Errorf("%d records in %d keys, %v; want 90 in %d", total, len(shuffled), err, len(counts))
		}
		sorted, err := rdd.SortBy(t.Context(), r, func(x float64) float64 { return x }, rdd.SortPartitions(3))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := sorted.Collect(t.Context())
		if err != nil || len(rows) != 90 || !slices.IsSortedFunc(rows, rdd.Compare[float64]) {
			t.Errorf("%d records sorted, %v: %v", len(rows), err, rows)
		}
	})
}

func TestAHugeRecord(t *testing.T) {
	e := engine(t, streamingcontext.EngineOptions{Isolate: true})
	r := rdd.Map(rdd.Parallelize(e.RDDs(), ints(2), 2), func(int) []byte { return make([]byte, 40<<20) }).Repartition(2)
	err := within(t, "job", func() error {
		return r.ForeachPartition(t.Context(), func(_ context.Context, _ int, in iter.Seq[[]byte]) error {
			for b := range in {
				if len(b) != 40<<20 {
					t.Errorf("record of %d bytes", len(b))
				}
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}
