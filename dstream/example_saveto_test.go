package dstream_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/rdd"
)

// Rows are staged by a batch's jobs and shown by CommitOutput; memorySink keeps them in memory.
func ExampleSaveTo() {
	g, end := exampleGraph("")
	defer end()
	words := dstream.SliceStream(g, [][]string{{"to", "be", "or"}, {"not", "to", "be"}}, 2)
	to := &memorySink[string]{}
	dstream.SaveTo(words, "words", to)
	if err := g.Start(0); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	for k := range 2 {
		b := sink.Batch{App: "example", ID: int64(k), Time: int64(1000 * (k + 1)), Epoch: 1, Try: 1}
		jobs, err := g.Generate(dstream.Time(b.Time))
		if err != nil {
			log.Fatal(err)
		}
		for _, j := range jobs {
			b.Output = j.Output
			staged, err := j.Stage(ctx, b)
			if err != nil {
				log.Fatal(err)
			}
			// Here a streaming context writes staged to the driver log, which decides the batch.
			before := to.shown[b.ID]
			err = g.CommitOutput(ctx, b, staged)
			fmt.Println(before, err, to.shown[b.ID])
		}
	}
	last, err := g.LastOf(ctx, "example", "words")
	fmt.Println(g.SinkOutputs(), last.ID, err)
	// Output:
	// [] <nil> [to be or]
	// [] <nil> [not to be]
	// [words] 1 <nil>
}

// A second graph, as another process would declare it, goes on from the files of the first.
func ExampleGraph_Recover() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	declare := func() (*dstream.Graph, func()) {
		g, end := exampleGraph(dir)
		words := dstream.SliceStream(g, [][]string{{"a", "b"}, {"a"}, {"b", "a"}}, 1)
		pairs := dstream.Map(words, func(w string) rdd.Pair[string, int] { return rdd.Pair[string, int]{Key: w, Value: 1} })
		sums := dstream.UpdateStateByKey(pairs, func(values []int, old rdd.Option[int]) rdd.Option[int] {
			return rdd.Option[int]{Value: old.Value + len(values), OK: true}
		})
		if err := sums.Checkpoint(time.Second); err != nil {
			log.Fatal(err)
		}
		dstream.ForeachRDD(sums, func(ctx context.Context, r *rdd.RDD[rdd.Pair[string, int]], t dstream.Time) error {
			rows, err := rdd.SortBy(ctx, r, func(p rdd.Pair[string, int]) string { return p.Key })
			if err != nil {
				return err
			}
			sorted, err := rows.Collect(ctx)
			fmt.Println(t, sorted)
			return err
		})
		return g, end
	}
	run := func(g *dstream.Graph, t dstream.Time) {
		jobs, err := g.Generate(t)
		if err != nil {
			log.Fatal(err)
		}
		for _, j := range jobs {
			if err := j.Run(context.Background()); err != nil {
				log.Fatal(err)
			}
		}
		g.Forget(t)
	}
	first, stop := declare()
	if err := first.Start(0); err != nil {
		log.Fatal(err)
	}
	run(first, 1000)
	run(first, 2000)
	files, nodes := first.Checkpoint(), first.Nodes()
	stop()

	second, stop := declare()
	defer stop()
	if err := dstream.DiffNodes(nodes, second.Nodes()); err != nil {
		log.Fatal(err)
	}
	if err := second.Recover(dstream.Recovery{Zero: 0, Last: 2000, Whole: true, Streams: files}); err != nil {
		log.Fatal(err)
	}
	run(second, 3000)
	// Output:
	// 1000 ms [(a,1) (b,1)]
	// 2000 ms [(a,2) (b,1)]
	// 3000 ms [(a,3) (b,2)]
}

func ExampleDiffNodes() {
	declare := func(window time.Duration) []dstream.NodeInfo {
		g, end := exampleGraph("")
		defer end()
		dstream.Window(numbers(g), window, 0)
		return g.Nodes()
	}
	was := declare(2 * time.Second)
	fmt.Println(was[1])
	fmt.Println(dstream.DiffNodes(was, declare(2*time.Second)))
	fmt.Println(dstream.DiffNodes(was, declare(3*time.Second)))
	// Output:
	// window[2]: slide 1000 ms, of 1, window 2000 ms
	// <nil>
	// the program has changed at node 2: it was window[2]: slide 1000 ms, of 1, window 2000 ms, it is window[2]: slide 1000 ms, of 1, window 3000 ms
}

// An output is added behind a window: the later build goes on. A longer window needs what is forgotten.
func ExampleNodeChanges() {
	declare := func(window time.Duration, outputs int) []dstream.NodeInfo {
		g, end := exampleGraph("")
		defer end()
		recent := dstream.Window(numbers(g), window, 0)
		for range outputs {
			dstream.ForeachRDD(recent, func(context.Context, *rdd.RDD[int], dstream.Time) error { return nil })
		}
		return g.Nodes()
	}
	was := declare(2*time.Second, 1)
	fmt.Println(dstream.NodeChanges(was, declare(2*time.Second, 2)))
	_, err := dstream.NodeChanges(was, declare(3*time.Second, 1))
	fmt.Println(errors.Is(err, dstream.ErrChanged))
	// Output:
	// [node 4 was nothing, is foreachRDD[4]: slide 1000 ms, of 2] <nil>
	// true
}

func ExampleGraph_PromiseOf() {
	g, end := exampleGraph("")
	defer end()
	rows := dstream.SliceStream(g, [][]string{{"a"}}, 1)
	dstream.SaveTo(rows, "rows", &memorySink[string]{})
	fmt.Println(g.PromiseOf("rows"))
	// Output:
	// exactly once
}
