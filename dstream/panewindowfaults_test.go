package dstream_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// textOfWindow is the rows of a window with keys by their bits, sorted.
func textOfWindow[K comparable, V any](rows []rdd.Pair[K, V]) string {
	var words []string
	for _, r := range rows {
		words = append(words, fmt.Sprintf("%T %v %v", r.Key, r.Key, r.Value))
	}
	slices.Sort(words)
	return fmt.Sprint(words)
}

// Keys that Go says are not themselves, or that look different and are equal, are one key in a window, on executors that share memory and on others.
func TestWindowsOfFloatsAndInterfaces(t *testing.T) {
	negative, other := math.Copysign(0, -1), math.Float64frombits(0x7ff8000000000002)
	eachSetup(t, func(t *testing.T, d *driver) {
		var floats [][]rdd.Pair[float64, int]
		var anys [][]rdd.Pair[any, int]
		for k := range 12 {
			floats = append(floats, []rdd.Pair[float64, int]{{Key: []float64{math.NaN(), other}[k%2], Value: 1}, {Key: []float64{0, negative}[k%2], Value: 1}})
			anys = append(anys, []rdd.Pair[any, int]{{Key: 1, Value: 1}, {Key: int64(1), Value: 10}, {Key: uint8(1), Value: 100}, {Key: nil, Value: 1000},
				{Key: []any{math.NaN(), other}[k%2], Value: 1}, {Key: []any{0.0, negative, ""}[k%3], Value: 1}})
		}
		ofFloats := collect(dstream.ReduceByKeyAndWindow(input(d, floats...), add, nil, seconds(6), 0))
		ofAnys := collect(dstream.ReduceByKeyAndWindow(input(d, anys...), add, nil, seconds(6), 0))
		d.run(12)
		for k := 6; k <= 12; k++ {
			equal(t, textOfWindow(ofFloats.rows[sec(k)]), "[float64 0 6 float64 NaN 6]")
			equal(t, textOfWindow(ofAnys.rows[sec(k)]), "[<nil> <nil> 6000 float64 0 4 float64 NaN 6 int 1 6 int64 1 60 string  2 uint8 1 600]")
		}
	})
}

// A batch whose function panics, and one whose context ends, are run again, with executors lost in between; no window
// shows anything twice or lacks anything.
func TestWindowsWithoutInverseAreRunAgain(t *testing.T) {
	type row = rdd.Pair[string, []int]
	for _, isolate := range []bool{false, true} {
		t.Run(fmt.Sprintf("isolate=%t", isolate), func(t *testing.T) {
			var in [][]row
			for k := range 24 {
				in = append(in, []row{{Key: "a", Value: []int{k}}, {Key: fmt.Sprint(k % 3), Value: []int{k}}})
			}
			d := newDriver(t, setup{parallelism: 2, isolate: isolate, executors: 3})
			var bad, once atomic.Bool
			// The first argument is lengthened, changed and kept.
			var kept [][]int
			s := dstream.ReduceByKeyAndWindow(input(d, in...), func(a, b []int) []int {
				if bad.Load() || once.CompareAndSwap(true, false) {
					panic("now and then")
				}
				a = append(a, b...)
				slices.Sort(a)
				return a
			}, nil, seconds(7), seconds(1))
			out := collect(dstream.Map(s, func(p row) row {
				slices.Reverse(p.Value)
				return p
			}))
			dstream.ForeachRDD(s, func(ctx context.Context, batch *rdd.RDD[row], _ dstream.Time) error {
				rows, err := batch.Collect(ctx)
				for _, r := range rows {
					kept = append(kept, r.Value)
					clear(r.Value[:cap(r.Value)])
				}
				return err
			})
			failed := 0
			d.start()
			for k := 1; k <= len(in); k++ {
				jobs, err := d.graph.Generate(sec(k))
				if err != nil {
					t.Fatal(err)
				}
				for i, job := range jobs {
					switch (k + i) % 4 {
					case 0:
						bad.Store(true)
						err := job.Run(t.Context())
						bad.Store(false)
						if user := (*rdd.UserError)(nil); err != nil && !errors.As(err, &user) {
							t.Fatalf("batch %d: %v", k, err)
						}
						if err != nil {
							failed++
						}
					case 1:
						ctx, end := context.WithCancel(t.Context())
						end()
						if err := job.Run(ctx); err == nil {
							t.Fatal("a job whose context has ended is done")
						}
					case 2:
						d.cluster.Kill(d.cluster.Executors()[0])
						d.cluster.Add()
						once.Store(true) // the task is tried again
					}
					if err := job.Run(t.Context()); err != nil {
						t.Fatalf("batch %d: %v", k, err)
					}
				}
				want := map[string][]int{}
				for i := max(1, k-6); i <= k; i++ {
					for _, r := range in[i-1] {
						want[r.Key] = append(want[r.Key], r.Value...)
					}
				}
				got := out.rows[sec(k)]
				if len(got) != len(want) {
					t.Fatalf("batch %d: %v, want %v", k, got, want)
				}
				for _, r := range got {
					slices.Reverse(r.Value)
					if !slices.Equal(r.Value, want[r.Key]) {
						t.Fatalf("batch %d: %s has %v, want %v", k, r.Key, r.Value, want[r.Key])
					}
				}
				d.graph.ForgetOutputs(sec(k))
				d.graph.Forget(sec(k))
			}
			if failed < 3 {
				t.Errorf("%d jobs failed, which is no test", failed)
			}
		})
	}
}
