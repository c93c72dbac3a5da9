package streamingcontext

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// A State is a stage in the life of a Context. It only ever grows.
type State int32

// The states of a context, in order.
const (
	Initialized State = iota // inputs, streams and outputs may be declared
	Active                   // batches are made
	Stopped                  // everything has ended
)

// String returns the state as the field writes it.
func (s State) String() string {
	switch s {
	case Initialized:
		return "INITIALIZED"
	case Active:
		return "ACTIVE"
	case Stopped:
		return "STOPPED"
	}
	return fmt.Sprintf("state %d", int32(s))
}

// A Context is a streaming program: inputs, streams and outputs are declared on it, then it is started
// and makes a batch every interval until it is stopped. It is started once.
//
// All methods may be called from any goroutine; Stop not from a listener or a batch.
type Context struct {
	opts      Options
	engine    *Engine
	graph     *dstream.Graph
	blocks    *blockLog
	receivers *receiverTracker
	pace      *pace        // nil unless batches may cover several intervals
	fileRates []*fileRate  // of inputs of files that have one; set before batches are made
	span      atomic.Int64 // how many intervals the batch covers that is generated now
	allocator *allocator   // nil unless executors follow the load; set before batches are made
	bus       *bus
	outcome   *outcome
	aside     asideList
	durable   *durable   // what outlives the process; nil unless GetOrCreate made the context
	tenure    *tenure    // of a driver of several; nil unless Drive made the context
	starting  sync.Mutex // held by Start and the first steps of Stop; taken before mu

	mu          sync.Mutex // guards the fields below
	state       State
	errs        []error            // what is wrong with options and inputs, for Start
	cancelStart context.CancelFunc // of a Start under way
	running     *running           // set while Active
	stopping    *stopping          // set by the first stop
}

// New returns a context. It starts nothing; what is wrong with opts is returned by Start, ErrClusterNeedsFolder among it.
func New(opts Options) *Context {
	c := newContext(opts)
	if opts.Cluster != nil {
		c.errs = append(c.errs, ErrClusterNeedsFolder)
	}
	return c
}

// newContext is New for those, too, whose batches outlive the process.
func newContext(opts Options) *Context {
	c := &Context{outcome: newOutcome()}
	if err := opts.Validate(); err != nil {
		c.errs = append(c.errs, err)
	}
	c.opts = opts.withDefaults()
	c.engine = opts.Engine
	if c.engine == nil {
		own := c.opts.EngineOptions
		if own.Validate() != nil {
			own = EngineOptions{} // Start will refuse; until then streams can be declared
		}
		c.engine, _ = NewEngine(own) // only refuses options that are not valid
	}
	graph, err := dstream.NewGraph(c.engine.rdds, opts.Interval)
	if err != nil {
		graph, _ = dstream.NewGraph(c.engine.rdds, time.Second) // as above
	}
	c.graph = graph
	graph.KeepPersisted(c.opts.KeepPersisted)
	c.blocks = &blockLog{limit: c.opts.MaxPendingRecords, keep: c.opts.KeepPersisted}
	c.receivers = &receiverTracker{c: c}
	c.pace = newPace(c.opts.DynamicInterval, c.graph.Interval())
	c.span.Store(1)
	c.bus = newBus(c.opts.Listeners, c.opts.ListenerQueue, c.opts.Logger)
	return c
}

// Graph returns the graph that streams are declared on. Inputs of a program's own kind are declared
// with dstream.NewInput on it.
func (c *Context) Graph() *dstream.Graph { return c.graph }

// Engine returns what the context's jobs run on.
func (c *Context) Engine() *Engine { return c.engine }

// RDDs returns the context in which RDDs are made, for data that batches are joined with.
func (c *Context) RDDs() *rdd.Context { return c.engine.rdds }

// Interval returns how far apart batches are.
func (c *Context) Interval() time.Duration { return c.graph.Interval() }

// State returns the stage the context is in. It is Stopped only once everything has ended.
func (c *Context) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// String returns the options in effect and the state.
func (c *Context) String() string { return fmt.Sprintf("%v: %v", c.State(), c.opts) }

// Remember makes every stream keep its RDDs for at least d, so that queries can look back.
//
// Errors: dstream.ErrRememberAlreadySet, dstream.ErrBadDuration; dstream.ErrContextActive and
// dstream.ErrContextStopped once the context was started.
func (c *Context) Remember(d time.Duration) error { return c.graph.Remember(d) }

// Err returns the first error that a batch, an output or the driver log met, nil if there was none. Failures of
// outputs that are run again do not count.
func (c *Context) Err() error { return c.outcome.first() }

// Pending returns the times of the batches that were begun and are not committed, ascending: those
// that are queued, running or waiting to be run again, and from a batch that ended the context on all.
func (c *Context) Pending() []dstream.Time {
	c.mu.Lock()
	r := c.running
	c.mu.Unlock()
	if r == nil {
		return nil
	}
	return r.ledger.pending()
}

// Settled waits until batch t and all before it have been made and their jobs have ended, well or
// not.
//
// Errors: ctx's error; dstream.ErrNotInitialized before Start; the error that ended the context before
// that, dstream.ErrContextStopped if there was none.
func (c *Context) Settled(ctx context.Context, t dstream.Time) error {
	c.mu.Lock()
	r := c.running
	c.mu.Unlock()
	if r == nil {
		if c.State() == Stopped {
			return dstream.ErrContextStopped
		}
		return dstream.ErrNotInitialized
	}
	err := r.ledger.awaitSettled(ctx, t, r.dropped)
	if errors.Is(err, dstream.ErrContextStopped) && c.Err() != nil {
		return c.Err()
	}
	return err
}

// AwaitListeners waits until the listeners have been told everything that has happened so far. It must not be called
// from a listener, which it would wait for.
//
// Errors: ctx's error; dstream.ErrNotInitialized before Start.
func (c *Context) AwaitListeners(ctx context.Context) error {
	if c.State() == Initialized {
		return dstream.ErrNotInitialized
	}
	select {
	case <-c.bus.told():
	case <-c.outcome.stopped: // with everything told
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// refuse keeps a fault of a declaration that the graph cannot see, for Start.
func (c *Context) refuse(op string, err error) {
	fault := &dstream.BuildError{Op: op, Site: rdd.CallSite(), Err: err}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.errs = append(c.errs, fault)
}

// faults returns what is wrong with options and inputs, joined.
func (c *Context) faults() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.errs...)
}
