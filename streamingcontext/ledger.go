package streamingcontext

import (
	"context"
	"fmt"
	"sync"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/streamingcontext/internal/protocol"
)

// A ledger does what the batch protocol says: it writes the decisions about batches into the driver log, commits what sink
// outputs have staged, and lets those wait who must. What is decided, and when, is in package protocol.
type ledger struct {
	log     driverlog.Log
	app     string
	epoch   uint64
	forward rollForward
	blobs   *blobs // where what is too long for the log goes; nil where nothing outlives the process
	// committed is called for each batch after it is committed, in order of the batches.
	committed   func(id int64, t dstream.Time)
	checkpoints *checkpointer // nil where nothing outlives the process

	deciding sync.Mutex // held along a chain of decisions about ended batches; taken before mu

	mu      sync.Mutex // guards core and the fields below
	core    *protocol.Core
	batches []*batch      // that are open, oldest first; those done may still be at the front
	changed chan struct{} // closed by the next change; nil while nobody waits
}

// newLedger returns the ledger of a term.
func newLedger(log driverlog.Log, opts protocol.Options, forward rollForward) *ledger {
	return &ledger{log: log, app: opts.App, epoch: opts.Epoch, forward: forward, core: protocol.New(opts)}
}

// state returns what the log knows of the application.
func (l *ledger) state(ctx context.Context) (driverlog.App, error) {
	state, err := l.log.State(ctx)
	if err != nil {
		return driverlog.App{}, err
	}
	return state.App(l.app), nil
}

// recover makes visible what an earlier term has prepared. It gives up what that has begun only, unless the term goes on from its input.
func (l *ledger) recover(ctx context.Context, app driverlog.App, marks []protocol.Mark, goesOn bool) error {
	l.deciding.Lock()
	defer l.deciding.Unlock()
	return l.perform(ctx, l.event(func(c *protocol.Core) protocol.Action {
		if err := c.Read(app, marks, goesOn); err != nil {
			return protocol.Action{Do: protocol.End, Err: err}
		}
		return c.Recover()
	}), nil)
}

// again returns the batches that an earlier term has left to be run again, in their order.
func (l *ledger) again() []*batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []*batch
	for _, p := range l.core.Again() {
		b := &batch{id: p.ID, time: dstream.Time(p.Time), repeated: p.Repeated}
		all = append(all, b)
		if !p.Repeated {
			l.batches = append(l.batches, b)
		}
	}
	return all
}

// skip drops a repeated batch that cannot be made again.
func (l *ledger) skip(b *batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.core.Skip(b.id)
}

// keep returns the first batch whose inputs a checkpoint of batch id needs.
func (l *ledger) keep(app *driverlog.App, id int64, needed dstream.Time) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.core.Keep(app, id, int64(needed))
}

// event gives one to the core.
func (l *ledger) event(f func(c *protocol.Core) protocol.Action) protocol.Action {
	l.mu.Lock()
	defer l.mu.Unlock()
	return f(l.core)
}

// perform does an action of the chain of decisions and all that follow. told is called for what the chain tells others.
func (l *ledger) perform(ctx context.Context, a protocol.Action, told func()) error {
	for a.Do != 0 {
		if a.Do == protocol.End {
			return a.Err
		}
		ans := l.do(ctx, a, told)
		l.mu.Lock()
		a = l.core.Answered(a, ans)
		l.mu.Unlock()
	}
	return nil
}

// do does one action.
func (l *ledger) do(ctx context.Context, a protocol.Action, told func()) protocol.Answer {
	switch a.Do {
	case protocol.Propose:
		return protocol.Answer{Err: l.propose(ctx, a)}
	case protocol.WriteBlob:
		reference, err := l.blobs.write(a.Blob)
		if err != nil {
			err = fmt.Errorf("manifest of batch %s: %w", dstream.Time(a.Batch.Time), err)
		}
		return protocol.Answer{Data: reference, Err: err}
	case protocol.ReadBlob:
		data, err := l.blobs.read(a.Blob)
		if err != nil {
			err = fmt.Errorf("manifest of batch id %d: %w", a.Batch.ID, err)
		}
		return protocol.Answer{Data: data, Err: err}
	case protocol.CommitOutput:
		return l.forward.commit(ctx, a)
	case protocol.CleanOutput:
		l.forward.clean(ctx, a)
	case protocol.Planned, protocol.Tell:
		told()
	case protocol.Forget:
		l.committed(a.Batch.ID, dstream.Time(a.Batch.Time))
		return protocol.Answer{Changed: l.checkpoints != nil && l.checkpoints.changed()}
	case protocol.Checkpoint:
		return l.checkpoints.write(ctx, a.Batch)
	case protocol.Sweep:
		l.checkpoints.wrote(ctx, a.Batch, a.Keep)
	}
	return protocol.Answer{}
}

// propose enters commands.
func (l *ledger) propose(ctx context.Context, a protocol.Action) (err error) {
	first := a.Commands[0]
	if len(a.Commands) == 1 {
		_, err = l.log.Propose(ctx, first)
	} else {
		_, err = l.log.ProposeAll(ctx, a.Commands)
	}
	switch {
	case err == nil:
		return nil
	case first.Kind == driverlog.Begin:
		return fmt.Errorf("begin batch %s: %w", dstream.Time(a.Batch.Time), err)
	case first.Kind == driverlog.Checkpointed:
		return fmt.Errorf("checkpoint of batch %s: %w", dstream.Time(a.Batch.Time), err)
	}
	return fmt.Errorf("%s of batch id %d: %w", first.Kind, a.Batch.ID, err)
}

// begin records that batch t starts with these inputs.
func (l *ledger) begin(ctx context.Context, t dstream.Time, inputs []driverlog.Input) (*batch, error) {
	a := l.event(func(c *protocol.Core) protocol.Action { return c.Begin(int64(t), inputs) })
	if a.Do == protocol.Propose {
		ans := l.do(ctx, a, nil)
		l.mu.Lock()
		defer l.mu.Unlock()
		if a = l.core.Answered(a, ans); a.Do == protocol.Run {
			b := &batch{id: a.Batch.ID, time: t}
			l.batches = append(l.batches, b)
			return b, nil
		}
	}
	return nil, a.Err
}

// whole records and commits a batch that has nothing to run, in one step of the log; begun is called when that is done. It
// returns false, and has done nothing, where batches before it are open or under way.
func (l *ledger) whole(ctx context.Context, t dstream.Time, inputs []driverlog.Input, begun func()) (bool, error) {
	if !l.deciding.TryLock() { // whoever has it may wait for the caller
		return false, nil
	}
	defer l.deciding.Unlock()
	a := l.event(func(c *protocol.Core) protocol.Action { return c.Whole(int64(t), inputs) })
	done := a.Do != 0
	err := l.perform(ctx, a, begun)
	return done && err == nil, err
}

// end takes note that all jobs of b have ended, and commits what can be committed now: b and those behind
// it that waited for it. tell is called just before b counts as settled. It returns the error of the oldest open
// batch where that has failed and stays: all before it are done then.
func (l *ledger) end(ctx context.Context, b *batch, tell func()) (failed, err error) {
	l.deciding.Lock()
	defer l.deciding.Unlock()
	outcome := b.outcome()
	err = l.perform(ctx, l.event(func(c *protocol.Core) protocol.Action { return c.JobsEnded(b.id, b.repeated, outcome) }), tell)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.core.Over() == nil {
		failed, err = err, nil
	}
	done := len(l.batches) - len(l.core.Open()) // these are gone from the front
	n := copy(l.batches, l.batches[max(done, 0):])
	clear(l.batches[n:])
	l.batches = l.batches[:n]
	l.change()
	return failed, err
}
