package progress_test

import (
	"context"
	"fmt"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/progress"
)

// run makes n batches of two numbers, looked at by a store.
func run(n int) *progress.Store {
	ctx := context.Background()
	clock := &streamingcontext.ManualClock{}
	ssc := streamingcontext.New(streamingcontext.Options{App: "sums", Interval: time.Second, Clock: clock})
	store := progress.New(progress.Options{})
	detach := store.Attach(ssc)
	defer detach()
	in := streamingcontext.Slices(ssc, [][]int{{1, 2}, {3, 4}}, 1)
	dstream.ForeachRDD(in, func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
		_, err := r.Count(ctx)
		return err
	})
	err := ssc.Start(ctx)
	if err == nil {
		clock.Advance(int64(n) * 1000)
		err = ssc.Settled(ctx, dstream.Time(n*1000))
	}
	if err != nil {
		fmt.Println(err)
	}
	if err := ssc.Stop(ctx, streamingcontext.StopOptions{}); err != nil {
		fmt.Println(err)
	}
	return store
}

func Example() {
	snap := run(2).Snapshot()
	fmt.Println(snap.App, snap.Interval, snap.CompletedBatches, snap.ProcessedRecords)
	for _, b := range snap.Completed {
		fmt.Println(b.Time, b.Status, b.Records(), "records")
	}
	// Output:
	// sums 1s 2 4
	// 2000 ms COMPLETED 2 records
	// 1000 ms COMPLETED 2 records
}

func ExampleOptions_String() {
	fmt.Println(progress.Options{App: "counts", Interval: time.Second})
	// Output: app "counts", interval 1s, operations 0, retained batches 1000, retained jobs 1000
}

func ExampleStore_Jobs() {
	for _, job := range run(1).Jobs(1000, 0) {
		fmt.Println("job", job.ID, job.Name, "error", job.Err)
		for _, stage := range job.Stages {
			fmt.Println("stage", stage.Stage, stage.Op, stage.Succeeded, "of", stage.Tasks)
		}
	}
	// Output:
	// job 0 count error <nil>
	// stage 0 parallelize 1 of 1
}
