package local_test

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// A job over a shuffle, before and after the executor that held everything is lost.
func Example() {
	cluster := local.New(local.Options{Executors: 1, Slots: 2})
	s := scheduler.New(cluster, scheduler.Options{})
	defer s.Close()

	g := new(schedulertest.Graph)
	numbers := g.Source("numbers", 2, func(part int) []int64 { return []int64{int64(part), int64(part) + 2} })
	parity := g.Shuffle("parity", numbers, 2)

	for range 2 {
		job, result := schedulertest.Collect(parity)
		if err := s.Run(context.Background(), job); err != nil {
			fmt.Println(err)
		}
		fmt.Println(result.Rows())
		cluster.Add()
		cluster.Kill("local-0")
	}
	// Output:
	// [[0 2] [1 3]]
	// [[0 2] [1 3]]
}

// A shuffle that has no room in memory goes through files.
func ExampleCluster_Files() {
	cluster := local.New(local.Options{Slots: 2, Memory: 64})
	s := scheduler.New(cluster, scheduler.Options{})
	defer s.Close()

	g := new(schedulertest.Graph)
	numbers := g.Source("numbers", 2, func(part int) []int64 { return make([]int64, 100) })
	job, result := schedulertest.Collect(g.Shuffle("zeros", numbers, 1))
	if err := s.Run(context.Background(), job); err != nil {
		fmt.Println(err)
	}
	_, stored := cluster.Memory()
	fmt.Println(len(result.Rows()[0]), "rows,", len(cluster.Files()), "files,", stored, "bytes in memory")
	s.Close()
	fmt.Println(len(cluster.Files()), "files")
	// Output:
	// 200 rows, 4 files, 0 bytes in memory
	// 0 files
}

func ExampleOptions_String() {
	fmt.Println(local.Options{Executors: 3, Slots: 2, Isolate: true})
	// Output: executors 3, slots 2, isolate true
}
