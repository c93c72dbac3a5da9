package main

import (
	"context"
	"fmt"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/tests/bench/workload"
)

// A sumPair is an integer key with a value.
type sumPair = rdd.Pair[int64, int64]

// windowInput is batches of pairs, made before the clock starts. A window that is longer than they
// reach sees them again.
type windowInput struct {
	keys  int
	feed  feed[sumPair]
	pairs [][]workload.Pair // the same batches
	sums  []table64         // of each batch: the sum of each key
	tops  []table64         // of each batch: the largest value of each key
}

// table64 is a value for each key; absent where a key has none.
type table64 []int64

// absent is less than any value of the workload and than any sum of them.
const absent = -1

func newWindowInput(size workload.Size, blocks, keys int) (windowInput, error) {
	source, err := workload.NewPairs(workload.DefaultSeed, workload.PairsOptions{Keys: keys})
	if err != nil {
		return windowInput{}, err
	}
	in := windowInput{keys: source.Keys()}
	perBatch := min(size.Records(), workload.PairsPerSecond)
	var batches [][]sumPair
	for from := 0; from < size.Records(); from += perBatch {
		batch, err := source.Append(make([]workload.Pair, 0, perBatch), from, from+perBatch)
		if err != nil {
			return windowInput{}, err
		}
		rows := make([]sumPair, len(batch))
		sums, tops := newTable64(in.keys), newTable64(in.keys)
		for i, p := range batch {
			rows[i] = sumPair{Key: p.Key, Value: p.Value}
			sums.put(p.Key, p.Value, add)
			tops.put(p.Key, p.Value, larger)
		}
		batches = append(batches, rows)
		in.pairs, in.sums, in.tops = append(in.pairs, batch), append(in.sums, sums), append(in.tops, tops)
	}
	in.feed = newFeed(batches, blocks)
	return in, nil
}

func newTable64(keys int) table64 {
	t := make(table64, keys)
	for k := range t {
		t[k] = absent
	}
	return t
}

func (t table64) put(key, value int64, combine func(a, b int64) int64) {
	if t[key] == absent {
		t[key] = value
	} else {
		t[key] = combine(t[key], value)
	}
}

func larger(a, b int64) int64 { return max(a, b) }
func less(a, b int64) int64   { return a - b }

// perBatch is the number of pairs in a batch.
func (in windowInput) perBatch() int { return len(in.pairs[0]) }

// windowSum is what is kept of the window of a batch: enough to tell that it is right, little enough
// to cost next to nothing. digest is the sum of value times mixed key.
type windowSum struct{ keys, values, digest int64 }

func (w windowSum) with(p sumPair) windowSum {
	mixed := int64(workload.Mix(uint64(p.Key)))
	return windowSum{w.keys + 1, w.values + p.Value, w.digest + p.Value*mixed}
}

func (w windowSum) and(other windowSum) windowSum {
	return windowSum{w.keys + other.keys, w.values + other.values, w.digest + other.digest}
}

// want is the windowSum of the length batches up to and including last, recounted from the batches.
// Keys whose last pair has left the window stay in it with a sum of 0 when kept is set, since that is
// what a window with inverse does.
func (in windowInput) want(last, length int, tables []table64, combine func(a, b int64) int64) windowSum {
	all := newTable64(in.keys)
	for b := max(0, last-length+1); b <= last; b++ {
		for key, value := range tables[b%len(tables)] {
			if value != absent {
				all.put(int64(key), value, combine)
			}
		}
	}
	var w windowSum
	for key, value := range all {
		if value != absent {
			w = w.with(sumPair{Key: int64(key), Value: value})
		}
	}
	return w
}

// windowed is a stream with a window whose batches are measured.
type windowed struct {
	*pump
	name   string
	length int // batches of the window
	slide  int // batches of a slide
	got    windowSum
	verify func(got windowSum, last int) error
}

// windowKind is a way to keep a window.
type windowKind struct {
	name    string
	declare func(pairs *dstream.DStream[sumPair], window, slide time.Duration) *dstream.DStream[sumPair]
	tables  func(in windowInput) []table64
	combine func(a, b int64) int64
}

func sumsOf(in windowInput) []table64 { return in.sums }
func topsOf(in windowInput) []table64 { return in.tops }

// The ways.
var (
	batchOnly = windowKind{"reduceByKey", func(p *dstream.DStream[sumPair], _, _ time.Duration) *dstream.DStream[sumPair] {
		return dstream.ReduceByKey(p, add)
	}, sumsOf, add}
	withInverse = windowKind{"sum, inverse", func(p *dstream.DStream[sumPair], w, slide time.Duration) *dstream.DStream[sumPair] {
		return dstream.ReduceByKeyAndWindow(p, add, less, w, slide, dstream.KeepWindowed(func(sumPair) bool { return true }))
	}, sumsOf, add}
	withoutInverse = windowKind{"max, no inverse", func(p *dstream.DStream[sumPair], w, slide time.Duration) *dstream.DStream[sumPair] {
		return dstream.ReduceByKeyAndWindow(p, larger, nil, w, slide)
	}, topsOf, larger}
	recomputed = windowKind{"sum, recomputed from pairs", func(p *dstream.DStream[sumPair], w, slide time.Duration) *dstream.DStream[sumPair] {
		return dstream.ReduceByKey(dstream.Window(p, w, slide), add)
	}, sumsOf, add}
	recomputedReduced = windowKind{"sum, recomputed from reduced batches", func(p *dstream.DStream[sumPair], w, slide time.Duration) *dstream.DStream[sumPair] {
		return dstream.ReduceByKey(dstream.Window(dstream.ReduceByKey(p, add), w, slide), add)
	}, sumsOf, add}
)

// newWindowed returns a stream that keeps a window of length batches in the way of kind.
func newWindowed(kind windowKind, in windowInput, length, slide, cores int, dir string) (*windowed, error) {
	w := &windowed{name: kind.name, length: length, slide: slide}
	var err error
	w.pump, err = newPump(cores, dir, func(g *dstream.Graph) {
		pairs := dstream.NewInput(g, "feed", "Pairs", dstream.Input[sumPair](in.feed))
		window := kind.declare(pairs, time.Duration(length)*batchInterval, time.Duration(slide)*batchInterval)
		dstream.ForeachRDD(window, func(ctx context.Context, r *rdd.RDD[sumPair], _ dstream.Time) (err error) {
			w.got, err = rdd.Aggregate(ctx, r, windowSum{}, windowSum.with, windowSum.and)
			return err
		})
	})
	w.verify = func(got windowSum, last int) error {
		if want := in.want(last, length, kind.tables(in), kind.combine); got != want {
			return fmt.Errorf("window of %d batches up to batch %d: got %+v, want %+v", length, last, got, want)
		}
		return nil
	}
	return w, err
}

// warm runs n batches and checks the last.
func (w *windowed) warm(ctx context.Context, n int) error {
	for range n {
		if err := w.batch(ctx); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return w.check()
}

// check checks the window of the last slide.
func (w *windowed) check() error { return w.verify(w.got, (w.last()+1)/w.slide*w.slide-1) }

// subject measures batches: a pass is one.
func (w *windowed) subject(cores, batches int) subject {
	return subject{name: w.name, procs: cores, work: w.batch, check: w.check, passes: batches}
}
