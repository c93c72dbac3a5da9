package streamingcontext_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/blobstore/blobtest"
	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler/driverlog/objectlog"
	"github.com/leat-io/leat/streamingcontext"
)

// wordsUntil runs a program whose driver log and checkpoints are in a store, until a time, and prints what there is then.
func wordsUntil(store blobstore.Store, ms int64) error {
	ctx, clock := context.Background(), new(streamingcontext.ManualClock)
	decisions, err := objectlog.Open(ctx, store, objectlog.Options{Node: "words"}) // *objectlog.LockedError names another owner
	if err != nil {
		return err
	}
	defer decisions.Close()
	opts := streamingcontext.Options{App: "words", Interval: time.Second, Clock: clock, Log: decisions, Store: store}
	ssc, err := streamingcontext.GetOrCreate("", opts, func(ssc *streamingcontext.Context) error {
		words := dstream.SliceStream(ssc.Graph(), [][]string{{"a"}, {"b", "a"}, {"c"}, {"a"}}, 1)
		totals := dstream.UpdateStateByKey(dstream.CountByValue(words), total)
		dstream.ForeachRDD(totals, func(ctx context.Context, r *rdd.RDD[rdd.Pair[string, int64]], _ dstream.Time) error {
			_, err := r.Count(ctx)
			return err
		})
		return totals.Checkpoint(time.Second)
	})
	if err != nil {
		return err
	}
	if err := ssc.Start(ctx); err != nil {
		return err
	}
	clock.Set(ms)
	err = ssc.Settled(ctx, dstream.Time(ms))
	if err = errors.Join(err, ssc.Stop(ctx, streamingcontext.StopOptions{})); err != nil {
		return err
	}
	state, err := decisions.State(ctx)
	if err != nil {
		return err
	}
	report, err := streamingcontext.VerifyStored(ctx, store, state)
	fmt.Println("batches:", state.App("words").Next, "checkpoints:", report.Checkpoints, "folders of state:", report.Folders > 0)
	return err
}

func ExampleVerifyStored() {
	store := blobtest.NewMemory() // or one of package s3store
	for _, ms := range []int64{2000, 4000} {
		if err := wordsUntil(store, ms); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// batches: 2 checkpoints: 1 folders of state: true
	// batches: 4 checkpoints: 1 folders of state: true
}

func ExampleStoredCheckpoints() {
	ctx, store := context.Background(), blobtest.NewMemory()
	if err := wordsUntil(store, 3000); err != nil {
		log.Fatal(err)
	}
	decisions, err := objectlog.Verify(ctx, store, "") // without owning it
	if err != nil {
		log.Fatal(err)
	}
	all, err := streamingcontext.StoredCheckpoints(ctx, store, decisions.State)
	for _, c := range all {
		fmt.Println(c.File, "of", c.App, "at", c.Time, "counts:", c.Counts)
	}
	fmt.Println(err)
	// Output:
	// batches: 3 checkpoints: 1 folders of state: true
	// checkpoints/checkpoint-00000000000000000002-1 of words at 3000 ms counts: true
	// <nil>
}
