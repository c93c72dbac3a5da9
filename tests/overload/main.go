package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/streamingcontext"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "overload:", err)
		os.Exit(1)
	}
}

// errBroken says that the table has told which bound is broken.
var errBroken = errors.New("a bound is broken")

// options are the flags, and what is measured for them.
type options struct {
	factor       float64
	load         time.Duration
	interval     time.Duration
	backpressure bool
	initial      int64
	plant        *plant
	capacity     float64 // records per second
	pending      int64   // Options.MaxPendingRecords
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.capacity, err = calibrate(ctx, o); err != nil {
		return err
	}
	o.pending = int64(5 * o.capacity * o.interval.Seconds()) // five intervals' worth
	fmt.Fprintf(out, "capacity %.0f records/s, load %.0f records/s for %v, at most %d pending, back-pressure %t\n",
		o.capacity, o.factor*o.capacity, o.load, o.pending, o.backpressure)
	m, err := measure(ctx, o, out)
	if err != nil {
		return err
	}
	return m.check(o, out)
}

func parse(args []string) (options, error) {
	o := options{plant: &plant{}}
	fs := flag.NewFlagSet("overload", flag.ContinueOnError)
	fs.Float64Var(&o.factor, "factor", 5, "the load, in `times` of the capacity")
	fs.DurationVar(&o.load, "for", time.Minute, "how long the load lasts")
	fs.DurationVar(&o.interval, "interval", time.Second, "batch interval")
	fs.BoolVar(&o.backpressure, "backpressure", true, "let the rate follow the batches")
	fs.Int64Var(&o.initial, "initial", 1000, "rate until the first estimate, with back-pressure; 0 for none")
	fs.DurationVar(&o.plant.wait, "wait", 50*time.Microsecond, "how long the job waits for each record")
	fs.IntVar(&o.plant.work, "work", 0, "how much arithmetic the job does with each record, in `steps` of a nanosecond or so")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if o.factor <= 0 || o.load < 0 || o.interval < 10*time.Millisecond || o.plant.work < 0 || o.plant.wait < 0 || o.plant.work == 0 && o.plant.wait == 0 || o.initial < 0 {
		return o, errors.New("a flag is too small")
	}
	if !o.backpressure {
		o.initial = 0
	}
	return o, nil
}

// held is how many records the receiver and the block log may hold together.
func (o options) held() int64 {
	block := min(o.pending, receivers.DefaultMaxBlockRecords)
	return o.pending + (receivers.DefaultBlockQueue+3)*block
}

// settles is how long after the start a stream has settled. Records come no faster than the load, so less may be held
// than is allowed.
func (o options) settles() time.Duration {
	s := 10 * o.interval
	if o.initial == 0 {
		s += time.Duration(min(float64(o.held()), o.factor*o.capacity*o.load.Seconds()) / o.capacity * float64(time.Second))
	}
	return s
}

// streaming is what the context is made with.
func (o options) streaming() streamingcontext.Options {
	return streamingcontext.Options{
		App: "overload", Interval: o.interval, StopTimeout: time.Minute, MaxPendingRecords: o.pending,
		BlockInterval: o.interval / 5,
		EngineOptions: streamingcontext.EngineOptions{Cores: 1},
		Backpressure:  streamingcontext.Backpressure{Enabled: o.backpressure, InitialRate: o.initial},
	}
}
