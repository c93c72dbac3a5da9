package dstream_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

func ExamplePrint() {
	play(2, func(g *dstream.Graph) {
		dstream.Print(numbers(g), os.Stdout, 1)
	})
	// Output:
	// -------------------------------------------
	// Time: 1000 ms
	// -------------------------------------------
	// 1
	//
	// -------------------------------------------
	// Time: 2000 ms
	// -------------------------------------------
	// 2
	// ...
}

func ExampleForeachRDD() {
	play(2, func(g *dstream.Graph) {
		dstream.ForeachRDD(numbers(g), func(ctx context.Context, r *rdd.RDD[int], t dstream.Time) error {
			n, err := r.Count(ctx)
			fmt.Println(n, "records at", t)
			return err
		})
	})
	// Output:
	// 1 records at 1000 ms
	// 2 records at 2000 ms
}

func ExampleSaveAsTextFiles() {
	fmt.Println(dstream.FolderName("counts", "txt", 3000))
	play(0, func(g *dstream.Graph) { dstream.SaveAsTextFiles(numbers(g), "counts", "txt") })
	// Output:
	// counts-3000.txt
}

func ExampleSlice() {
	var s *dstream.DStream[int]
	play(4, func(g *dstream.Graph) {
		s = numbers(g)
		line(dstream.Count(dstream.Window(s, 4*time.Second, 4*time.Second)))
	})
	rdds, err := dstream.Slice(s, 2000, 4000)
	fmt.Println(len(rdds), err)
	// Output:
	// 4 [4]
	// 3 <nil>
}

func ExampleSliceStream() {
	play(3, func(g *dstream.Graph) {
		line(dstream.SliceStream(g, [][]string{{"a", "b"}, nil, {}}, 1)) // the second batch is absent
	})
	// Output:
	// 1 [a b]
	// 3 []
}

func ExampleConstantStream() {
	play(2, func(g *dstream.Graph) {
		line(dstream.ConstantStream(g, rdd.Parallelize(g.RDDs(), []int{1, 2}, 1)))
	})
	// Output:
	// 1 [1 2]
	// 2 [1 2]
}

func ExampleBuildError() {
	g, err := dstream.NewGraph(nil, time.Second) // nothing will run
	if err != nil {
		fmt.Println(err)
		return
	}
	dstream.Window(numbers(g), 1500*time.Millisecond, 0)
	var b *dstream.BuildError
	if errors.As(g.Start(0), &b) {
		fmt.Println(b.Op, "at", strings.Split(b.Site, ":")[0])
		fmt.Println(b.Err)
	}
	// Output:
	// window at example_output_test.go
	// window of 1500 ms with a slide of 1000 ms: window is not a multiple of the parent's slide
}
