package streamingcontext_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/leat-io/leat/blobstore/blobtest"
	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler/driverlog/memlog"
	"github.com/leat-io/leat/streamingcontext"
)

// Two drivers count words. When the first no longer leads, the second goes on with the batch that was under way.
func ExampleDrive() {
	group, err := memlog.NewGroup(memlog.GroupOptions{Nodes: []string{"driver-1", "driver-2"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	store := blobtest.NewMemory()
	counted, enough, third := make(chan string), make(chan struct{}), make(chan struct{})
	atThird := sync.OnceFunc(func() { close(third) })
	setup := func(ssc *streamingcontext.Context) error {
		counts := dstream.UpdateStateByKey(dstream.CountByValue(each(ssc, "word")), total)
		dstream.ForeachRDD(counts, func(ctx context.Context, r *rdd.RDD[rdd.Pair[string, int64]], _ dstream.Time) error {
			rows, err := r.Collect(ctx)
			if err != nil {
				return err
			}
			if rows[0].Value == 3 {
				atThird()
			}
			select {
			case counted <- fmt.Sprint(rows):
			case <-enough:
			case <-ctx.Done():
			}
			return ctx.Err()
		})
		return counts.Checkpoint(20 * time.Millisecond)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	stood, ended := make(chan struct{}), make(chan error)
	for _, name := range []string{"driver-1", "driver-2"} {
		opts := streamingcontext.Options{App: "counts", Interval: 20 * time.Millisecond, Cluster: group.Node(name), Store: store, StopTimeout: -1}
		if name == "driver-1" {
			opts.DriverListener.StoodDown = func(_ uint64, reason error) { close(stood) }
		}
		go func() { ended <- streamingcontext.Drive(ctx, "", opts, setup) }()
	}
	fmt.Println(<-counted, <-counted)
	<-third // which is under way
	group.Elect("driver-2")
	<-stood
	fmt.Println(<-counted, <-counted)
	close(enough)
	stop()
	fmt.Println(<-ended, <-ended)
	// Output:
	// [(word,1)] [(word,2)]
	// [(word,3)] [(word,4)]
	// <nil> <nil>
}
