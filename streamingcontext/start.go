package streamingcontext

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/memlog"
	"github.com/leat-io/leat/streamingcontext/internal/protocol"
)

// Start checks the declarations and starts receivers and batches. It does not wait for any; ctx counts
// for the start only. On an active context it does nothing but log a warning. Whoever starts a context
// stops it, also after an error has ended it.
//
// Time: the first batch is at the first multiple of the interval that is later than the clock and the
// last batch in the driver log.
// Errors: all that is wrong with options and declarations, joined, those of declarations as
// *dstream.BuildError with file and line; dstream.ErrNoOutputOps; what the driver log returned. The context
// is Stopped then. ErrAnotherContextActive leaves it as it was. dstream.ErrContextStopped after a stop.
func (c *Context) Start(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.starting.Lock()
	defer c.starting.Unlock()
	c.mu.Lock()
	state := c.state
	c.cancelStart = cancel
	c.mu.Unlock()
	switch state {
	case Active:
		c.opts.Logger.Warn("streaming context is active already")
		return nil
	case Stopped:
		return dstream.ErrContextStopped
	}
	if !c.engine.active.CompareAndSwap(nil, c) {
		return ErrAnotherContextActive
	}
	// Its batches may have the times of those before it, and RDDs are known by batch time and stream.
	c.engine.rdds.Forget(c.engine.left...)
	c.engine.left = nil
	if err := c.start(ctx); err != nil {
		c.finish()
		return errors.Join(err, c.closeOwnEngine())
	}
	return nil
}

// start is Start once it is the context's turn. Where it returns an error nothing runs.
func (c *Context) start(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("start streaming context: %w", errors.Join(err, c.durable.close()))
	}
	if err := errors.Join(c.faults(), c.graph.Err(), c.coalescible()); err != nil {
		// The graph will never run, but all that is wrong with it is to be told at once.
		err := errors.Join(c.faults(), c.coalescible(), c.graph.Start(0))
		return fmt.Errorf("start streaming context: %w", errors.Join(err, c.durable.close()))
	}
	log, own := c.opts.Log, false
	switch {
	case c.durable != nil:
		log = c.durable.log
	case log == nil:
		mem, err := memlog.New(memlog.Options{Logger: c.opts.Logger})
		if err != nil {
			return fmt.Errorf("start streaming context: %w", err)
		}
		log, own = mem, true
	}
	if err := c.lead(ctx, log, own); err != nil {
		if own {
			err = errors.Join(err, log.Close())
		}
		return fmt.Errorf("start streaming context: %w", errors.Join(err, c.durable.close()))
	}
	return nil
}

// lead begins a term and starts what runs in it. What that waits for ends with the term.
func (c *Context) lead(ctx context.Context, log driverlog.Log, own bool) error {
	term, err := c.tenure.lead(ctx, log)
	if err != nil {
		return err
	}
	ctx, release := withTerm(ctx, term)
	defer release()
	if err := c.begin(ctx, log, own, term); err != nil {
		select {
		case <-term.Lost:
			return fmt.Errorf("%w: %w", ErrTermLost, err)
		default:
			return err
		}
	}
	return nil
}

// begin starts what runs in a term.
func (c *Context) begin(ctx context.Context, log driverlog.Log, own bool, term driverlog.Term) error {
	if err := c.leadBlocks(ctx, term); err != nil {
		return err
	}
	l := c.newLedger(log, term.Epoch)
	app, err := l.state(ctx)
	if err != nil {
		return err
	}
	interval := c.Interval().Milliseconds()
	now := c.opts.Clock.Now()
	r := newRunning(c, l, own)
	first, err := c.goOn(ctx, r, app, now, interval)
	if err != nil {
		return err
	}
	if err := c.startReceiverTracker(ctx, now); err != nil {
		return err
	}
	c.graph.Seal(dstream.ErrContextActive)
	r.settle()
	c.mu.Lock()
	c.state, c.running = Active, r
	c.mu.Unlock()
	c.opts.Logger.Info("streaming context started", "options", c.opts.String(), "first batch", first, "epoch", term.Epoch)
	r.launch(ctx, term, now, first)
	return nil
}

// goOn starts the graph, after what an earlier term has left of the application, and returns the first batch time.
func (c *Context) goOn(ctx context.Context, r *running, app driverlog.App, now, interval int64) (first int64, err error) {
	if c.durable != nil && app.Registered {
		r.missed = dstream.Time(now)
		return c.recover(ctx, r, app, interval)
	}
	var marks []protocol.Mark
	if c.opts.Cluster != nil { // GetOrCreate has not looked
		state, err := c.durable.log.State(ctx)
		if err == nil {
			err = c.durable.fresh(state)
		}
		if err != nil {
			return 0, err
		}
	}
	if c.durable != nil { // a sink that has batches already is not that of a new application
		if marks, err = c.durable.agree(ctx, c, app); err != nil {
			return 0, err
		}
	}
	if err := r.ledger.recover(ctx, app, marks, false); err != nil {
		return 0, err
	}
	if n := begunOnly(app); n > 0 {
		c.opts.Logger.Warn("batches that an earlier process began and did not finish are given up", "batches", n)
	}
	last, _ := app.LastTime()
	first = firstTick(max(now, last), interval)
	if err := c.graph.Start(dstream.Time(first - interval)); err != nil {
		return 0, err
	}
	if c.durable != nil {
		c.keepCheckpoints(r, app, nil)
		return first, c.durable.register(ctx, c, r.ledger, dstream.Time(first-interval))
	}
	return first, nil
}

// recover makes the graph and the batches go on where the application was.
func (c *Context) recover(ctx context.Context, r *running, app driverlog.App, interval int64) (first int64, err error) {
	_, body, err := c.durable.prior(ctx, c)
	if err != nil {
		return 0, err
	}
	marks, err := c.durable.agree(ctx, c, app)
	if err != nil {
		return 0, err
	}
	if err := c.durable.restore(c, app, body); err != nil {
		return 0, err
	}
	if err := c.durable.registerAgain(ctx, c, r.ledger, app); err != nil {
		return 0, err
	}
	if err := c.blocks.recover(ctx, c.durable.blocks); err != nil {
		return 0, err
	}
	c.keepCheckpoints(r, app, body)
	if err := r.ledger.recover(ctx, app, marks, true); err != nil {
		return 0, err
	}
	last := app.Zero
	if ms, ok := app.LastTime(); ok {
		last = ms
	}
	r.ledger.tickOver(dstream.Time(last))
	for _, b := range r.ledger.again() {
		// All at once, so that a batch that cannot be made again ends the start, and nothing runs.
		jobs, err := c.generate(b.time)
		if b.repeated && b.time < dstream.Time(last) && errors.Is(err, dstream.ErrForgotten) {
			c.opts.Logger.Warn("batch that was set aside cannot be run again", "batch", int64(b.time), "err", err)
			r.ledger.skip(b)
			continue
		}
		if err != nil {
			return 0, err
		}
		if b.repeated {
			jobs = slices.DeleteFunc(jobs, func(j dstream.Job) bool { return j.Stage != nil })
		}
		b.inputs, b.late = c.graph.InputInfos(b.time), true
		r.again = append(r.again, rerun{batch: b, jobs: jobs})
	}
	c.opts.Logger.Info("streaming context goes on", "app", c.opts.App, "last batch", last, "batches to run again", len(r.again),
		"rolled forward", len(app.Open)-begunOnly(app))
	return last + interval, nil
}

// begunOnly returns how many batches are begun and not prepared.
func begunOnly(app driverlog.App) (n int) {
	for _, b := range app.Open {
		if b.Prepared == 0 {
			n++
		}
	}
	return n
}

// keepCheckpoints makes batches that are committed be followed by checkpoints.
func (c *Context) keepCheckpoints(r *running, app driverlog.App, body *checkpointBody) {
	c.graph.KeepCheckpoints(true)
	c.graph.FullCheckpoints(c.opts.FullCheckpoints)
	p := &checkpointer{c: c, d: c.durable, l: r.ledger, plan: r.planning}
	held := int64(-1)
	var keep []string
	root := c.engine.rdds.Options().CheckpointDir
	if body != nil {
		p.known = dstream.Time(body.Known)
		if p.known == 0 { // no batch was left out then
			p.known = dstream.Time(body.Time) + dstream.Time(c.Interval().Milliseconds())
		}
		held = body.Batch
		_, p.files = p.written()
		p.kept = c.durable.keptCheckpoints(app, root, body, p.files, c.opts.KeepCheckpoints)
		for _, f := range filesOf(p.kept) {
			keep = append(keep, strings.SplitN(f, "/", 2)[0])
		}
	}
	var err error
	if p.stale, err = c.durable.sweep(root, keep); err != nil {
		c.opts.Logger.Warn("files of state that nothing names are not removed", "err", err)
	}
	r.ledger.checkpoints = p
	r.ledger.core.KeepCheckpoints(held, max(1, int64(checkpointEvery/c.Interval())))
}

// newLedger returns the ledger of a term.
func (c *Context) newLedger(log driverlog.Log, epoch uint64) *ledger {
	opts := protocol.Options{App: c.opts.App, Epoch: epoch, SetAside: c.opts.OnFailure.Then == SetAside,
		Repeats: c.durable != nil && c.opts.RepeatLast}
	l := newLedger(log, opts, rollForward{outputs: c.graph, app: c.opts.App, epoch: epoch, log: c.opts.Logger})
	if c.durable != nil {
		c.durable.blobs.epoch = epoch
		l.blobs = c.durable.blobs
	}
	return l
}
