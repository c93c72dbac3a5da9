package streamingcontext

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler/driverlog"
)

// running is what runs while a context is active: the goroutines and what they share.
type running struct {
	c      *Context
	ledger *ledger
	ownLog bool
	slots  *slots
	timer  *timer
	loop   *batchLoop
	// overload tells when batches are late.
	overload *overload
	// planning is held from asking the inputs for a batch until it is begun.
	planning turn
	again    []rerun      // batches of an earlier term, to be run before the timer starts
	missed   dstream.Time // the last batch time that passed before the term began

	ending        atomic.Bool        // an orderly stop has begun
	cancel        context.CancelFunc // ends batches and jobs: what waits is dropped
	dropped       <-chan struct{}    // closed by it
	stopReceivers context.CancelFunc // ends receivers, which end first
	streams       []receivedStream
	receivers     chan struct{} // closed when all receivers have ended and flushed
	launched      chan struct{} // closed when all goroutines are started
	loopEnded     chan struct{} // closed when no more batches are made
	last          dstream.Time  // the last batch made, once loopEnded is closed

	work     sync.WaitGroup // receivers, loop, slots and the watch of the term
	delivery sync.WaitGroup // the listeners' goroutine, which ends last
	stop     sync.WaitGroup // the goroutine of the stop
}

// A turn is a lock that whoever waits for it can give up waiting for: one token of a channel.
type turn chan struct{}

// take waits for the turn.
//
// Errors: ctx's.
func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t turn) give() { <-t }

// rerun is a batch that an earlier term has begun, and the jobs it has again.
type rerun struct {
	batch *batch
	jobs  []dstream.Job
}

func newRunning(c *Context, l *ledger, ownLog bool) *running {
	r := &running{c: c, ledger: l, ownLog: ownLog, slots: newSlots(),
		streams:  c.blocks.all(),
		planning: make(turn, 1), receivers: make(chan struct{}), launched: make(chan struct{}), loopEnded: make(chan struct{})}
	r.overload = &overload{r: r}
	r.loop = &batchLoop{r: r}
	if c.durable != nil {
		r.loop.inputs = inputWriter{recorders: recordersOf(c.graph), blobs: c.durable.blobs}
	}
	r.timer = &timer{clock: c.opts.Clock, period: c.Interval().Milliseconds(), tick: r.loop.tick}
	l.committed = r.committed
	return r
}

// settle is called once the graph's retention is final.
func (r *running) settle() {
	for _, s := range r.streams {
		s.settle()
	}
}

// committed is called after a batch is committed, in order of the batches.
func (r *running) committed(id int64, t dstream.Time) {
	r.c.graph.Forget(t)
	r.c.blocks.complete(t)
	if r.c.tenure != nil {
		r.c.tenure.fruitful.Store(true)
	}
	if r.c.bus.idle() {
		return
	}
	b := CommittedBatch{Time: t, ID: id, Epoch: r.ledger.epoch, At: r.c.opts.Clock.Now()}
	r.c.bus.post(func(l *Listener) {
		if l.BatchCommitted != nil {
			l.BatchCommitted(b)
		}
	})
}

// launch starts all goroutines. The caller's context only lends its values: what runs ends by Stop.
func (r *running) launch(ctx context.Context, term driverlog.Term, now, first int64) {
	defer close(r.launched)
	base := context.WithoutCancel(ctx)
	work, cancel := context.WithCancel(base)
	receiving, stopReceivers := context.WithCancel(base)
	r.cancel, r.dropped, r.stopReceivers = cancel, work.Done(), stopReceivers
	c := r.c
	r.delivery.Go(c.bus.run)
	c.bus.post(func(l *Listener) {
		if l.StreamingStarted != nil {
			l.StreamingStarted(now)
		}
	})
	r.launchReceivers(receiving)
	for range c.opts.ConcurrentJobs {
		r.work.Go(func() { r.serve(work) })
	}
	r.work.Go(func() {
		select {
		case <-term.Lost:
			c.fatal(ErrTermLost)
		case <-r.dropped:
		}
	})
	r.work.Go(func() {
		defer close(r.loopEnded)
		r.last = dstream.Time(first) - dstream.Time(r.timer.period)
		r.loop.made = r.last
		if !r.loop.runAgain(work) || !r.loop.awaitRunning(work) || r.loop.stoppedFirst() {
			return
		}
		next, ok := r.loop.catchUp(work, first)
		if r.last = r.loop.made; ok {
			r.last = max(dstream.Time(r.timer.run(work, next)), r.loop.made)
		}
	})
}

func (r *running) launchReceivers(ctx context.Context) {
	left := new(atomic.Int64)
	left.Store(int64(len(r.streams)))
	if len(r.streams) == 0 {
		close(r.receivers)
	}
	for _, s := range r.streams {
		r.work.Go(func() {
			if err := s.launch(ctx, r.c); err != nil && ctx.Err() == nil {
				r.c.fatal(err) // it never ran
			} else if err != nil {
				r.c.outcome.report(err)
			}
			if left.Add(-1) == 0 {
				close(r.receivers)
			}
		})
	}
}

// closeLog lets go of what decisions and blocks are kept in.
func (r *running) closeLog() error {
	switch {
	case r.c.durable != nil:
		return r.c.durable.close()
	case r.ownLog:
		return r.ledger.log.Close()
	}
	return nil
}
