package schedulertest_test

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// The first attempt of every partition loses its executor.
func ExampleKillSwitch() {
	k := &schedulertest.KillSwitch{
		Backend: local.New(local.Options{Executors: 2, Slots: 1}),
		Decide: func(task *scheduler.Task) schedulertest.Fate {
			if task.Attempt.Number == 0 {
				return schedulertest.Kill
			}
			return schedulertest.Run
		},
	}
	s := scheduler.New(k, scheduler.Options{})
	defer s.Close()

	numbers := new(schedulertest.Graph).Source("numbers", 3, func(part int) []int64 { return []int64{int64(part)} })
	job, result := schedulertest.Collect(numbers)
	fmt.Println(s.Run(context.Background(), job), result.Rows(), k.Seen(schedulertest.Kill))
	// Output: <nil> [[0] [1] [2]] 3
}
