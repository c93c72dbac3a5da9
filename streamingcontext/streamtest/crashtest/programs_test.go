package crashtest_test

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest/crashtest"
)

// lines are the batches of an input.
var lines = [][]string{{"ada bo", "ada"}, {"bo"}, nil, {"cy ada bo", "cy"}, {"ada"}, {"bo bo bo"}, {"dee"}, {"ada dee"}}

func add(a, b int64) int64      { return a + b }
func subtract(a, b int64) int64 { return a - b }

func addUp(counts []int64, old rdd.Option[int64]) rdd.Option[int64] {
	for _, n := range counts {
		old.Value += n
	}
	return rdd.Option[int64]{Value: old.Value, OK: true}
}

func row(p rdd.Pair[string, int64]) string { return p.Key + "\t" + strconv.FormatInt(p.Value, 10) }

// seen counts the batches that a word has been in.
func seen(_ dstream.Time, word string, _ rdd.Option[int64], times *dstream.State[int64]) (rdd.Option[rdd.Pair[string, int64]], error) {
	n := times.Option().Value + 1
	return rdd.Option[rdd.Pair[string, int64]]{Value: rdd.Pair[string, int64]{Key: word, Value: n}, OK: true}, times.Update(n)
}

// stateful has totals of each word, counts of the last three batches, and how many batches a word was in, with checkpoints every
// second batch.
func stateful(ssc *streamingcontext.Context, w *crashtest.World) error {
	words := dstream.FlatMap(crashtest.Input(ssc, w, "lines", lines), strings.Fields)
	counts := dstream.CountByValue(words)
	totals := dstream.UpdateStateByKey(counts, addUp, dstream.TouchedOnly())
	window := dstream.ReduceByKeyAndWindow(counts, add, subtract, 3*time.Second, 0)
	times := dstream.MapWithState(counts, dstream.NewTryStateSpec(seen))
	for _, s := range []interface{ Checkpoint(time.Duration) error }{totals, window, times} {
		if err := s.Checkpoint(2 * time.Second); err != nil {
			return err
		}
	}
	crashtest.Save(dstream.Map(totals, row), w, "totals")
	crashtest.Save(dstream.Map(window, row).Union(dstream.Map(times.DStream, row)), w, "recent")
	return nil
}

// exactlyOnce is the graph of examples/exactlyonce, from an input in place of a folder, to files on the disk of the world.
func exactlyOnce(ssc *streamingcontext.Context, w *crashtest.World) error {
	counts := dstream.CountByValue(dstream.FlatMap(crashtest.Input(ssc, w, "lines", lines), strings.Fields))
	toFiles(dstream.Map(counts, row), w, "counts")
	totals := dstream.UpdateStateByKey(counts, addUp, dstream.TouchedOnly())
	sum := dstream.Map(totals, func(p rdd.Pair[string, int64]) int64 { return p.Value })
	progress := w.Effects("progress")
	dstream.ForeachRDD(sum, func(ctx context.Context, r *rdd.RDD[int64], t dstream.Time) error {
		_, err := rdd.Sum(ctx, r)
		if err != nil {
			return err
		}
		return progress.Do(t, func() error { return nil })
	})
	window := dstream.ReduceByKeyAndWindow(counts, add, subtract, 5*time.Second, 0)
	toFiles(dstream.Map(window.Filter(func(p rdd.Pair[string, int64]) bool { return p.Value > 0 }), row), w, "window")
	times := dstream.MapWithState(counts, dstream.NewTryStateSpec(seen))
	toFiles(dstream.Map(times.DStream, row), w, "seen")
	return nil
}

// toFiles saves rows to files of text on the disk of the world.
func toFiles(s *dstream.DStream[string], w *crashtest.World, name string) {
	fs := w.FS()
	to := files.New("/out", files.Options[string]{Format: files.TextFormat(), FS: fs})
	dstream.SaveTo(s, name, crashtest.Watch(w, name, sink.Sink[string](to), func() (rows []string, err error) {
		for r, err := range files.Read("/out", files.ReadOptions{FS: fs, Output: name}) {
			if err != nil {
				return nil, err
			}
			rows = append(rows, string(r.Line))
		}
		return rows, nil
	}))
}

// received has a total of what a receiver stored.
func received(ssc *streamingcontext.Context, w *crashtest.World) error {
	in := crashtest.Receiver(ssc, w, "numbers", [][]int{{1, 2}, {3}, {4, 5, 6}, nil, {7}, {8}, {9}})
	totals := dstream.UpdateStateByKey(dstream.Map(in, func(n int) rdd.Pair[string, int64] {
		return rdd.Pair[string, int64]{Key: fmt.Sprint("odd ", n%2), Value: int64(n)}
	}), addUp)
	if err := totals.Checkpoint(2 * time.Second); err != nil {
		return err
	}
	crashtest.Save(dstream.Map(totals, row), w, "totals")
	return nil
}

// blobs keeps the count of each batch in a blob of its own.
func blobs(ssc *streamingcontext.Context, w *crashtest.World) error {
	store, err := w.Store()
	if err != nil {
		return err
	}
	effects := w.Effects("counts")
	dstream.ForeachRDD(crashtest.Input(ssc, w, "lines", lines), func(ctx context.Context, r *rdd.RDD[string], t dstream.Time) error {
		n, err := r.Count(ctx)
		if err != nil {
			return err
		}
		return effects.Do(t, func() error {
			return store.Put(ctx, fmt.Sprintf("counts/%d", t), func(to io.Writer) error {
				_, err := fmt.Fprint(to, n)
				return err
			})
		})
	})
	return nil
}
