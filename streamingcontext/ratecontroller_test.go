package streamingcontext_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/generator"
	"github.com/leat-io/leat/receivers/rate"
	"github.com/leat-io/leat/streamingcontext"
)

// plant is a streaming program whose only job takes capacity records a second, in a bubble's time.
type plant struct {
	ssc     *streamingcontext.Context
	batches []streamingcontext.BatchInfo // read after the stop
	rates   []int64                      // after each batch
	backlog []int64                      // records stored and not processed, after each batch
	load    context.CancelFunc           // ends the load
}

// newPlant starts a plant with a source of perSecond records a second.
func newPlant(t *testing.T, capacity, perSecond int64, b streamingcontext.Backpressure, change func(*streamingcontext.Options)) *plant {
	t.Helper()
	p := &plant{}
	source, err := generator.New(func(i int64) int64 { return i }, generator.Options{Rate: perSecond})
	if err != nil {
		t.Fatal(err)
	}
	done := int64(0) // records of completed batches; the listeners' own
	opts := streamingcontext.Options{Interval: time.Second, Backpressure: b, StopTimeout: time.Hour,
		EngineOptions: streamingcontext.EngineOptions{Cores: 2},
		Listeners: []streamingcontext.Listener{{BatchCompleted: func(b streamingcontext.BatchInfo) {
			p.batches = append(p.batches, b)
			p.rates = append(p.rates, p.ssc.Receivers()[0].Rate)
			done += b.Records()
			p.backlog = append(p.backlog, source.Next()-done)
		}}}}
	if change != nil {
		change(&opts)
	}
	p.ssc = streamingcontext.New(opts)
	load, end := context.WithCancel(t.Context())
	p.load = end
	in := streamingcontext.Receive(p.ssc, receivers.Func[int64](func(ctx context.Context, sink receivers.Sink[int64]) error {
		loaded, cancel := context.WithCancel(ctx)
		defer context.AfterFunc(load, cancel)()
		_ = source.Receive(loaded, sink) // ends with the load
		<-ctx.Done()
		return ctx.Err()
	}))
	dstream.ForeachRDD(in, func(ctx context.Context, r *rdd.RDD[int64], _ dstream.Time) error {
		n, err := r.Count(ctx)
		if n > 0 {
			<-time.After(time.Duration(n) * time.Second / time.Duration(capacity))
		}
		return err
	})
	if err := p.ssc.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// delay returns how long batch i waited, in batch intervals.
func (p *plant) delay(i int) float64 {
	d, _ := p.batches[i].SchedulingDelay()
	return d.Seconds()
}

// With a source five times as fast as its job, a stream settles: batches wait less than three intervals, four batches'
// worth of records are on their way at most, the rate is near the capacity, and the lag goes when the load does.
func TestOverloadSettles_C5(t *testing.T) {
	for _, test := range []struct{ initial, pending, settles int64 }{
		// Without an initial rate receiver and block log hold all they can before the first estimate, and settling takes as
		// long as working that off does. In the last case most of it waits in the receiver, where no batch's delay shows it.
		{400, 20_000, 10}, {0, 20_000, 90}, {0, 5000, 90},
	} {
		t.Run(fmt.Sprintf("initial=%d/pending=%d", test.initial, test.pending), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlant(t, 1000, 5000, streamingcontext.Backpressure{Enabled: true, InitialRate: test.initial},
					func(o *streamingcontext.Options) { o.MaxPendingRecords = test.pending })
				pass(time.Duration(test.settles)*time.Second + 60*time.Second)
				p.load()
				pass(20 * time.Second)
				if left := p.ssc.Pending(); len(left) > 1 {
					t.Errorf("batches %v are pending long after the load", left)
				}
				stop(t, p.ssc)
				settled := p.batches[0].Time + dstream.Time(test.settles)*1000
				end := settled + 50_000
				var worst, processed float64
				for i, b := range p.batches {
					if b.Time < settled || b.Time >= end {
						continue
					}
					worst = max(worst, p.delay(i))
					if p.backlog[i] > 4000 {
						t.Errorf("batch %v: %d records are stored and not processed", b.Time, p.backlog[i])
					}
					processed += float64(b.Records())
					if r := p.rates[i]; r < 400 || r > 1500 {
						t.Errorf("batch %v: rate %d/s", b.Time, r)
					}
				}
				if worst >= 3 {
					t.Errorf("a batch waited %.1f intervals", worst)
				}
				if least := 0.8 * 50_000.0; processed < least {
					t.Errorf("only %.0f records processed, want %.0f: the job was idle", processed, least)
				}
				last := len(p.batches) - 1
				if n := p.batches[last].Records(); n != 0 || p.delay(last) > 0.1 {
					t.Errorf("last batch: %d records, waited %.1f", n, p.delay(last))
				}
			})
		})
	}
}

func TestWithoutBackpressureTheBlockLogIsTheBound_C5(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, 1000, 5000, streamingcontext.Backpressure{}, func(o *streamingcontext.Options) { o.MaxPendingRecords = 4000 })
		pass(60 * time.Second)
		stop(t, p.ssc)
		for i, b := range p.batches {
			if b.Records() > 4000 || p.rates[i] != 0 {
				t.Errorf("batch %v: %d records, rate %d", b.Time, b.Records(), p.rates[i])
			}
			if p.delay(i) > 4.5 {
				t.Errorf("batch %v waited %.1f intervals with 4 seconds' worth of records pending", b.Time, p.delay(i))
			}
		}
	})
}

// Shows B-01.
func TestEmptyBatches_B01(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []int
		ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, StopTimeout: time.Hour,
			Backpressure: streamingcontext.Backpressure{Enabled: true, PID: rate.PIDOptions{Proportional: 1, Integral: 0.2, MinRate: 50}},
			// So that batches without records also take a while, which must not matter.
			EngineOptions: streamingcontext.EngineOptions{Cores: 1}})
		in := streamingcontext.Receive(ssc, receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
			for i := range 1010 {
				if i == 10 {
					select {
					case <-time.After(5 * time.Second): // five empty batches
					case <-ctx.Done():
						return ctx.Err()
					}
				}
				if err := sink.Store(ctx, i); err != nil {
					return err
				}
			}
			<-ctx.Done()
			return ctx.Err()
		}))
		dstream.ForeachRDD(in, func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
			<-time.After(900 * time.Millisecond)
			rows, err := r.Collect(ctx)
			got = append(got, rows...)
			return err
		})
		if err := ssc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		pass(40 * time.Second)
		if r := ssc.Receivers()[0].Rate; r < 50 {
			t.Errorf("rate %d/s", r)
		}
		stop(t, ssc)
		if len(got) != 1010 {
			t.Errorf("%d records read", len(got))
		}
	})
}

// The first batch keeps to the initial rate, whether or not it will be changed.
// Shows B-03.
func TestInitialRate_B03(t *testing.T) {
	for _, test := range []struct {
		enabled      bool
		initial, max int64
		want         int64
	}{{true, 100, 0, 100}, {false, 100, 0, 100}, {true, 100, 60, 60}, {true, 0, 60, 60}, {false, 0, 60, 60}} {
		t.Run(fmt.Sprintf("%+v", test), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlant(t, 1_000_000, 1_000_000, streamingcontext.Backpressure{Enabled: test.enabled, InitialRate: test.initial},
					func(o *streamingcontext.Options) {
						o.MaxRate = test.max
						o.Interval = 10 * time.Second
					})
				synctest.Wait() // the receiver is launched
				if r := p.ssc.Receivers()[0].Rate; r != test.want {
					t.Errorf("rate %d before the first batch, want %d", r, test.want)
				}
				start := time.Now()
				pass(19 * time.Second) // one batch for certain
				stop(t, p.ssc)
				first := p.batches[0]
				seconds := float64(int64(first.Time)-start.UnixMilli()) / 1000
				// What comes at the batch's very time, a block or the record after it, comes into this batch or the next.
				most, block := test.want*int64(math.Ceil(seconds))+1, test.want/5
				if n := first.Records(); n > most || n < int64(float64(test.want)*seconds)-block-1 {
					t.Errorf("%d records in the first %.1f s, want %d/s", n, seconds, test.want)
				}
			})
		})
	}
}

// Rates that estimators give, and what the receiver makes of them.
func TestRates_R5(t *testing.T) {
	for _, test := range []struct {
		max      int64
		estimate float64
		want     int64
	}{
		{0, 105, 105}, {110, 105, 105}, {100, 105, 100}, {100, 0, 100}, {100, -5, 100}, {0, -5, 0}, {0, 0.9, 0}, {0, 7.9, 7},
		{100, math.NaN(), 100}, {0, math.Inf(1), 1e12}, {100, math.Inf(1), 100}, {100, math.Inf(-1), 100},
	} {
		t.Run(fmt.Sprintf("max=%d/%v", test.max, test.estimate), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var changes []int64
				p := newPlant(t, 1000, 10, streamingcontext.Backpressure{Enabled: true,
					NewEstimator: func(stream int, interval time.Duration) (rate.Estimator, error) {
						if stream != 0 || interval != time.Second {
							t.Errorf("estimator of stream %d, interval %v", stream, interval)
						}
						return estimator(func(rate.Batch) (float64, bool) { return test.estimate, true }), nil
					}}, func(o *streamingcontext.Options) {
					o.MaxRate = test.max
					o.Listeners = append(o.Listeners, streamingcontext.Listener{
						ReceiverChanged: func(r streamingcontext.ReceiverInfo) { changes = append(changes, r.Rate) }})
				})
				pass(3500 * time.Millisecond)
				if r := p.ssc.Receivers()[0].Rate; r != test.want {
					t.Errorf("rate %d, want %d", r, test.want)
				}
				stop(t, p.ssc)
				if news := test.want != test.max; news != (len(changes) == 1) || news && changes[0] != test.want {
					t.Errorf("changes told: %v", changes)
				}
			})
		})
	}
}

// estimator is a function used as an estimator.
type estimator func(rate.Batch) (float64, bool)

func (e estimator) Estimate(b rate.Batch) (float64, bool) { return e(b) }

func TestAnEstimatorSeesTheBatchesOfItsStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []rate.Batch
		p := newPlant(t, 20, 10, streamingcontext.Backpressure{Enabled: true,
			NewEstimator: func(int, time.Duration) (rate.Estimator, error) {
				return estimator(func(b rate.Batch) (float64, bool) {
					seen = append(seen, b)
					if len(seen) == 2 {
						panic("a mistake of the program's")
					}
					return 0, false
				}), nil
			}}, nil)
		pass(5500 * time.Millisecond)
		stop(t, p.ssc)
		if len(seen) < 4 || len(seen) != len(p.batches) {
			t.Fatalf("%d batches seen of %d", len(seen), len(p.batches))
		}
		for i, b := range p.batches {
			processing, _ := b.ProcessingDelay()
			scheduling, _ := b.SchedulingDelay()
			want := rate.Batch{Ended: b.Ended, Records: b.Records(), Processing: processing, Scheduling: scheduling}
			if seen[i] != want || i > 1 && b.Records() == 0 {
				t.Errorf("batch %v: saw %+v, want %+v", b.Time, seen[i], want)
			}
		}
	})
}

func TestBackpressureThatCannotBe_P6(t *testing.T) {
	failing := func(int, time.Duration) (rate.Estimator, error) { return nil, context.Canceled }
	for want, b := range map[string]streamingcontext.Backpressure{
		`unknown estimator "x"`:   {Enabled: true, Estimator: "x"},
		"InitialRate is negative": {InitialRate: -1},
		"option MinRate":          {PID: rate.PIDOptions{Proportional: 1}},
		"both set":                {Estimator: "pid", NewEstimator: failing},
	} {
		o := streamingcontext.Options{Interval: time.Second, Backpressure: b}
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("validate: %v, want %q", err, want)
		}
	}
	for _, make := range []func(int, time.Duration) (rate.Estimator, error){failing,
		func(int, time.Duration) (rate.Estimator, error) { return nil, nil }} {
		opts, _ := seconds()
		opts.Backpressure = streamingcontext.Backpressure{Enabled: true, NewEstimator: make}
		ssc := streamingcontext.New(opts)
		discard(streamingcontext.Receive(ssc, receivers.Func[int](waitForEnd)))
		if err := ssc.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "estimator of receiver stream 0") {
			t.Errorf("start: %v", err)
		}
		wantState(t, ssc, streamingcontext.Stopped)
	}
	for want, b := range map[string]streamingcontext.Backpressure{
		"off":                     {},
		"off, initial rate 5/s":   {InitialRate: 5},
		"on, pid: proportional 1": {Enabled: true},
		"on, estimator of":        {Enabled: true, NewEstimator: failing},
	} {
		if s := b.String(); !strings.HasPrefix(s, want) {
			t.Errorf("%q, want %q", s, want)
		}
	}
}
