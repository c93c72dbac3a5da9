package dstream_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

// play declares a program on a graph with batches of a second and runs the first n of them. A streaming
// context does this for programs.
func play(n int, declare func(g *dstream.Graph)) {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	g, end := exampleGraph(dir)
	defer end()
	declare(g)
	if err := g.Start(0); err != nil {
		fmt.Println(err)
		return
	}
	for k := 1; k <= n; k++ {
		t := dstream.Time(1000 * k)
		jobs, err := g.Generate(t)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, j := range jobs {
			if err := j.Run(ctx); err != nil {
				fmt.Println(err)
			}
		}
		g.ForgetOutputs(t)
		g.Forget(t)
	}
}

// exampleGraph returns a graph with batches of a second and checkpoints in dir, and how to end it.
func exampleGraph(dir string) (*dstream.Graph, func()) {
	s := scheduler.New(local.New(local.Options{}), scheduler.Options{})
	rdds, err := rdd.NewContext(s, rdd.Options{DefaultParallelism: 1, CheckpointDir: dir, DurableCheckpoints: true})
	if err != nil {
		panic(err)
	}
	g, err := dstream.NewGraph(rdds, time.Second)
	if err != nil {
		panic(err)
	}
	return g, func() { _ = s.Close() }
}

// line prints each batch of a stream as a line.
func line[T any](s *dstream.DStream[T]) {
	dstream.ForeachRDD(s, func(ctx context.Context, r *rdd.RDD[T], t dstream.Time) error {
		rows, err := r.Collect(ctx)
		fmt.Println(int64(t)/1000, rows)
		return err
	})
}

// numbers is 1; 2 3; nothing; 4.
func numbers(g *dstream.Graph) *dstream.DStream[int] {
	return dstream.SliceStream(g, [][]int{{1}, {2, 3}, {}, {4}}, 1)
}

// visits is who came in each batch: ada and bo; ada; nobody; cy.
func visits(g *dstream.Graph) *dstream.DStream[rdd.Pair[string, int]] {
	one := func(name string) rdd.Pair[string, int] { return rdd.Pair[string, int]{Key: name, Value: 1} }
	return dstream.SliceStream(g, [][]rdd.Pair[string, int]{{one("ada"), one("bo"), one("ada")}, {one("ada")}, {}, {one("cy")}}, 1)
}

// homes is where people live, the same in every batch.
func homes(g *dstream.Graph) *dstream.DStream[rdd.Pair[string, string]] {
	return dstream.ConstantStream(g, rdd.Parallelize(g.RDDs(), []rdd.Pair[string, string]{{Key: "ada", Value: "Rome"}, {Key: "cy", Value: "Oslo"}}, 1))
}

// An operator of one's own has a name, and errors point at the line that calls the function it is in.
func ExampleOperator() {
	play(2, func(g *dstream.Graph) {
		words := dstream.SliceStream(g, [][]string{{"be", "to", "be"}, {"or"}}, 1)
		distinct := dstream.Operator(words, "distinct", func(r *rdd.RDD[string], _ dstream.Time) (*rdd.RDD[string], error) {
			return rdd.Distinct(r, rdd.NumPartitions(1)), nil
		})
		dstream.ForeachRDD(distinct, func(ctx context.Context, r *rdd.RDD[string], t dstream.Time) error {
			rows, err := r.Collect(ctx)
			fmt.Println(t, rows)
			return err
		})
	})
	// Output:
	// 1000 ms [be to]
	// 2000 ms [or]
}
