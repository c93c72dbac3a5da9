package main

import (
	"context"
	"fmt"
	"io"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/generator"
	"github.com/leat-io/leat/streamingcontext"
)

// measured is what a run is judged by.
type measured struct {
	accepted, processed done
	most                struct{ delay, settledDelay time.Duration }
	heap                struct{ most, settled uint64 }
	backlog             int64 // the most records that were stored and not processed, once settled
	batches, settled    int
	lag                 time.Duration // how long after the load the lag was gone
	caughtUp            bool
}

// measure runs the program under load, and without until the lag is gone or it is too late.
func measure(ctx context.Context, o options, out io.Writer) (*measured, error) {
	m := &measured{}
	began := time.Now()
	elapsed := func() time.Duration { return time.Since(began) }

	var mu sync.Mutex // guards m, last and since
	var last streamingcontext.BatchInfo
	var since struct { // the last line
		records       int64
		waited, taken time.Duration
	}
	opts := o.streaming()
	opts.Listeners = []streamingcontext.Listener{{BatchCompleted: func(b streamingcontext.BatchInfo) {
		mu.Lock()
		defer mu.Unlock()
		last = b
		m.batches++
		delay, _ := b.SchedulingDelay()
		took, _ := b.ProcessingDelay()
		since.records += b.Records()
		since.waited, since.taken = max(since.waited, delay), since.taken+took
		m.most.delay = max(m.most.delay, delay)
		if elapsed() > o.settles() {
			m.settled++
			m.most.settledDelay = max(m.most.settledDelay, delay)
		}
	}}}
	ssc := streamingcontext.New(opts)
	load, endLoad := context.WithCancel(ctx)
	defer endLoad()
	var accepted atomic.Pointer[done]
	accepted.Store(&done{})
	source, err := generator.New(newRecord, generator.Options{Rate: int64(o.factor * o.capacity)})
	if err != nil {
		return nil, err
	}
	in := streamingcontext.Receive(ssc, receivers.Func[record](func(ctx context.Context, sink receivers.Sink[record]) error {
		loaded, cancel := context.WithCancel(ctx)
		defer context.AfterFunc(load, cancel)()
		_ = source.Receive(loaded, sink)
		n := source.Next()
		accepted.Store(&done{records: n, ids: n * (n - 1) / 2})
		<-ctx.Done()
		return ctx.Err()
	}))
	dstream.ForeachRDD(in, func(ctx context.Context, r *rdd.RDD[record], _ dstream.Time) error {
		d, err := o.plant.job(ctx, r)
		if err == nil {
			mu.Lock()
			m.processed = m.processed.add(d)
			mu.Unlock()
		}
		return err
	})
	if err := ssc.Start(ctx); err != nil {
		return nil, err
	}
	defer func() { _ = ssc.Stop(context.WithoutCancel(ctx), streamingcontext.StopOptions{}) }()

	fmt.Fprintln(out, "seconds\trecords\twaited ms\ttook ms\trate/s\theap MiB")
	tick := time.NewTicker(min(time.Second, o.interval))
	defer tick.Stop()
	patience := o.load + 20*o.interval + time.Duration(2*float64(o.held())/o.capacity*float64(time.Second))
	for !m.caughtUp && elapsed() < patience {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if err := ssc.Err(); err != nil {
			return nil, err
		}
		now, heap := elapsed(), heapBytes()
		if now >= o.load {
			endLoad()
		}
		mu.Lock()
		b, line := last, since
		since.records, since.waited, since.taken = 0, 0, 0
		m.heap.most = max(m.heap.most, heap)
		if now > o.settles() {
			m.heap.settled = max(m.heap.settled, heap)
			m.backlog = max(m.backlog, source.Next()-m.processed.records)
		}
		waited, _ := b.SchedulingDelay()
		// All that was stored is processed, and a batch that was cut after the load has nothing and did not wait.
		m.caughtUp = load.Err() != nil && m.processed.records == source.Next() && b.Submitted > began.Add(o.load+2*o.interval).UnixMilli() && b.Records() == 0 && waited < o.interval/2
		m.lag = now - o.load
		mu.Unlock()
		fmt.Fprintf(out, "%.1f\t%d\t%d\t%d\t%d\t%d\n", now.Seconds(), line.records, line.waited.Milliseconds(), line.taken.Milliseconds(),
			ssc.Receivers()[0].Rate, heap>>20)
	}
	if err := ssc.Stop(ctx, streamingcontext.StopOptions{Graceful: true}); err != nil {
		return nil, err
	}
	m.accepted = *accepted.Load()
	return m, nil
}

// heapBytes is what the heap holds, garbage that is not collected yet included.
func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// check prints the bounds.
//
// Errors: errBroken.
func (m *measured) check(o options, out io.Writer) error {
	broken := false
	line := func(name string, ok bool, format string, args ...any) {
		verdict := "ok"
		if !ok {
			verdict, broken = "BROKEN", true
		}
		fmt.Fprintf(out, "%s\t%s\t%s\n", name, verdict, fmt.Sprintf(format, args...))
	}
	line("lost", m.processed.records == m.accepted.records && m.processed.ids == m.accepted.ids && m.accepted.records > 0,
		"%d records accepted, %d processed", m.accepted.records, m.processed.records)
	if o.backpressure {
		line("delay", m.settled > 0 && m.most.settledDelay < 3*o.interval, "%v at most of %d batches after %v, bound %v; %v at most before or after",
			m.most.settledDelay, m.settled, o.settles(), 3*o.interval, m.most.delay)
		line("backlog", float64(m.backlog) <= 5*o.capacity*o.interval.Seconds(), "%d records stored and not processed at most, bound %.0f",
			m.backlog, 5*o.capacity*o.interval.Seconds())
		few := 2*uint64(5*o.capacity*o.interval.Seconds()*recordBytes) + 64<<20
		line("settled heap", m.heap.settled <= few, "%d MiB at most, bound %d MiB", m.heap.settled>>20, few>>20)
	}
	bound := 2*uint64(o.held())*recordBytes + 64<<20
	line("heap", m.heap.most <= bound, "%d MiB at most, bound %d MiB", m.heap.most>>20, bound>>20)
	line("lag", m.caughtUp, "gone %.1f s after the load", m.lag.Seconds())
	if broken {
		return errBroken
	}
	return nil
}
