package protocol

import (
	"errors"
	"slices"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// Options of a Core.
type Options struct {
	App      string
	Epoch    uint64 // of the term
	SetAside bool   // batches that failed are given up; else they stay, and all behind them
	Repeats  bool   // batches that were set aside are run again by the next term
	// MaxManifest is how long a manifest may be that is not in a blob. 0 means what the driver log takes.
	MaxManifest int
}

// ErrOrder ends a term whose driver gave an event that cannot come now.
var ErrOrder = errors.New("batch protocol: event out of order")

// A Core is the protocol of one term of one application: what is open, and what is to be done next. The batches of the term are begun in
// one chain of actions, by Begin; all else is in another: Recover, Whole and JobsEnded start it, one after the other. An action of each
// chain may be under way at a time. What ends with anything but what was hoped for ends the term, and after that there is nothing to do.
//
// One goroutine at a time calls methods.
type Core struct {
	opts Options

	next     int64    // the id of the next batch
	open     []*batch // begun and not committed, oldest first
	repeated []*batch // committed in an earlier term, to be run again
	owed     []int64  // batches that were set aside, ascending
	marks    []Mark   // of prepared batches, by output
	ticked   int64    // the last batch time whose generation is over
	halted   bool     // no more batches may begin
	over     error    // why the term has ended

	checkpoints bool
	period      int64 // batches between checkpoints at most
	held        int64 // the batch of the last checkpoint

	begin  *batch // of the Begin that is under way
	inputs [1]driverlog.Command

	work work // the other chain
	cmds [3]driverlog.Command
}

// batch is one that is begun, on its way to being committed.
type batch struct {
	Batch
	ended   bool // all its jobs have, for good
	settled bool // ended and, if its turn has come, committed
	outcome Outcome
}

// An Outcome is what the jobs of a batch came to.
type Outcome struct {
	Jobs int
	// Err is why the batch failed, nil if it did not.
	Err      error
	Failures []OutputFailure // in the order of outputs; none where the batch could not be generated
	Staged   []Staged        // by output
}

// An OutputFailure is an output that failed.
type OutputFailure struct {
	Output int
	Err    error
}

// New returns the protocol of a term. Read comes before all else.
func New(opts Options) *Core {
	if opts.MaxManifest == 0 {
		opts.MaxManifest = driverlog.MaxPayload
	}
	return &Core{opts: opts, held: -1}
}

// Epoch returns that of the term.
func (c *Core) Epoch() uint64 { return c.opts.Epoch }

// KeepCheckpoints makes batches that are committed be followed by checkpoints: where state was written, and after so many batches.
// held is the batch of the last one, -1 if there is none.
func (c *Core) KeepCheckpoints(held, period int64) {
	c.checkpoints, c.held, c.period = true, held, period
}

// Over returns why the term has ended, as far as the protocol knows, nil if it has not.
func (c *Core) Over() error { return c.over }

// Halt lets no more batches begin.
func (c *Core) Halt() { c.halted = true }

// Room reports whether another batch may begin: not while too many are open, nor after one has failed that the term ends for.
func (c *Core) Room() bool { return len(c.open) < driverlog.Window && !c.halted }

// TickOver says that the generation of the batch of a time is over, whatever came of it.
func (c *Core) TickOver(ms int64) { c.ticked = max(c.ticked, ms) }

// Settled reports whether the batch of a time and all before it are generated and their jobs have ended.
func (c *Core) Settled(ms int64) bool {
	unsettled := func(b *batch) bool { return b.Time <= ms && !b.settled }
	return c.ticked >= ms && !slices.ContainsFunc(c.open, unsettled) && !slices.ContainsFunc(c.repeated, unsettled)
}

// Open returns the batches begun and not committed, oldest first.
func (c *Core) Open() []Batch {
	all := make([]Batch, len(c.open))
	for i, b := range c.open {
		all[i] = b.Batch
	}
	return all
}

// Owed returns the batches that were set aside and are to be run again, ascending.
func (c *Core) Owed() []int64 { return slices.Clone(c.owed) }

// Answered takes what came of an action and returns the next one of its chain.
func (c *Core) Answered(a Action, ans Answer) Action {
	switch {
	case c.over != nil:
		return c.end(c.over)
	case ans.Err != nil && !ans.Again:
		return c.fail(ans.Err)
	case a.lane == planning:
		return c.begun()
	}
	return c.worked(a, ans)
}

// fail ends the term.
func (c *Core) fail(err error) Action {
	c.over = err
	c.work = work{}
	c.begin = nil
	return c.end(err)
}

func (c *Core) end(err error) Action { return Action{Do: End, Err: err} }

// command returns one of the term about a batch.
func (c *Core) command(kind driverlog.Kind, id int64) driverlog.Command {
	return driverlog.Command{Kind: kind, Epoch: c.opts.Epoch, App: c.opts.App, Batch: id}
}
