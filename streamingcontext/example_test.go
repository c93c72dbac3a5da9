package streamingcontext_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/queue"
	"github.com/leat-io/leat/streamingcontext"
)

// run starts ssc, makes n batches of a second on a clock that stands still, and stops it.
func run(ssc *streamingcontext.Context, clock *streamingcontext.ManualClock, n int64) {
	ctx := context.Background()
	if err := ssc.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	clock.Advance(n * 1000)
	if err := ssc.Settled(ctx, dstream.Time(n*1000)); err != nil {
		fmt.Println(err)
	}
	if err := ssc.Stop(ctx, streamingcontext.StopOptions{}); err != nil {
		fmt.Println(err)
	}
}

// show prints the records of every batch.
func show[T any](s *dstream.DStream[T]) {
	dstream.ForeachRDD(s, func(ctx context.Context, r *rdd.RDD[T], t dstream.Time) error {
		rows, err := r.Collect(ctx)
		fmt.Println(t, rows)
		return err
	})
}

func Example() {
	clock := &streamingcontext.ManualClock{}
	ssc := streamingcontext.New(streamingcontext.Options{App: "counts", Interval: time.Second, Clock: clock})
	lines := streamingcontext.Slices(ssc, [][]string{{"to be", "or not"}, {"to be"}}, 2)
	words := dstream.FlatMap(lines, strings.Fields)
	pairs := dstream.Map(words, func(w string) rdd.Pair[string, int] { return rdd.Pair[string, int]{Key: w, Value: 1} })
	counts := dstream.ReduceByKey(pairs, func(a, b int) int { return a + b })
	dstream.ForeachRDD(counts, func(ctx context.Context, r *rdd.RDD[rdd.Pair[string, int]], t dstream.Time) error {
		rows, err := r.Collect(ctx)
		slices.SortFunc(rows, func(a, b rdd.Pair[string, int]) int { return cmp.Compare(a.Key, b.Key) })
		fmt.Println(t, rows)
		return err
	})
	run(ssc, clock, 2)
	// Output:
	// 1000 ms [(be,1) (not,1) (or,1) (to,1)]
	// 2000 ms [(be,1) (to,1)]
}

func ExampleContext_Run() {
	ssc := streamingcontext.New(streamingcontext.Options{Interval: 10 * time.Millisecond})
	ctx, cancel := context.WithCancel(context.Background())
	first := true
	dstream.ForeachRDD(streamingcontext.Slices(ssc, [][]int{{1, 2, 3}}, 1), func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
		n, err := r.Count(ctx)
		if first {
			fmt.Println("records:", n)
			first = false
			cancel() // Run stops gracefully
		}
		return err
	})
	err := ssc.Run(ctx)
	fmt.Println("run:", err, ssc.State())
	// Output:
	// records: 3
	// run: <nil> STOPPED
}

func ExampleContext_Await() {
	clock := &streamingcontext.ManualClock{}
	ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Clock: clock})
	dstream.ForeachRDD(streamingcontext.Slices[int](ssc, nil, 1), func(context.Context, *rdd.RDD[int], dstream.Time) error {
		return os.ErrPermission
	})
	ctx := context.Background()
	if err := ssc.Start(ctx); err != nil {
		fmt.Println(err)
	}
	clock.Advance(1000)
	err := ssc.Await(ctx)
	fmt.Println(ssc.State(), strings.Contains(err.Error(), "example_test.go:"), err != nil)
	fmt.Println("pending:", ssc.Pending())
	_ = ssc.Stop(ctx, streamingcontext.StopOptions{})
	// Output:
	// ACTIVE true true
	// pending: [1000 ms]
}

func ExampleReceive() {
	clock := &streamingcontext.ManualClock{}
	ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Clock: clock})
	stored := make(chan bool)
	in := streamingcontext.Receive(ssc, receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
		if err := sink.StoreBlock(ctx, []int{1, 2, 3}); err != nil {
			return err
		}
		close(stored)
		<-ctx.Done()
		return ctx.Err()
	}))
	show(in)
	ctx := context.Background()
	if err := ssc.Start(ctx); err != nil {
		fmt.Println(err)
	}
	<-stored
	clock.Advance(2000)
	_ = ssc.Settled(ctx, 2000)
	_ = ssc.Stop(ctx, streamingcontext.StopOptions{})
	// Output:
	// 1000 ms [1 2 3]
	// 2000 ms []
}

func ExampleContext_TextFiles() {
	dir, err := os.MkdirTemp("", "logs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	clock := &streamingcontext.ManualClock{}
	ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Clock: clock})
	show(ssc.TextFiles(dir))
	file := filepath.Join(dir, "a.log")
	_ = os.WriteFile(file, []byte("one\ntwo\n"), 0o644)
	_ = os.Chtimes(file, time.UnixMilli(1500), time.UnixMilli(1500)) // it appears between the batches
	run(ssc, clock, 2)
	// Output:
	// 1000 ms []
	// 2000 ms [one two]
}

func ExampleQueueStream() {
	clock := &streamingcontext.ManualClock{}
	ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Clock: clock})
	var q queue.Queue[*rdd.RDD[int]]
	for i := range 2 {
		q.Push(rdd.Parallelize(ssc.RDDs(), []int{i, i + 10}, 1))
	}
	show(streamingcontext.QueueStream(ssc, &q))
	run(ssc, clock, 3)
	// Output:
	// 1000 ms [0 10]
	// 2000 ms [1 11]
	// 3000 ms []
}

func ExampleAllAtOnce() {
	clock := &streamingcontext.ManualClock{}
	ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Clock: clock})
	var q queue.Queue[*rdd.RDD[int]]
	for i := range 2 {
		q.Push(rdd.Parallelize(ssc.RDDs(), []int{i, i + 10}, 1))
	}
	none := rdd.Parallelize(ssc.RDDs(), []int{-1}, 1)
	show(streamingcontext.QueueStream(ssc, &q, streamingcontext.AllAtOnce(), streamingcontext.OtherwiseRDD(none)))
	run(ssc, clock, 2)
	// Output:
	// 1000 ms [0 10 1 11]
	// 2000 ms [-1]
}

func ExampleConstant() {
	clock := &streamingcontext.ManualClock{}
	ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Clock: clock})
	show(streamingcontext.Constant(ssc, rdd.Parallelize(ssc.RDDs(), []string{"same"}, 1)))
	run(ssc, clock, 2)
	// Output:
	// 1000 ms [same]
	// 2000 ms [same]
}

func ExampleListener() {
	clock := &streamingcontext.ManualClock{}
	ssc := streamingcontext.New(streamingcontext.Options{
		Interval: time.Second, Clock: clock,
		Listeners: []streamingcontext.Listener{{
			BatchCompleted: func(b streamingcontext.BatchInfo) {
				delay, _ := b.TotalDelay()
				fmt.Println(b.Time, b.Records(), "records, delay", delay)
			},
		}},
	})
	dstream.ForeachRDD(streamingcontext.Slices(ssc, [][]int{{1, 2}}, 1), func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
		_, err := r.Count(ctx)
		return err
	})
	run(ssc, clock, 2)
	// Output:
	// 1000 ms 2 records, delay 0s
	// 2000 ms 0 records, delay 0s
}

func ExampleNewEngine() {
	engine, err := streamingcontext.NewEngine(streamingcontext.EngineOptions{Executors: 2, Cores: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	n, err := rdd.Range(engine.RDDs(), 0, 1000, 1, 4).Count(context.Background())
	fmt.Println(n, err)
	// Output:
	// 1000 <nil>
}
