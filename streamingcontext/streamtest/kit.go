package streamtest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/streamingcontext"
)

// Options set up a Kit. The zero value is a batch a second on one executor with two cores.
type Options struct {
	// Interval is how far apart batches are. 0 means one second.
	Interval time.Duration
	// Engine sets up executors. 0 Cores means 2. An empty CheckpointDir means a folder that goes with
	// the test.
	Engine streamingcontext.EngineOptions
	// Partitions is how many partitions the RDDs of feeds have. 0 means 2.
	Partitions int
	// Configure changes the options of the context; all but Clock. Nil changes none.
	Configure func(*streamingcontext.Options)
	// Timeout bounds each Advance. 0 means 30 seconds.
	Timeout time.Duration
}

// A Kit is a streaming context on a clock that stands still until Advance moves it.
type Kit struct {
	t       testing.TB
	ssc     *streamingcontext.Context
	clock   *streamingcontext.ManualClock
	opts    Options
	events  *events
	started bool
	batches int
}

// New returns a kit that is stopped when the test ends.
func New(t testing.TB, opts Options) *Kit {
	t.Helper()
	if opts.Interval == 0 {
		opts.Interval = time.Second
	}
	if opts.Engine.Cores == 0 {
		opts.Engine.Cores = 2
	}
	if opts.Engine.CheckpointDir == "" {
		opts.Engine.CheckpointDir = t.TempDir()
	}
	if opts.Partitions == 0 {
		opts.Partitions = 2
	}
	if opts.Timeout == 0 {
		opts.Timeout = 30 * time.Second
	}
	clock := &streamingcontext.ManualClock{}
	o := streamingcontext.Options{App: t.Name(), Interval: opts.Interval, EngineOptions: opts.Engine}
	if len(o.App) > 255 {
		o.App = o.App[:255]
	}
	if opts.Configure != nil {
		opts.Configure(&o)
	}
	o.Clock = clock
	events := newEvents(opts.Interval)
	o.Listeners = append(slices.Clone(o.Listeners), events.listener())
	k := &Kit{t: t, ssc: streamingcontext.New(o), clock: clock, opts: opts, events: events}
	t.Cleanup(func() {
		// The test's own context has ended by now.
		if err := k.ssc.Stop(context.Background(), streamingcontext.StopOptions{}); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return k
}

// Context returns the streaming context, to declare streams and outputs on.
func (k *Kit) Context() *streamingcontext.Context { return k.ssc }

// Clock returns the clock. Advance is all that most tests need.
func (k *Kit) Clock() *streamingcontext.ManualClock { return k.clock }

// Time returns the time of batch n, from 1.
func (k *Kit) Time(n int) dstream.Time {
	return dstream.Time(int64(n) * k.opts.Interval.Milliseconds())
}

// Now returns the time of the last batch made, 0 before the first.
func (k *Kit) Now() dstream.Time { return k.Time(k.batches) }

// Advance makes n batches, one after the other, and returns when the last one is settled. The test
// fails where TryAdvance would return an error.
func (k *Kit) Advance(n int) {
	k.t.Helper()
	if err := k.TryAdvance(n); err != nil {
		k.t.Fatalf("advance to batch %d: %v", k.batches, err)
	}
}

// TryAdvance is Advance for tests of failure: it returns the first error that the context reported, now or
// before.
//
// Errors: of Start; of a batch; context.DeadlineExceeded when a batch takes longer than Options.Timeout.
func (k *Kit) TryAdvance(n int) error {
	ctx, cancel := context.WithTimeout(context.Background(), k.opts.Timeout)
	defer cancel()
	for range n {
		if err := k.tick(ctx); err != nil {
			return err
		}
		if err := k.ssc.Settled(ctx, k.Now()); err != nil {
			return err
		}
	}
	return k.ssc.Err()
}

// Tick moves the clock to the next batch and does not wait for it. AwaitEvent and Step say how far it has come.
func (k *Kit) Tick() {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), k.opts.Timeout)
	defer cancel()
	if err := k.tick(ctx); err != nil {
		k.t.Fatalf("batch %d: %v", k.batches, err)
	}
}

// tick starts the context if that is still to be done, and moves the clock on.
func (k *Kit) tick(ctx context.Context) error {
	if !k.started {
		if err := k.ssc.Start(ctx); err != nil {
			return err
		}
		k.started = true
	}
	k.batches++
	k.clock.Set(int64(k.Now()))
	return nil
}
