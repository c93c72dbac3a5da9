package rdd

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/leat-io/leat/lineage"
)

// A Runner runs jobs. *scheduler.Scheduler is one.
//
// Actions call Run from the caller's goroutine; several may run at once. Run returns when every
// partition's result was handed to job.Done, or with the error that ended the job.
type Runner interface {
	Run(ctx context.Context, job lineage.Job) error
	// Drop forgets kept partitions, shuffle outputs and broadcasts. What is needed again is computed again.
	Drop(d lineage.Drop)
}

// Options configure a Context. The zero value works.
type Options struct {
	// DefaultParallelism is the partition count of shuffles and sources that name none. Zero leaves
	// it unset: a shuffle then takes the largest partition count among its parents, a source Cores.
	DefaultParallelism int
	// Cores is the number of tasks the runner runs at once; sources without a partition count make
	// so many partitions where DefaultParallelism is unset. Zero means 2.
	Cores int
	// CheckpointDir is the directory that Checkpoint writes below. Empty: Checkpoint is refused.
	CheckpointDir string
	// CheckpointStore keeps checkpoints under DurableCheckpoints in place of the file system; CheckpointDir begins their names.
	// What attempts that did not count have written stays in the folder of the checkpoint. Nil: folders.
	CheckpointStore CheckpointStore
	// CheckpointAllMarked also writes marked RDDs that lie above another marked one. By default a job
	// writes only the nearest marked RDD on each path.
	CheckpointAllMarked bool
	// TrimJobs plans jobs only as far up as RDDs that are persisted whole, and further when something
	// turns out to be lost. By default a job lists the stages of its whole lineage, those it skips as well;
	// for streams, whose lineage is long, that would cost more than the batch.
	TrimJobs bool
	// PlainCheckpoints writes checkpoints uncompressed.
	PlainCheckpoints bool
	// DurableCheckpoints makes a written checkpoint survive a loss of power, and says what it consists of: parts have
	// names of their own for each attempt, and a manifest, which is written last, lists them with lengths and checksums. It
	// costs three flushes more a checkpoint: of the manifest and of two folders. By default only the parts are flushed.
	DurableCheckpoints bool
	// CleanCheckpoints removes the files of a checkpoint when the RDD that wrote them cannot be reached any
	// more. By default they stay.
	CleanCheckpoints bool
	// KeepUnreachable leaves what executors hold of RDDs and broadcasts that cannot be reached any more, and the
	// registration of such accumulators, where they are. By default they are dropped after the garbage collection
	// that finds them unreachable; how often there is one is the runtime's to say, none is forced.
	KeepUnreachable bool
	// Logger is told of what goes wrong aside from jobs. Nil discards it.
	Logger *slog.Logger
}

// Validate returns an error naming each field that has no meaning.
func (o Options) Validate() error {
	var errs []error
	if o.DefaultParallelism < 0 {
		errs = append(errs, errors.New("rdd.Options.DefaultParallelism is negative"))
	}
	if o.Cores < 0 {
		errs = append(errs, errors.New("rdd.Options.Cores is negative"))
	}
	if o.CheckpointStore != nil && o.CleanCheckpoints {
		errs = append(errs, errors.New("rdd.Options.CleanCheckpoints does not go with a CheckpointStore"))
	}
	return errors.Join(errs...)
}

// A Context is where RDDs are made: it numbers them and knows the runner of their jobs. Its
// methods and all functions of this package may be called from any goroutine.
type Context struct {
	*shared
	scope lineage.Scope
	site  string // what new nodes name as their call site; empty: the caller's file and line
	last  *atomic.Int32
}

// shared is what all views of a context have in common.
type shared struct {
	runner  Runner
	opts    Options
	stopped atomic.Bool
	marked  atomic.Int64 // RDDs marked for a checkpoint and not written yet
	values  values       // broadcasts and accumulators

	unreachable unreachable

	declared atomic.Bool // whether an RDD is declared to be less than determinate
}

// NewContext returns a context whose actions run on runner.
func NewContext(runner Runner, opts Options) (*Context, error) {
	if runner == nil {
		return nil, errors.New("rdd.NewContext: nil runner")
	}
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if opts.Cores == 0 {
		opts.Cores = 2
	}
	return &Context{shared: &shared{runner: runner, opts: opts}, last: new(atomic.Int32)}, nil
}

// In returns a view of the context for one scope: nodes made through it are numbered within scope
// from first+1 up, name site as the place they were built, and go when the scope is forgotten. Views of
// one scope must not give the same number twice while both nodes are in use.
func (c *Context) In(scope lineage.Scope, site string, first int32) *Context {
	view := &Context{shared: c.shared, scope: scope, site: site, last: new(atomic.Int32)}
	view.last.Store(first)
	return view
}

// Forget drops what executors keep for the nodes of the scopes: persisted partitions and shuffle
// outputs. What is needed again later is computed again.
func (c *Context) Forget(scopes ...lineage.Scope) { c.runner.Drop(lineage.Drop{Scopes: scopes}) }

// Options returns the options the context runs with, defaults filled in.
func (c *Context) Options() Options { return c.opts }

// Stop ends the context: later actions return ErrStopped. Jobs that run go on.
func (c *Context) Stop() { c.stopped.Store(true) }

// Parallelism is the default partition count of sources: DefaultParallelism, or Cores where that
// is unset.
func (c *Context) Parallelism() int {
	if c.opts.DefaultParallelism > 0 {
		return c.opts.DefaultParallelism
	}
	return c.opts.Cores
}

func (c *Context) newID() lineage.NodeID {
	return lineage.NodeID{Scope: c.scope, Ordinal: c.last.Add(1)}
}

// run runs a job on the context's runner, then writes what was marked for a checkpoint.
func (c *Context) run(ctx context.Context, job lineage.Job) error {
	if inTask(ctx) {
		return ErrNestedJob
	}
	if c.stopped.Load() {
		return ErrStopped
	}
	if b, ok := baseOf(job.Final); ok && b.home != c.shared {
		return &BuildError{Op: b.op, Site: b.site, Err: ErrDifferentContexts}
	}
	job.Scope = c.scope
	job.Trimmed = c.opts.TrimJobs
	job.Properties = lineage.PropertiesOf(ctx)
	if job.Site == "" {
		job.Site = c.callSite()
	}
	job.Update = c.update
	c.Sweep()
	fresh := touch(job.Final)
	if err := c.runner.Run(ctx, job); err != nil {
		return err
	}
	for _, b := range fresh {
		b.evaluated.Store(true)
	}
	return writeMarked(ctx, c, job.Final)
}
