package streamingcontext

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler/driverlog"
)

// Drive runs an application as one driver of several, until ctx ends. All of them run the same program on nodes of one
// Options.Cluster and with one Options.Store; one leads and makes the batches, the others stand by. Where the leader is lost, another goes on with
// the same batch.
//
// A driver that stands by has called setup, and checked the graph against what the log says of the application. It holds no input, asks no sink, and has no batch timer. Once it leads it does what a
// context of GetOrCreate does that finds the batches of an earlier process: it makes visible what is prepared, runs what was begun
// again with its input, and makes new batches; Options.Missed says what becomes of times that have passed. When its term ends, by word of the
// log or by a command that is refused, everything of the term ends, and it stands by with a fresh context. Nothing that comes late counts: log,
// sinks and store refuse it by its epoch.
//
// When ctx ends, the context stops gracefully, and lets another node lead. So it does before Drive returns with an error.
//
// driverlog.SetStatus pauses the application, ends all its drivers, or lets it go on, on the node that leads. While it is paused no batch is
// begun, and receivers go on until Options.MaxPendingRecords holds them back; the batches of those times follow when it goes on, by
// Options.Missed. Where it is stopped the leader stops gracefully, the others within a few intervals, and Drive returns nil; so it does
// on a later start, until the status is another. What Options.StopTimeout cuts short, or the end of the term, the next term finishes, without
// new batches, unless not one was committed in that time.
//
// Drivers may run different builds of the program, as while it is replaced on one node after the other. A build that can go on from what the log
// has, see dstream.NodeChanges, stands by, says what has changed, and leads like any other; the log then has its graph, and the earlier build is
// judged by that in turn. One that cannot is refused before it leads, and the others go on. What a batch shows is of the build that has prepared
// it. State is written every few batches: what came after that is made again by the build that goes on.
//
// setup is called twice for each term, and so is what it makes, such as sinks: they are to be new each time, as another driver may have used the
// sink meanwhile. dir is for received blocks, as with GetOrCreate: each driver has its own, or none. An Engine that is given has no other context.
//
// Time: a driver whose terms end without a committed batch waits up to five seconds of Options.Clock before it stands by again.
// Cost: a copy of the log's state in each interval.
// Errors: those of a batch or output, as Context.Run, for other drivers would meet them too, if the term still stands; what setup and Start return; *dstream.ChangedError naming
// the first difference where the log has known another graph for several intervals, or the driver leads and the log has; *PromisedError where no
// other driver commits what this one cannot; *StopTimeoutError where
// functions of the program did not end with their term or with ctx, and are left behind, or nothing was committed while a stop lasted; those of the log; ErrNoCluster. The end of ctx alone gives nil.
func Drive(ctx context.Context, dir string, opts Options, setup func(ssc *Context) error) (err error) {
	wrap := func(err error) error {
		if err == nil {
			return nil
		}
		return fmt.Errorf("drive application %s: %w", opts.withDefaults().App, err)
	}
	switch {
	case setup == nil:
		return wrap(dstream.ErrNilFunction)
	case opts.Cluster == nil:
		return wrap(ErrNoCluster)
	}
	d := &driver{dir: dir, given: opts, opts: opts.withDefaults(), setup: setup}
	defer d.resign(ctx)
	return wrap(d.run(ctx))
}

// A driver is one of several.
type driver struct {
	dir   string
	given Options // as they were given, for contexts
	opts  Options // with their defaults
	setup func(ssc *Context) error

	after     uint64 // the epoch of the last term
	fruitless int    // terms one after the other in which no batch was committed
	unled     int    // failures to begin a term one after the other
	handed    int    // terms handed over one after the other, for what was prepared cannot be committed
}

const (
	// maxUnled is how often the log may fail to begin a term before the driver ends.
	maxUnled = 8
	// firstBackoff and lastBackoff are the waits, in milliseconds, after terms that came to nothing.
	firstBackoff, lastBackoff = 100, 5000
)

// run stands by and leads, one after the other.
func (d *driver) run(ctx context.Context) error {
	for ctx.Err() == nil {
		c, err := getOrCreate(d.dir, d.given, d.setup)
		if err != nil {
			return err
		}
		t := d.serve(ctx, c)
		if again, err := d.judge(ctx, t); err != nil || !again {
			return err
		}
		if err := d.backOff(ctx, t); err != nil {
			return nil // ctx has ended
		}
	}
	return nil
}

// A served term is what became of one context, from standing by on.
type served struct {
	term     driverlog.Term // zero if it never led
	err      error          // what ended it, nil if it was stopped
	refused  error          // why it was not to lead, with this graph
	unwanted bool           // the application was stopped before it led
	cut      error          // a graceful stop was not
	left     bool           // functions of the program were left behind
	fruitful bool           // a batch was committed
}

// serve stands by, leads for a term and returns when all has ended, or what has not is left behind.
func (d *driver) serve(ctx context.Context, c *Context) (s served) {
	terms := make(chan driverlog.Term, 1)
	standBy := sync.OnceFunc(func() {
		if d.opts.DriverListener.StandingBy != nil {
			d.opts.DriverListener.StandingBy()
		}
	})
	c.tenure = &tenure{after: d.after, wanted: newWanted(), began: func(term driverlog.Term) {
		standBy() // it has no time to look first
		if d.opts.DriverListener.Leading != nil {
			d.opts.DriverListener.Leading(term.Epoch)
		}
		terms <- term
	}}
	defer func() {
		s.fruitful = c.tenure.fruitful.Load()
		if s.term.Epoch != 0 && d.opts.DriverListener.StoodDown != nil {
			d.opts.DriverListener.StoodDown(s.term.Epoch, s.err)
		}
	}()
	starting, cancel := context.WithCancel(ctx)
	defer cancel()
	looking := d.look(starting, c, standBy, cancel)
	d.start(starting, c, terms, looking, &s)
	s.refused, s.unwanted = looking.end()
	if s.left {
		return s
	}
	if s.err == nil {
		if d.opts.DriverListener.GoingOn != nil {
			d.opts.DriverListener.GoingOn(c)
		}
		close(c.tenure.wanted.told)
		select {
		case <-c.outcome.stopped: // by an error, the end of the term, or by another goroutine
		case <-c.tenure.wanted.stopped:
			d.opts.Logger.Info("application is stopped", "app", d.opts.App)
		case <-ctx.Done():
		}
	}
	// A graceful stop makes batches, and none are to be made while the application is paused.
	stopped := c.Stop(context.WithoutCancel(ctx), StopOptions{Graceful: !c.tenure.wanted.idle.Load()})
	if s.err == nil {
		s.err, s.cut = c.outcome.endedBy(), stopped
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.left = c.stopping != nil && c.stopping.left
	return s
}

// start starts the context, and waits no longer for it once its term or ctx has ended than for a stop.
func (d *driver) start(ctx context.Context, c *Context, terms <-chan driverlog.Term, looking *looking, s *served) {
	started := make(chan error, 1)
	go func() { started <- c.Start(ctx) }() // what it may leave behind is waited for below, as long as for a stop
	var lost <-chan struct{}
	var late <-chan time.Time
	ending := ctx.Done()
	impatient := func() {
		if limit := d.opts.patience(); limit > 0 && late == nil {
			late = time.After(limit)
		}
	}
	for {
		select {
		case s.term = <-terms:
			looking.stop()
			lost = s.term.Lost
		case <-lost:
			lost = nil
			impatient()
		case <-ending:
			ending = nil
			impatient()
		case s.err = <-started:
			select {
			case s.term = <-terms:
			default:
			}
			return
		case <-late:
			s.left, s.err = true, errLeftBehind(d.opts)
			return
		}
	}
}

func errLeftBehind(o Options) error {
	return &StopTimeoutError{Timeout: o.patience(), Err: context.DeadlineExceeded,
		Waiting: "functions of the program that do not return, and are left behind"}
}

// judge says whether the driver is to stand by again after a term, and the error that it ends with if it is not.
func (d *driver) judge(ctx context.Context, s served) (again bool, err error) {
	led := s.term.Epoch != 0
	if d.unled++; led {
		d.unled, d.after = 0, s.term.Epoch
	}
	switch _, cut := errors.AsType[*StopTimeoutError](s.err); {
	case s.left || cut:
		return false, errors.Join(s.err, s.cut)
	case s.refused != nil && !led:
		return false, s.refused
	case s.unwanted && !led:
		d.opts.Logger.Info("application is stopped", "app", d.opts.App)
		return false, nil
	case s.err == nil && led && d.unfinished(ctx, s):
	case s.err == nil:
		return false, s.cut // ctx has ended, or the application or its context is stopped
	case !led && ctx.Err() != nil:
		return false, nil
	case !led && d.unled > maxUnled:
		return false, s.err
	case termOver(s.err):
	case !led:
		return false, s.err
	case d.handsOver(ctx, s):
		return true, nil
	case d.stands(ctx, s.term.Epoch):
		// What a driver meets whose term is over may come of what the next one has done, such as files that are gone.
		if ctx.Err() != nil && errors.Is(s.err, ctx.Err()) {
			return false, nil // it was starting
		}
		return false, s.err
	}
	d.opts.Logger.Warn("driver stands down", "app", d.opts.App, "epoch", s.term.Epoch, "err", s.err)
	return ctx.Err() == nil, nil
}

// unfinished reports whether the application is stopped and another term is to finish batches of it: this one was over before they were done,
// or its stop has lasted too long although some were. Where none is done in the time of a stop, none will be in that of the next.
func (d *driver) unfinished(ctx context.Context, s served) bool {
	if ctx.Err() != nil || !s.fruitful && errors.Is(s.cut, context.DeadlineExceeded) {
		return false
	}
	state, err := d.opts.Cluster.State(ctx)
	if err != nil {
		return false
	}
	app := state.App(d.opts.App)
	return app.Status == driverlog.Stopped && len(app.Open) > 0
}

// handsOver lets another driver lead where this one lacks an output in which a batch is to be committed, and reports whether one does: that
// of another build may have it, and when the batch is committed this one can go on as well.
func (d *driver) handsOver(ctx context.Context, s served) bool {
	if _, promised := errors.AsType[*PromisedError](s.err); !promised {
		d.handed = 0
		return false
	}
	d.resign(ctx)
	if d.handed++; d.handed > maxUnled || ctx.Err() != nil || d.stands(ctx, s.term.Epoch) {
		return false
	}
	d.opts.Logger.Warn("driver lets another go on, whose build is to have an output that this one lacks", "app", d.opts.App, "epoch", s.term.Epoch, "err", s.err)
	return true
}

// stands reports whether a term of this driver stands still. A log that does not say within the time of a stop has another leader.
func (d *driver) stands(ctx context.Context, epoch uint64) bool {
	limit := d.opts.patience()
	if limit == 0 {
		limit = 10 * d.opts.Interval
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	return stands(ctx, d.opts.Cluster, d.opts.App, epoch)
}

// backOff waits after terms that came to nothing, but for the first.
func (d *driver) backOff(ctx context.Context, s served) error {
	if d.fruitless++; s.fruitful {
		d.fruitless = 0
	}
	if d.fruitless <= 1 {
		return ctx.Err()
	}
	wait := min(int64(firstBackoff)<<min(d.fruitless-2, 10), lastBackoff)
	return d.opts.Clock.WaitUntil(ctx, d.opts.Clock.Now()+wait)
}

// resign lets another node lead.
func (d *driver) resign(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if limit := d.opts.patience(); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	if err := d.opts.Cluster.Resign(ctx); err != nil {
		d.opts.Logger.Warn("driver log node does not resign", "app", d.opts.App, "err", err)
	}
}
