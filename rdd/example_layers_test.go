package rdd_test

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

// measuring is a scheduler that says every bucket has 100 bytes, so that the examples print the same whatever
// encodings take.
type measuring struct{ *scheduler.Scheduler }

func (m measuring) Run(ctx context.Context, job lineage.Job) error {
	if job.Map == nil {
		return m.Scheduler.Run(ctx, job)
	}
	maps, err := job.Final.NumPartitions()
	if err != nil {
		return err
	}
	sizes := make([][]int64, maps)
	for i := range sizes {
		for range job.Map.NumReducers {
			sizes[i] = append(sizes[i], 100)
		}
	}
	job.Sizes(sizes)
	return nil
}

// measured returns a context over a scheduler that measures.
func measured() (*rdd.Context, func()) {
	sched := scheduler.New(local.New(local.Options{}), scheduler.Options{})
	c, err := rdd.NewContext(measuring{sched}, rdd.Options{})
	if err != nil {
		panic(err)
	}
	return c, func() { _ = sched.Close() }
}

func ExampleMapOutputSizes() {
	c, stop := measured()
	defer stop()
	placed := rdd.Parallelize(c, []int{1, 2, 3}, 2).Repartition(3)
	fmt.Println(rdd.MapOutputSizes(context.Background(), placed, 0))
	// Output: [[100 100 100] [100 100 100]] <nil>
}

func ExampleCoalesceShuffled() {
	c, stop := measured()
	defer stop()
	placed := rdd.Parallelize(c, []int{1, 2, 3, 4}, 2).Repartition(4) // of 200 bytes each
	packed, err := rdd.CoalesceShuffled(context.Background(), placed, 500)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(packed.NumPartitions())
	fmt.Println(packed.Count(context.Background()))
	// Output:
	// 2 <nil>
	// 4 <nil>
}

func ExampleMemoryAndDisk() {
	fmt.Println(rdd.MemoryAndDisk())
	// Output: MEMORY_AND_DISK
}

func ExampleMemoryAndDiskSer() {
	fmt.Println(rdd.MemoryAndDiskSer())
	// Output: MEMORY_AND_DISK_SER
}

func ExampleDiskOnly() {
	fmt.Println(rdd.DiskOnly())
	// Output: DISK_ONLY
}

func ExampleReplicated() {
	fmt.Println(rdd.Replicated(rdd.MemoryOnly(), 2))
	// Output: MEMORY_ONLY_2
}
