package dstream_test

import (
	"context"
	"fmt"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

func ExampleFolderName() {
	fmt.Println(dstream.FolderName("out", "txt", 7000), dstream.FolderName("", "", 7000))
	// Output: out-7000.txt 7000
}

func ExampleDStream_Cache() {
	play(2, func(g *dstream.Graph) {
		s := numbers(g).Cache() // two outputs read it, one computes it
		line(s)
		line(dstream.Count(s))
	})
	// Output:
	// 1 [1]
	// 1 [1]
	// 2 [2 3]
	// 2 [2]
}

func ExampleDStream_Persist() {
	play(0, func(g *dstream.Graph) {
		s := numbers(g)
		fmt.Println(s.Persist(rdd.MemoryOnly()), s.Info().Level)
		line(s)
	})
	// Output: <nil> MEMORY_ONLY
}

func ExampleDStream_Checkpoint() {
	play(0, func(g *dstream.Graph) {
		total := dstream.UpdateStateByKey(visits(g), func(values []int, old rdd.Option[int]) rdd.Option[int] {
			return rdd.Option[int]{Value: old.Value + len(values), OK: true}
		})
		fmt.Println(total.Checkpoint(5*time.Second), total.Info().Checkpoint)
		line(total)
	})
	// Output: <nil> 5s
}

func ExampleDStream_Union() {
	play(2, func(g *dstream.Graph) {
		s := numbers(g)
		line(s.Union(s))
	})
	// Output:
	// 1 [1 1]
	// 2 [2 3 2 3]
}

func ExampleTime_Floor() {
	fmt.Println(dstream.Time(2770).Floor(400*time.Millisecond, 0), dstream.Time(2770).Floor(400*time.Millisecond, 150))
	// Output: 2400 ms 2550 ms
}

func ExampleTime_Next() {
	fmt.Println(dstream.Time(999).Next(time.Second, 0), dstream.Time(1000).Next(time.Second, 0))
	// Output: 1000 ms 2000 ms
}

func ExampleTime_To() {
	fmt.Println(dstream.Time(500).To(740, 120*time.Millisecond))
	// Output: [500 ms 620 ms 740 ms]
}

func ExampleTime_Until() {
	fmt.Println(dstream.Time(500).Until(740, 120*time.Millisecond))
	// Output: [500 ms 620 ms]
}

func ExampleGraph_KeepPersisted() {
	play(3, func(g *dstream.Graph) {
		g.KeepPersisted(true)
		s := numbers(g).Cache()
		dstream.ForeachRDD(s, func(ctx context.Context, r *rdd.RDD[int], t dstream.Time) error {
			_, err := r.Count(ctx)
			fmt.Println(t, s.Remembered(), err) // the batch before goes with this one; its partitions stay
			return err
		})
	})
	// Output:
	// 1000 ms [1000 ms] <nil>
	// 2000 ms [1000 ms 2000 ms] <nil>
	// 3000 ms [2000 ms 3000 ms] <nil>
}
