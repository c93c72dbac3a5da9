package scheduler

import (
	"context"
	"slices"
	"sync"

	"github.com/leat-io/leat/lineage"
)

// A Scheduler runs jobs on a backend's executors.
//
// All methods may be called from any goroutine; Run and Close not from a task, a job's Done or a
// listener, which they wait for. New starts nothing: the first Run starts the scheduler's goroutines
// and Close stops them.
type Scheduler struct {
	backend  Backend
	opts     Options
	inbox    *inbox
	registry *registry // the loop's; others may ask it what is kept

	mu         sync.Mutex // guards the fields below; taken before the inbox's and a delivery's
	started    bool
	closed     bool
	deliveries []*delivery // all whose goroutines may run

	stop      context.CancelFunc // ends the backend; set by start
	wg        sync.WaitGroup     // loop and backend
	listeners sync.WaitGroup
	closing   sync.Once
	closeErr  error // set by closing
}

// New returns a scheduler for the executors of backend, which it takes over: a backend serves one
// scheduler.
//
// Errors: what Validate says about opts is returned by the first Run.
func New(backend Backend, opts Options) *Scheduler {
	s := &Scheduler{backend: backend, opts: opts.withDefaults(), inbox: newInbox(), registry: newRegistry()}
	for _, l := range opts.Listeners {
		s.deliveries = append(s.deliveries, newDelivery(l, s.opts.ListenerQueue, s.opts.Logger))
	}
	return s
}

// Run runs job and returns when it is over: nil once Done has had every result. Jobs of several
// goroutines share the executors as Options.Mode says. With no executor at all a job waits for one.
//
// When ctx ends first the job is cancelled: its tasks' contexts are cancelled, stages that other
// jobs use too go on. Run does not wait for tasks that ignore their context; they keep their slots.
//
// Order: Done is called in order of completion, not of partitions.
// Errors: *CanceledError if ctx ended first or the job was cancelled by the scheduler's methods; ErrClosed after Close; otherwise *JobError with the cause,
// for a task that failed too often a *TaskError.
func (s *Scheduler) Run(ctx context.Context, job lineage.Job) error {
	if ctx.Err() != nil {
		return canceled(ctx, -1, &job)
	}
	if err := s.start(); err != nil {
		return err
	}
	// The graph is read here, not on the loop: sources may look at their files to count partitions.
	j := newJob(job, s.registry.kept)
	if !s.inbox.post(jobSubmitted{j}) {
		return ErrClosed
	}
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
		if !s.inbox.post(jobCanceled{j, ctx.Err(), context.Cause(ctx)}) {
			return ErrClosed
		}
		return <-j.done
	}
}

// Start starts the executors, which the first job does otherwise. It does not wait for them. A second call does nothing.
//
// Errors: what Validate says about the options; ErrClosed after Close.
func (s *Scheduler) Start() error { return s.start() }

// Drop makes scheduler and executors forget blocks. A scope, node or shuffle that a running job still
// uses goes when the job is over. A later job that needs what was dropped computes it again.
func (s *Scheduler) Drop(d lineage.Drop) {
	if !d.Empty() {
		s.inbox.post(forget{lineage.Drop{Scopes: slices.Clone(d.Scopes), Nodes: slices.Clone(d.Nodes),
			Shuffles: slices.Clone(d.Shuffles), Broadcasts: slices.Clone(d.Broadcasts)}})
	}
}

// Close fails the running jobs with ErrClosed, cancels their tasks and returns when all of them,
// the backend and the listeners are done. It may be called more than once. A task that ignores its
// context holds it up; a listener that does not return from a call does so for Options.ListenerPatience.
//
// Errors: ErrListenerStuck if such a listener was left behind, with its goroutine. It gets no more events.
func (s *Scheduler) Close() error {
	s.closing.Do(func() {
		s.mu.Lock()
		s.closed = true
		started, deliveries := s.started, s.deliveries
		s.mu.Unlock()
		s.inbox.post(closing{})
		if !started {
			s.inbox.close()
			return
		}
		s.stop()
		s.wg.Wait()
		for _, d := range deliveries {
			d.close()
		}
		var waiting sync.WaitGroup
		stuck := make([]bool, len(deliveries))
		for i, d := range deliveries {
			waiting.Go(func() { stuck[i] = !d.wait(s.opts.ListenerPatience) })
		}
		waiting.Wait()
		if slices.Contains(stuck, true) {
			s.closeErr = ErrListenerStuck
			s.opts.Logger.Error("listener left behind", keyError, s.closeErr)
			return
		}
		s.listeners.Wait()
	})
	return s.closeErr
}

// start starts the loop, the backend and the listeners, once.
func (s *Scheduler) start() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if s.started {
		return nil
	}
	if err := s.opts.Validate(); err != nil {
		return err
	}
	s.started = true
	// The backend outlives every caller's context: it ends at Close.
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	for _, d := range s.deliveries {
		s.listeners.Go(d.run)
	}
	l := newLoop(s.backend, s.opts, s.registry, slices.Clone(s.deliveries), s.inbox.after)
	s.wg.Go(func() { s.inbox.run(l) })
	s.wg.Go(func() {
		err := s.backend.Run(ctx, sink{s.inbox, l.commits})
		if ctx.Err() == nil {
			s.inbox.post(backendEnded{err})
		}
	})
	return nil
}

func canceled(ctx context.Context, id int, job *lineage.Job) error {
	return &CanceledError{Job: id, Name: job.Name, Site: job.Site, Err: ctx.Err(), Cause: context.Cause(ctx)}
}

// A sink posts a backend's reports to the loop.
type sink struct {
	inbox   *inbox
	commits *commits
}

func (s sink) ExecutorAdded(e ExecutorInfo)               { s.inbox.post(executorAdded{e}) }
func (s sink) ExecutorLost(id ExecutorID, loss Loss)      { s.inbox.post(executorLost{id, loss}) }
func (s sink) TaskEnded(end *TaskEnd)                     { s.inbox.post(end) }
func (s sink) BlocksLost(id ExecutorID, blocks []BlockID) { s.inbox.post(blocksLost{id, blocks}) }
func (s sink) MayCommit(id TaskID) bool                   { return s.commits.may(id) }
