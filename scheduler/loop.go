package scheduler

import (
	"slices"
	"time"

	"github.com/leat-io/leat/lineage"
)

// A loop is all the state of a scheduler. One goroutine hands it events, one at a time; handle is a
// plain method and the loop has no goroutine, lock or clock of its own, so that a test can script it.
type loop struct {
	backend    Backend
	opts       Options
	deliveries []*delivery
	after      func(d time.Duration, ev event) // posts an event later
	now        func() time.Time
	timed      bool      // whether somebody asks when attempts began
	alarm      time.Time // when the loop's timer goes off; zero: it is not set

	nextJob, nextStage int
	nextTask           TaskID

	jobs      []*job // active, ascending
	stages    map[lineage.ShuffleID]*stage
	waiting   []*stage   // for parents
	failed    []*stage   // to be submitted at the next resubmit
	sets      []*taskSet // live, by priority
	pools     *pools     // under FAIR, else nil
	rounds    int        // of offers, begun so far
	commits   *commits
	running   map[TaskID]*attempt // that of commits
	executors []*executor         // in order of registration
	free      int                 // slots
	turn      int                 // executor to begin with when equally loaded ones are compared
	deferred  lineage.Drop        // to be forgotten when no job uses it
	registry  *registry

	exclusion   *exclusion // nil: off
	nextCheck   time.Time  // of running tasks, where speculation is on
	stageEvents int        // attempts of stages that began or ended

	canceledGroups []string // whose later jobs fail, in the order in which that was asked for

	backendErr error // set when the backend is gone
	closed     bool
}

// An executor is one that is alive.
type executor struct {
	ExecutorInfo
	free int // slots
}

// rackOf is rack for the loop's goroutine: a host whose rack it cannot say has none.
func rackOf(rack func(host string) string) func(host string) string {
	if rack == nil {
		return nil
	}
	return func(host string) (name string) {
		_ = apart(func() error {
			name = rack(host)
			return nil
		})
		return name
	}
}

func newLoop(backend Backend, opts Options, registry *registry, deliveries []*delivery, after func(time.Duration, event)) *loop {
	opts.Rack = rackOf(opts.Rack)
	l := &loop{
		backend: backend, opts: opts, deliveries: deliveries, after: after, now: time.Now,
		exclusion: newExclusion(opts.Exclusion), timed: len(deliveries) > 0 || opts.Speculation.Enabled,
		stages: map[lineage.ShuffleID]*stage{}, commits: newCommits(), registry: registry,
	}
	l.running = l.commits.running
	if opts.Mode == FAIR {
		l.pools = newPools(opts.Pools)
	}
	return l
}

// handle takes in one event and launches what can be launched then.
func (l *loop) handle(ev event) {
	if l.closed {
		if sub, ok := ev.(jobSubmitted); ok {
			sub.job.done <- ErrClosed
		}
		return
	}
	ev.apply(l)
	if l.free > 0 && len(l.sets) > 0 {
		l.offer()
	}
	l.watch()
}

type (
	jobSubmitted struct{ job *job }
	jobCanceled  struct {
		job        *job
		err, cause error
	}
	executorAdded struct{ info ExecutorInfo }
	blocksLost    struct {
		id     ExecutorID
		blocks []BlockID
	}
	executorLost struct {
		id   ExecutorID
		loss Loss
	}
	resubmit     struct{}
	forget       struct{ drop lineage.Drop }
	backendEnded struct{ err error }
	closing      struct{}
)

func (ev jobSubmitted) apply(l *loop) { l.submitJob(ev.job) }

func (ev jobCanceled) apply(l *loop) {
	if j := ev.job; !j.ended {
		l.endJob(j, &CanceledError{Job: j.id, Name: j.spec.Name, Site: j.spec.Site, Err: ev.err, Cause: ev.cause})
	}
}

func (end *TaskEnd) apply(l *loop)     { l.taskEnded(end) }
func (ev executorAdded) apply(l *loop) { l.addExecutor(ev.info) }
func (ev blocksLost) apply(l *loop) {
	for _, id := range ev.blocks {
		l.registry.unkeep(id, ev.id)
		l.emitBlock(id, ev.id, false)
	}
}
func (ev executorLost) apply(l *loop) { l.loseExecutor(ev.id, ev.loss) }
func (ev resubmit) apply(l *loop)     { l.resubmitFailed() }
func (ev forget) apply(l *loop)       { l.forget(ev.drop) }

func (ev backendEnded) apply(l *loop) {
	l.backendErr = ev.err
	if l.backendErr == nil {
		l.backendErr = errBackendEnded
	}
	for _, j := range slices.Clone(l.jobs) {
		l.endJob(j, j.fail(l.backendErr))
	}
}

func (ev closing) apply(l *loop) {
	for _, j := range slices.Clone(l.jobs) {
		l.endJob(j, ErrClosed)
	}
	// Nobody will hear how these end, but every attempt that began has an end.
	for _, a := range l.attempts(func(*attempt) bool { return true }) {
		l.detach(a)
		l.emitTaskEnded(a, nil, ErrClosed)
	}
	l.closed = true
}

// emit tells the listeners. Callers check listening first where making the event costs something.
func (l *loop) emit(event func(*Listener)) {
	for _, d := range l.deliveries {
		d.put(event)
	}
}

func (l *loop) listening() bool { return len(l.deliveries) > 0 }
