package hostile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/rdd/keyed"
)

// refusing runs every operator by key over pairs whose keys are interfaces.
func refusing(r *rdd.RDD[rdd.Pair[any, int]], at any) map[string]func(ctx context.Context) error {
	type pair = rdd.Pair[any, int]
	count := func(n func(context.Context) (int64, error)) func(ctx context.Context) error {
		return func(ctx context.Context) error { _, err := n(ctx); return err }
	}
	p := rdd.PartitionFunc("mine", 3, func(any) int { return 1 })
	keys := rdd.Keys(r)
	fractions := []rdd.Pair[any, float64]{{Key: at, Value: 1}}
	return map[string]func(ctx context.Context) error{
		"partitionBy":                  count(rdd.PartitionBy(r, p).Count),
		"reduceByKey":                  count(rdd.ReduceByKey(r, plus).Count),
		"reduceByKey, own partitioner": count(rdd.ReduceByKey(r, plus, rdd.PartitionedBy(p)).Count),
		"reduceByKey, no combining":    count(rdd.ReduceByKey(r, plus, rdd.WithoutMapSideCombine()).Count),
		"groupByKey":                   count(rdd.GroupByKey(r).Count),
		"cogroupAll":                   count(rdd.CoGroupAll(r.Context(), []*rdd.RDD[pair]{r, r, r, r, r}).Count),
		"subtractByKey":                count(rdd.SubtractByKey(r, r).Count),
		"distinct":                     count(rdd.Distinct(keys).Count),
		"countApproxDistinctByKey":     count(rdd.CountApproxDistinctByKey(r, 0.05).Count),
		"sampleByKey":                  count(rdd.SampleByKey(r, false, fractions, 1).Count),
		"sampleByKey, replaced":        count(rdd.SampleByKey(r, true, fractions, 1).Count),
		"sampleByKeyExact": func(ctx context.Context) error {
			s, err := rdd.SampleByKeyExact(ctx, r, false, fractions, 1)
			if err == nil {
				_, err = s.Count(ctx)
			}
			return err
		},
		"countApproxDistinct": func(ctx context.Context) error { _, err := rdd.CountApproxDistinct(ctx, keys, 0.05); return err },
		"countByKey":          func(ctx context.Context) error { _, err := rdd.CountByKey(ctx, r); return err },
		"countByValue":        func(ctx context.Context) error { _, err := rdd.CountByValue(ctx, keys); return err },
		"countByValueApprox": func(ctx context.Context) error {
			_, err := rdd.CountByValueApprox(ctx, keys, timeout, 0.9)
			return err
		},
		"collectAsMap":       func(ctx context.Context) error { _, err := rdd.CollectAsMap(ctx, r); return err },
		"reduceByKeyLocally": func(ctx context.Context) error { _, err := rdd.ReduceByKeyLocally(ctx, r, plus); return err },
		"lookup":             func(ctx context.Context) error { _, err := rdd.Lookup(ctx, r, at); return err },
	}
}

// refused checks that operators end in the error that says what is wrong with a key.
func refused(t *testing.T, kind string, operators map[string]func(ctx context.Context) error, static bool) {
	for name, run := range operators {
		t.Run(kind+"/"+name, func(t *testing.T) {
			err := within(t, name, func() error { return run(t.Context()) })
			if !errors.Is(err, keyed.ErrBadKeyType) {
				t.Errorf("error %v", err)
			}
			wantPlace(t, err)
			_, built := errors.AsType[*rdd.BuildError](err)
			_, user := errors.AsType[*rdd.UserError](err)
			if static && !built || !static && !built && !user {
				t.Errorf("error %#v is neither of the construction nor of a task", err)
			}
		})
	}
}

// TestKeysWithoutIdentity refuses keys that are compared by where they lie (G5): at once where the type says so, else in
// the task that meets one.
func TestKeysWithoutIdentity(t *testing.T) {
	rigs(t, func(t *testing.T, r *rig) {
		n := 1
		nums := rdd.Parallelize(r.Context, ints(3000), 2)
		ps := rdd.Map(nums, func(i int) rdd.Pair[*int, int] { return rdd.Pair[*int, int]{Key: &n, Value: i} })
		refused(t, "pointer", map[string]func(ctx context.Context) error{
			"cogroupAll": func(ctx context.Context) error {
				_, err := rdd.CoGroupAll(r.Context, []*rdd.RDD[rdd.Pair[*int, int]]{ps}).Count(ctx)
				return err
			},
			"countApproxDistinctByKey": func(ctx context.Context) error {
				_, err := rdd.CountApproxDistinctByKey(ps, 0.05).Count(ctx)
				return err
			},
			"sampleByKey": func(ctx context.Context) error {
				_, err := rdd.SampleByKey(ps, false, nil, 1).Count(ctx)
				return err
			},
			"sampleByKeyExact": func(ctx context.Context) error {
				_, err := rdd.SampleByKeyExact(ctx, ps, false, nil, 1)
				return err
			},
		}, true)
		for kind, bad := range map[string]any{"slice": []int{1}, "pointer inside": item{&n}} {
			rows := rdd.Map(nums, func(i int) rdd.Pair[any, int] {
				if i == 2999 { // the last one, when tables are full
					return rdd.Pair[any, int]{Key: bad, Value: i}
				}
				return rdd.Pair[any, int]{Key: fmt.Sprintf("%0400d", i), Value: i}
			})
			refused(t, kind, refusing(rows, bad), false)
		}
	})
}

// TestKeysThatCompareOddly has every NaN be one key, and both zeros, in every operator, spilled or not (G3).
func TestKeysThatCompareOddly(t *testing.T) {
	type key = float64
	odd := []float64{math.NaN(), math.Float64frombits(0x7ff8000000000123), math.Float64frombits(0xfff8000000000001), 0, math.Copysign(0, -1), 1}
	rigs(t, func(t *testing.T, r *rig) {
		const copies = 3000
		ps := rdd.Map(rdd.Range(r.Context, 0, copies*int64(len(odd)), 1, 3), func(i int64) rdd.Pair[key, string] {
			x := odd[int(i)%len(odd)]
			return rdd.Pair[key, string]{Key: x, Value: fmt.Sprintf("%0100d", i)}
		})
		sizes := func(rows []rdd.Pair[key, int], err error) []int {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
			var n []int
			for _, p := range rows {
				n = append(n, p.Value)
			}
			slices.Sort(n)
			return n
		}
		want := []int{copies, 2 * copies, 3 * copies}
		count := func(name string, r *rdd.RDD[rdd.Pair[key, int]], want []int) {
			t.Helper()
			if got := sizes(r.Collect(t.Context())); !slices.Equal(got, want) {
				t.Errorf("%s: keys of %d records, want %d", name, got, want)
			}
		}
		ones := rdd.MapValues(ps, func(string) int { return 1 })
		lengths := func(xs []string) int { return len(xs) }
		count("reduceByKey", rdd.ReduceByKey(ones, plus), want)
		count("groupByKey", rdd.MapValues(rdd.GroupByKey(ps), lengths), want)
		count("cogroupAll", rdd.MapValues(rdd.CoGroupAll(r.Context, []*rdd.RDD[rdd.Pair[key, string]]{ps, ps}), func(g [][]string) int { return len(g[1]) }), want)
		count("countApproxDistinctByKey", rdd.MapValues(rdd.CountApproxDistinctByKey(rdd.MapValues(ps, func(string) float64 { return math.NaN() }), 0.01),
			func(n int64) int { return int(n) }), []int{1, 1, 1})
		fractions := []rdd.Pair[key, float64]{{Key: math.NaN(), Value: 1}, {Key: 0, Value: 0}, {Key: 1, Value: 0}}
		count("sampleByKey", rdd.ReduceByKey(rdd.SampleByKey(ones, false, fractions, 7), plus), want[2:])
		exact, err := rdd.SampleByKeyExact(t.Context(), ones, false, fractions, 7)
		if err != nil {
			t.Fatal(err)
		}
		count("sampleByKeyExact", rdd.ReduceByKey(exact, plus), want[2:])
		locally, err := rdd.ReduceByKeyLocally(t.Context(), ones, plus)
		if got := sizes(locally, err); !slices.Equal(got, want) {
			t.Errorf("reduceByKeyLocally: %d", got)
		}
		for name, r := range map[string]*rdd.RDD[key]{"distinct": rdd.Distinct(rdd.Keys(ps))} {
			if n, err := r.Count(t.Context()); n != 3 || err != nil {
				t.Errorf("%s: %d, %v", name, n, err)
			}
		}
		if n, err := rdd.SubtractByKey(ps, ones).Count(t.Context()); n != 0 || err != nil {
			t.Errorf("subtractByKey: %d, %v", n, err)
		}
	})
}
