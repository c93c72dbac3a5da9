package streamingcontext_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

// A sink that fails now and then gets three more chances; a batch that it still refuses is set aside, and the stream
// goes on.
func ExampleFailurePolicy() {
	clock := &streamingcontext.ManualClock{}
	ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Clock: clock,
		OnFailure: streamingcontext.FailurePolicy{Retries: 3, Then: streamingcontext.SetAside}})
	words := streamingcontext.Slices(ssc, [][]string{{"a"}, {"poison"}, {"b"}}, 1)
	dstream.ForeachRDD(words, func(ctx context.Context, r *rdd.RDD[string], t dstream.Time) error {
		rows, err := r.Collect(ctx)
		if err == nil && strings.Contains(fmt.Sprint(rows), "poison") {
			err = errors.New("the sink refuses")
		}
		fmt.Println(t, rows, err)
		return err
	})
	run(ssc, clock, 3)
	for _, b := range ssc.SetAside() {
		fmt.Println("set aside:", b.Time, b.Outputs[0].Err)
	}
	// Output:
	// 1000 ms [a] <nil>
	// 2000 ms [poison] the sink refuses
	// 2000 ms [poison] the sink refuses
	// 2000 ms [poison] the sink refuses
	// 2000 ms [poison] the sink refuses
	// 3000 ms [b] <nil>
	// set aside: 2000 ms the sink refuses
}

func ExampleOverloadInfo() {
	fmt.Println(streamingcontext.OverloadInfo{
		Phase: streamingcontext.OverloadBegun, Batch: 12_000, SchedulingDelay: 1500 * time.Millisecond, Waiting: 2, Interval: time.Second,
		Completed: 11_000, ProcessingTime: 1300 * time.Millisecond,
		Stage: streamingcontext.StageTime{Op: "groupByKey", Site: "main.go:31", Time: 1170 * time.Millisecond, Share: 0.9},
	})
	// Output:
	// overload begun: batch 12000 ms has a scheduling delay of 1.5s, 2 wait; batch 11000 ms took 1.3s of an interval of 1s, 90 % of it groupByKey at main.go:31
}

func ExampleEngine_ActiveOrCreate() {
	engine, err := streamingcontext.NewEngine(streamingcontext.EngineOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	ssc, err := engine.ActiveOrCreate(func() (*streamingcontext.Context, error) {
		return streamingcontext.New(streamingcontext.Options{Interval: time.Second, Engine: engine}), nil
	})
	fmt.Println(ssc.State(), err)
	// Output:
	// INITIALIZED <nil>
}
