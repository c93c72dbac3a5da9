package rdd

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// everyOperator is one RDD of text behind each operator, over the same input.
func everyOperator(t *testing.T, c *Context, n int) map[string]*RDD[string] {
	random := rand.New(rand.NewPCG(5, 6))
	var rows []Pair[string, int]
	for i := range 3000 {
		rows = append(rows, kv(fmt.Sprint("key-", random.IntN(200), strings.Repeat("x", random.IntN(20))), i))
	}
	in := Parallelize(c, rows, n)
	other := Parallelize(c, rows[:500], n)
	ints := Map(in, func(p Pair[string, int]) Pair[int, string] { return kv(p.Value%91-45, p.Key) })
	sorted := must(SortByKey(t.Context(), ints, SortPartitions(4)))
	return map[string]*RDD[string]{
		"reduceByKey":  text(ReduceByKey(in, add[int])),
		"uncombined":   text(ReduceByKey(in, add[int], WithoutMapSideCombine())),
		"aggregate":    text(AggregateByKey(ints, "", add[string], add[string])),
		"groupByKey":   text(GroupByKey(ints)),
		"counts":       text(Counts(Keys(in))),
		"distinct":     Distinct(Keys(in)),
		"cogroup":      text(CoGroup(in, other)),
		"join":         text(Join(in, other)),
		"full":         text(FullOuterJoin(in, other, NumPartitions(3))),
		"partitionBy":  text(PartitionBy(ints, Hash[int](3))),
		"sortByKey":    text(sorted),
		"sort by func": text(must(SortByFunc(t.Context(), in, func(p Pair[string, int]) int { return p.Value % 7 }, Compare[int], Descending()))),
		"union":        text(in.Union(other)),
		"two shuffles": text(GroupByKey(Map(ReduceByKey(ints, add[string]), func(p Pair[int, string]) Pair[int, int] { return kv(len(p.Value)%5, p.Key) }))),
	}
}

func text[T any](r *RDD[T]) *RDD[string] { return Map(r, func(x T) string { return fmt.Sprint(x) }) }

// G8, G9: a partition that is computed again has the same records in the same order, on every runner.
func TestRecompute(t *testing.T) {
	for _, n := range []int{1, 2, 7} {
		t.Run(fmt.Sprintf("%d partitions", n), func(t *testing.T) {
			var mu sync.Mutex // guards want
			want := map[string][][]string{}
			onRunners(t, Options{}, func(t *testing.T, c *Context) {
				for op, r := range everyOperator(t, c, n) {
					first := partsOf(t, r)
					again := partsOf(t, everyOperatorAgain(t, c, r))
					same(t, op+" again", again, first)
					mu.Lock()
					if want[op] == nil {
						want[op] = first
					}
					same(t, op+" on another runner", first, want[op])
					mu.Unlock()
				}
			})
		})
	}
}

// everyOperatorAgain makes the runner forget what it keeps, so that r is computed from its sources.
func everyOperatorAgain(t *testing.T, c *Context, r *RDD[string]) *RDD[string] {
	t.Helper()
	c.Forget(r.Node().ID().Scope)
	return r
}

// A task that fails is run again and gives the same answer; one that always fails ends the job.
func TestRetry(t *testing.T) {
	for _, isolate := range []bool{false, true} {
		t.Run(fmt.Sprintf("isolate %t", isolate), func(t *testing.T) {
			c := newTestContext(t, newLocalRunner(t, 3, isolate), Options{})
			var failed atomic.Int64
			flaky := TryMap(Parallelize(c, upTo(9), 3), func(x int) (Pair[int, int], error) {
				if x%3 == 2 && failed.Add(1) <= 3 {
					return kv(0, 0), errors.New("not yet")
				}
				return kv(x%2, x), nil
			})
			same(t, "sums", collect(t, ReduceByKey(flaky, add[int], NumPartitions(1))), []Pair[int, int]{kv(1, 25), kv(0, 20)})
			var calls atomic.Int64
			err := errOf(TryMap(Parallelize(c, upTo(1), 1), func(int) (int, error) { calls.Add(1); return 0, errOdd }).Count(t.Context()))
			if err == nil || calls.Load() != 4 || !strings.Contains(err.Error(), "odd") {
				t.Errorf("C29 %d attempts, %v; want 4 attempts and the cause", calls.Load(), err)
			}
		})
	}
}
