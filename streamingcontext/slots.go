package streamingcontext

import (
	"context"
	"sync"

	"github.com/leat-io/leat/dstream"
)

// slots is the queue of output operations in front of the goroutines that run them, first in, first
// out. The ledger's bound on open batches bounds it.
type slots struct {
	mu     sync.Mutex // guards the fields below
	ready  sync.Cond  // signalled when queue or closed change
	queue  []queued
	closed bool
}

// queued is one output of one batch.
type queued struct {
	batch *batch
	job   dstream.Job
}

func newSlots() *slots {
	s := &slots{}
	s.ready.L = &s.mu
	return s
}

// submit queues the jobs of a batch.
func (s *slots) submit(b *batch, jobs []dstream.Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range jobs {
		s.queue = append(s.queue, queued{b, j})
		s.ready.Signal()
	}
}

// next returns the oldest job, waiting for one; false once the slots are closed.
func (s *slots) next() (queued, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 && !s.closed {
		s.ready.Wait()
	}
	if s.closed {
		return queued{}, false
	}
	q := s.queue[0]
	n := copy(s.queue, s.queue[1:])
	s.queue[n] = queued{}
	s.queue = s.queue[:n]
	return q, true
}

// close drops what is queued and lets the goroutines that wait for a job go.
func (s *slots) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.queue = nil
	s.ready.Broadcast()
}

// serve runs jobs until the slots are closed: the goroutine of one slot.
func (r *running) serve(ctx context.Context) {
	for {
		q, ok := r.slots.next()
		if !ok {
			return
		}
		r.runOutput(ctx, q)
	}
}

// runOutput runs one output of one batch and, after the last one, closes the batch.
func (r *running) runOutput(ctx context.Context, q queued) {
	c, b, job := r.c, q.batch, &q.job
	b.jobStarted(job, c)
	err := apart(func() error { return runJob(forOutput(ctx, job), job) })
	if err != nil {
		err = &OutputError{Batch: b.time, Output: job.ID, Name: job.Name, Site: job.Site, Err: err}
	}
	last := b.jobEnded(job, err, c)
	if ctx.Err() != nil {
		return // the context stops at once: what was cancelled neither failed nor ended well
	}
	if err != nil {
		c.opts.Logger.Error("output failed", "batch", int64(b.time), "output", job.ID, "err", err)
		c.outcome.report(err)
	}
	if !last {
		return
	}
	c.graph.ForgetOutputs(b.time)
	r.close(ctx, b, func() { b.completed(c) })
}

// close settles a batch whose jobs have ended.
func (r *running) close(ctx context.Context, b *batch, tell func()) {
	if err := r.ledger.end(ctx, b, tell); err != nil && ctx.Err() == nil {
		r.c.fatal(err)
	}
}

// runJob calls the function of an output. calledFrom looks for it.
func runJob(ctx context.Context, job *dstream.Job) error { return job.Run(ctx) }
