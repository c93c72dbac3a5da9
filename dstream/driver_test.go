package dstream_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

// A driver does for a graph what a streaming context does, one batch at a time.
type driver struct {
	t       testing.TB
	graph   *dstream.Graph
	rdds    *rdd.Context
	cluster *local.Cluster
	now     dstream.Time // the last batch
	keep    bool         // forget nothing
}

// A setup is what drivers differ in.
type setup struct {
	parallelism int
	isolate     bool
	executors   int
	interval    time.Duration
	noDir       bool   // no checkpoint directory
	dir         string // that of an earlier process, else a new one
	durable     bool   // checkpoints have manifests
	listeners   []scheduler.Listener
}

func newDriver(t testing.TB, s setup) *driver {
	t.Helper()
	if s.interval == 0 {
		s.interval = time.Second
	}
	cluster := local.New(local.Options{Executors: s.executors, Slots: 2, Isolate: s.isolate,
		ErrorCodecs: []scheduler.ErrorCodec{scheduler.ErrorCodec(rdd.NewErrorCodec())}})
	sched := scheduler.New(cluster, scheduler.Options{Listeners: s.listeners})
	t.Cleanup(func() { sched.Close() })
	opts := rdd.Options{DefaultParallelism: s.parallelism, CheckpointAllMarked: true, CheckpointDir: s.dir, DurableCheckpoints: s.durable}
	if !s.noDir && s.dir == "" {
		opts.CheckpointDir = t.TempDir()
	}
	c, err := rdd.NewContext(sched, opts)
	if err != nil {
		t.Fatal(err)
	}
	g, err := dstream.NewGraph(c, s.interval)
	if err != nil {
		t.Fatal(err)
	}
	return &driver{t: t, graph: g, rdds: c, cluster: cluster}
}

// eachSetup runs f for 1, 2 and 7 partitions, on executors that share memory and on isolated ones.
func eachSetup(t *testing.T, f func(t *testing.T, d *driver)) {
	t.Helper()
	for _, parts := range []int{1, 2, 7} {
		for _, isolate := range []bool{false, true} {
			t.Run(fmt.Sprintf("parts=%d/isolate=%t", parts, isolate), func(t *testing.T) {
				f(t, newDriver(t, setup{parallelism: parts, isolate: isolate}))
			})
		}
	}
}

// start starts the graph at time zero.
func (d *driver) start() {
	d.t.Helper()
	if err := d.graph.Start(0); err != nil {
		d.t.Fatal(err)
	}
}

// step runs the next batch.
func (d *driver) step() error {
	d.now += dstream.Time(d.graph.Interval() / time.Millisecond)
	jobs, err := d.graph.Generate(d.now)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		if err := j.Run(d.t.Context()); err != nil {
			return err
		}
	}
	if !d.keep {
		d.graph.ForgetOutputs(d.now)
		d.graph.Forget(d.now)
	}
	return nil
}

// run starts the graph and runs n batches.
func (d *driver) run(n int) {
	d.t.Helper()
	d.start()
	d.steps(n)
}

func (d *driver) steps(n int) {
	d.t.Helper()
	for range n {
		if err := d.step(); err != nil {
			d.t.Fatalf("batch %s: %v", d.now, err)
		}
	}
}

// input declares an input of two partitions.
func input[T any](d *driver, batches ...[]T) *dstream.DStream[T] {
	return dstream.SliceStream(d.graph, batches, 2)
}

// results are the records of a stream by batch.
type results[T any] struct {
	rows  map[dstream.Time][]T
	parts map[dstream.Time][][]T
}

// collect declares an output that collects a stream.
func collect[T any](s *dstream.DStream[T]) *results[T] {
	r := &results[T]{rows: map[dstream.Time][]T{}, parts: map[dstream.Time][][]T{}}
	dstream.ForeachRDD(s, func(ctx context.Context, batch *rdd.RDD[T], t dstream.Time) error {
		parts, err := batch.CollectPartitions(ctx)
		if err != nil {
			return err
		}
		r.parts[t] = parts
		r.rows[t] = slices.Concat(parts...)
		return nil
	})
	return r
}

// text is the batches 1 to n: the records of each sorted, "-" where there are none, "none" where there
// was no job.
func (r *results[T]) text(n int) string {
	var batches []string
	for k := 1; k <= n; k++ {
		rows, ok := r.rows[sec(k)]
		batches = append(batches, textOf(rows, ok))
	}
	return strings.Join(batches, "; ")
}

func textOf[T any](rows []T, ok bool) string {
	switch {
	case !ok:
		return "none"
	case len(rows) == 0:
		return "-"
	}
	words := make([]string, len(rows))
	for i, x := range rows {
		words[i] = show(x)
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// show prints a record as the cases do: p:1, p:{1,2}, p:(1,∅).
func show(x any) string {
	switch x := x.(type) {
	case rdd.Pair[string, int]:
		return x.Key + ":" + fmt.Sprint(x.Value)
	case rdd.Pair[string, int64]:
		return x.Key + ":" + fmt.Sprint(x.Value)
	case rdd.Pair[string, []int]:
		return x.Key + ":" + set(x.Value)
	case rdd.Pair[string, rdd.CoGrouped[int, string]]:
		return x.Key + ":(" + set(x.Value.Left) + "," + set(x.Value.Right) + ")"
	case rdd.Pair[string, rdd.Joined[int, string]]:
		return x.Key + ":(" + fmt.Sprint(x.Value.Left) + "," + x.Value.Right + ")"
	case rdd.Pair[string, rdd.Joined[int, rdd.Option[string]]]:
		return x.Key + ":(" + fmt.Sprint(x.Value.Left) + "," + option(x.Value.Right) + ")"
	case rdd.Pair[string, rdd.Joined[rdd.Option[int], string]]:
		return x.Key + ":(" + option(x.Value.Left) + "," + x.Value.Right + ")"
	case rdd.Pair[string, rdd.Joined[rdd.Option[int], rdd.Option[string]]]:
		return x.Key + ":(" + option(x.Value.Left) + "," + option(x.Value.Right) + ")"
	}
	return fmt.Sprint(x)
}

func set[T any](values []T) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
	}
	slices.Sort(words)
	return "{" + strings.Join(words, ",") + "}"
}

func option[T any](o rdd.Option[T]) string {
	if !o.OK {
		return "∅"
	}
	return fmt.Sprint(o.Value)
}

// sec is batch k of a graph with an interval of a second.
func sec(k int) dstream.Time { return dstream.Time(1000 * k) }

// letters is one pair (letter, 1) for each letter.
func letters(word string) []rdd.Pair[string, int] {
	pairs := []rdd.Pair[string, int]{}
	for _, r := range word {
		pairs = append(pairs, rdd.Pair[string, int]{Key: string(r), Value: 1})
	}
	return pairs
}

// words is a batch of letters for each word; nil where it is "none".
func words(batches ...string) [][]rdd.Pair[string, int] {
	var out [][]rdd.Pair[string, int]
	for _, b := range batches {
		switch b {
		case "none":
			out = append(out, nil)
		case "-":
			out = append(out, letters(""))
		default:
			out = append(out, letters(b))
		}
	}
	return out
}

// pairs is pairs written as "p:1 p:2"; "-" is no pair.
func pairs(text string) []rdd.Pair[string, int] {
	out := []rdd.Pair[string, int]{}
	for _, w := range strings.Fields(text) {
		var v int
		if k, rest, ok := strings.Cut(w, ":"); ok {
			fmt.Sscan(rest, &v)
			out = append(out, rdd.Pair[string, int]{Key: k, Value: v})
		}
	}
	return out
}

func add(a, b int) int      { return a + b }
func subtract(a, b int) int { return a - b }

func equal(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
