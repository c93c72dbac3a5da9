package streamingcontext

import (
	"context"
	"slices"
	"sync"

	"github.com/leat-io/leat/dstream"
)

// slots is the queue of output operations in front of the goroutines that run them, first in, first
// out. The ledger's bound on open batches bounds it. Batches behind one that failed can be held back.
type slots struct {
	mu     sync.Mutex     // guards the fields below
	ready  sync.Cond      // signalled when queue, held or closed change
	queue  []queued       // by batch time
	held   []dstream.Time // later batches than any of these are not handed out
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

// submit queues jobs of a batch, in front of those of later batches.
func (s *slots) submit(b *batch, jobs []dstream.Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := len(s.queue)
	for at > 0 && s.queue[at-1].batch.time > b.time {
		at--
	}
	for i, j := range jobs {
		s.queue = slices.Insert(s.queue, at+i, queued{b, j})
		s.ready.Signal()
	}
}

// next returns the oldest job, waiting for one that may run; false once the slots are closed.
func (s *slots) next() (queued, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.closed && (len(s.queue) == 0 || s.holds(s.queue[0].batch.time)) {
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

// holds reports whether a batch must wait. mu is held.
func (s *slots) holds(t dstream.Time) bool {
	return slices.ContainsFunc(s.held, func(failed dstream.Time) bool { return t > failed })
}

// hold keeps the jobs of batches later than t back.
func (s *slots) hold(t dstream.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.held, t) {
		s.held = append(s.held, t)
	}
}

// release takes a hold back, if there is one.
func (s *slots) release(t dstream.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.held, t); i >= 0 {
		s.held = slices.Delete(s.held, i, i+1)
		s.ready.Broadcast()
	}
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

// runOutput runs one output of one batch and, after the last one, ends the batch.
func (r *running) runOutput(ctx context.Context, q queued) {
	c, b, job := r.c, q.batch, &q.job
	if b.jobStarted(job, c) {
		r.overload.started(b)
	}
	var failed *OutputError
	if err := apart(func() error { return r.runJob(forOutput(ctx, job), b, job) }); err != nil {
		failed = &OutputError{Batch: b.time, Output: job.ID, Name: job.Name, Site: job.Site, Err: err}
	}
	last := b.jobEnded(job, failed, c)
	if ctx.Err() != nil {
		return // the context stops at once: what was cancelled neither failed nor ended well
	}
	if failed != nil {
		r.outputFailed(b, failed)
	}
	if last {
		r.jobsEnded(ctx, b)
	}
}

// outputFailed does what the policy wants done at once: holding later batches back, and telling those who wait
// where the output is not run again.
func (r *running) outputFailed(b *batch, failed *OutputError) {
	policy, log := r.c.opts.OnFailure, r.c.opts.Logger
	last := b.lastAttempt(policy.Retries)
	if !last || policy.Then == StopOnFailure {
		r.slots.hold(b.time)
	}
	if !last {
		log.Warn("output failed, running it again", "batch", int64(b.time), "output", failed.Output, "err", failed)
		return
	}
	if policy.Then == StopOnFailure {
		r.ledger.halt()
	}
	log.Error("output failed", "batch", int64(b.time), "output", failed.Output, "err", failed)
	r.c.outcome.report(failed)
}

// jobsEnded runs the outputs of a batch that failed again, or ends the batch.
func (r *running) jobsEnded(ctx context.Context, b *batch) {
	c := r.c
	if jobs := b.again(c.opts.OnFailure.Retries); jobs != nil {
		// The slot waits itself: nothing later may use it meanwhile.
		delay := c.opts.OnFailure.RetryDelay.Milliseconds()
		if delay > 0 && c.opts.Clock.WaitUntil(ctx, c.opts.Clock.Now()+delay) != nil {
			return // the context stops at once
		}
		r.slots.submit(b, jobs)
		return
	}
	r.overload.completed(b)
	c.graph.ForgetOutputs(b.time)
	r.close(ctx, b, func() { b.completed(c) })
}

// close settles a batch whose jobs have ended, and ends the context if the batch failed and is not set aside.
func (r *running) close(ctx context.Context, b *batch, tell func()) {
	c := r.c
	outputs, cause := b.failure()
	failed, err := r.ledger.end(ctx, b, func() {
		tell()
		if cause != nil && c.opts.OnFailure.Then == SetAside {
			r.setAside(SetAsideBatch{Time: b.time, ID: b.id, Inputs: b.inputs, Outputs: outputs, Err: cause})
		}
	})
	switch {
	case err != nil && ctx.Err() == nil:
		c.fatal(err)
	case failed != nil:
		c.fatal(failed)
	case cause == nil || c.opts.OnFailure.Then == SetAside:
		r.slots.release(b.time)
		if b.repeated {
			c.graph.Forget(b.time)
		}
	}
}

// setAside records a batch that the context goes on without.
func (r *running) setAside(b SetAsideBatch) {
	c := r.c
	c.opts.Logger.Error("batch set aside", "batch", int64(b.Time), "outputs", len(b.Outputs), "err", b.Err)
	c.aside.add(b)
	c.bus.post(func(l *Listener) {
		if l.BatchSetAside != nil {
			l.BatchSetAside(b)
		}
	})
}

// runJob calls the function of an output, or stages the rows of one that goes to a sink. calledFrom looks for it.
func (r *running) runJob(ctx context.Context, b *batch, job *dstream.Job) error {
	if job.Stage == nil {
		return job.Run(ctx)
	}
	at := r.ledger.forward.batch(b.id, int64(b.time), job.Output)
	at.Try = b.try()
	staged, err := job.Stage(ctx, at)
	if err == nil {
		b.stages(job.Output, staged)
	}
	return err
}
