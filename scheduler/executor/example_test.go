package executor_test

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/executor"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// A map task keeps its buckets; a result task reads them.
func ExampleExecutor_Run() {
	g := new(schedulertest.Graph)
	numbers := g.Source("numbers", 1, func(int) []int64 { return []int64{1, 2, 3, 4} })
	parity := g.Shuffle("parity", numbers, 2)
	shuffle := parity.ShuffleOf()

	e := executor.New(executor.Options{ID: "a"})
	wrote := e.Run(context.Background(), &scheduler.Task{ID: 1, Shuffle: shuffle})
	job, _ := schedulertest.Collect(parity)
	read := e.Run(context.Background(), &scheduler.Task{ID: 2, Job: &job, Attempt: lineage.Attempt{Partition: 1},
		Inputs: []scheduler.Input{{Shuffle: shuffle.ID, Maps: []scheduler.MapOutput{{Executor: "a", MapStatus: wrote.Status}}}}})
	fmt.Println(read.Result, read.Err)
	// Output: [1 3] <nil>
}
