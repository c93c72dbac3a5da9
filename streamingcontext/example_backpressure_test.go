package streamingcontext_test

import (
	"context"
	"fmt"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/rate"
	"github.com/leat-io/leat/streamingcontext"
)

func ExampleBackpressure() {
	b := streamingcontext.Backpressure{
		Enabled:     true,
		InitialRate: 1000,
		PID:         rate.PIDOptions{Proportional: 1, Integral: 0.2, MinRate: 10},
	}
	fmt.Println(b.Validate(), b)
	fmt.Println(streamingcontext.Backpressure{Enabled: true, Estimator: "guess"}.Validate())
	// Output:
	// <nil> on, pid: proportional 1, integral 0.2, derived 0, min rate 10/s, initial rate 1000/s
	// back-pressure: rate: unknown estimator "guess", there is only "pid"
}

// An estimator of the program's own: half of the speed of the last batch.
type cautious struct{}

func (cautious) Estimate(b rate.Batch) (perSecond float64, ok bool) {
	if b.Records == 0 || b.Processing == 0 {
		return 0, false
	}
	return float64(b.Records) / b.Processing.Seconds() / 2, true
}

func ExampleContext_Receivers() {
	clock := &streamingcontext.ManualClock{}
	ssc := streamingcontext.New(streamingcontext.Options{
		Interval: time.Second,
		Clock:    clock,
		Backpressure: streamingcontext.Backpressure{
			Enabled: true, InitialRate: 100_000,
			NewEstimator: func(int, time.Duration) (rate.Estimator, error) { return cautious{}, nil },
		},
	})
	stored := make(chan error)
	in := streamingcontext.Receive(ssc, receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
		stored <- sink.StoreBlock(ctx, make([]int, 800))
		<-ctx.Done()
		return ctx.Err()
	}))
	dstream.ForeachRDD(in, func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
		clock.Advance(400) // 800 records took 400 ms
		_, err := r.Count(ctx)
		return err
	})
	ctx := context.Background()
	if err := ssc.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(<-stored)
	show := func() {
		for _, r := range ssc.Receivers() {
			fmt.Printf("%s on %s: %d/s\n", r.Name, r.Executor, r.Rate)
		}
	}
	show()
	clock.Set(1000)
	fmt.Println(ssc.Settled(ctx, 1000))
	show()
	fmt.Println(ssc.Stop(ctx, streamingcontext.StopOptions{}))
	// Output:
	// <nil>
	// Receiver stream [0] on local-0: 100000/s
	// <nil>
	// Receiver stream [0] on local-0: 1000/s
	// <nil>
}
