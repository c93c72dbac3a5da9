package streamingcontext

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

// The scheduler is what RDDs run their jobs on, though neither package knows the other.
var _ rdd.Runner = (*scheduler.Scheduler)(nil)

// EngineOptions set up an Engine. The zero value is one executor with a slot per CPU.
type EngineOptions struct {
	// Cores is how many tasks one executor runs at once. 0 means GOMAXPROCS.
	Cores int
	// Executors is how many there are at the start. 0 means 1.
	Executors int
	// Isolate treats each executor as a process of its own: everything that goes there or comes
	// back is encoded.
	Isolate bool
	// DefaultParallelism is the partition count of shuffles and sources that name none. 0 means
	// Cores x Executors; where shuffles of RDDs, as in Transform, have as many as their largest parent.
	DefaultParallelism int
	// CheckpointDir is the folder that RDDs are checkpointed below. Empty: no stream may be checkpointed.
	CheckpointDir string
	// CheckpointStore keeps durable checkpoints in place of the file system; CheckpointDir begins their names. Nil: the file system.
	CheckpointStore rdd.CheckpointStore
	// DurableCheckpoints makes what is checkpointed survive a loss of power; a context of GetOrCreate needs it.
	DurableCheckpoints bool
	// MaxFailures is how often a task may fail before its job fails. 0 means 4, or what Scheduling says.
	MaxFailures int
	// Memory is how many bytes tasks and kept partitions may take, on all executors together; what does not
	// fit goes to files. 0 means 0.6 of what the process may use, by GOMEMLIMIT, its cgroup or the machine.
	Memory int64
	// Dir is the folder for files that hold what does not fit in memory. Empty means os.TempDir().
	Dir string
	// Scheduling has further options of the scheduler, such as pools, locality waits and speculation. What it says of
	// MaxFailures and Logger counts where those here are unset; its listeners are told as well.
	Scheduling scheduler.Options
	// SchedulerListeners are told about jobs, stages and tasks.
	SchedulerListeners []scheduler.Listener
	// Logger takes retries and losses of executors. Nil discards.
	Logger *slog.Logger
}

// Validate returns what is wrong with the options, joined.
func (o EngineOptions) Validate() error {
	var errs []error
	for _, f := range []struct {
		name  string
		value int
	}{
		{"Cores", o.Cores}, {"Executors", o.Executors}, {"DefaultParallelism", o.DefaultParallelism}, {"MaxFailures", o.MaxFailures},
	} {
		if f.value < 0 {
			errs = append(errs, fmt.Errorf("engine options: %s is negative", f.name))
		}
	}
	if o.Memory < 0 {
		errs = append(errs, errors.New("engine options: Memory is negative"))
	}
	errs = append(errs, o.Scheduling.Validate())
	return errors.Join(errs...)
}

// String returns the options with their defaults filled in.
func (o EngineOptions) String() string {
	o = o.withDefaults()
	in := ""
	if o.CheckpointStore != nil {
		in = " in a store"
	}
	return fmt.Sprintf("executors %d, cores %d, isolate %t, memory %d, dir %q, default parallelism %d, checkpoint dir %q%s, durable %t, scheduling: %s",
		o.Executors, o.Cores, o.Isolate, o.Memory, o.Dir, o.DefaultParallelism, o.CheckpointDir, in, o.DurableCheckpoints, o.scheduling())
}

func (o EngineOptions) withDefaults() EngineOptions {
	if o.Cores == 0 {
		o.Cores = runtime.GOMAXPROCS(0)
	}
	if o.Executors == 0 {
		o.Executors = 1
	}
	if o.DefaultParallelism == 0 {
		o.DefaultParallelism = o.Cores * o.Executors
	}
	return o
}

// scheduling is what the scheduler is made with.
func (o EngineOptions) scheduling() scheduler.Options {
	s := o.Scheduling
	if o.MaxFailures != 0 {
		s.MaxFailures = o.MaxFailures
	}
	if o.Logger != nil {
		s.Logger = o.Logger
	}
	s.Listeners = slices.Concat(o.SchedulerListeners, s.Listeners)
	return s
}

// An Engine is what jobs run on: executors in this process, the scheduler that gives them tasks, and
// the context in which RDDs are made. At most one streaming context is active on it at a time.
//
// All methods may be called from any goroutine.
type Engine struct {
	cluster   *local.Cluster
	scheduler *scheduler.Scheduler
	rdds      *rdd.Context
	stages    stageTimes // of the batches that run
	active    atomic.Pointer[Context]
	left      []lineage.Scope // of the context that was active before; belongs to the active one
	closing   sync.Once
	closed    chan struct{} // closed when everything has ended
}

// NewEngine returns an engine. It starts nothing: the first job does.
//
// Errors: what Validate says about opts.
func NewEngine(opts EngineOptions) (*Engine, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	parallelism := opts.DefaultParallelism // unset matters to shuffles of RDDs
	opts = opts.withDefaults()
	e := &Engine{closed: make(chan struct{})}
	e.cluster = local.New(local.Options{
		Executors: opts.Executors, Slots: opts.Cores, Isolate: opts.Isolate, Memory: opts.Memory, Dir: opts.Dir,
		ErrorCodecs: []scheduler.ErrorCodec{scheduler.ErrorCodec(rdd.NewErrorCodec())}, Logger: opts.Logger,
	})
	scheduling := opts.scheduling()
	scheduling.StageWatch = e.stages.alsoTold(scheduling.StageWatch)
	e.scheduler = scheduler.New(e.cluster, scheduling)
	var err error
	e.rdds, err = rdd.NewContext(e.scheduler, rdd.Options{
		DefaultParallelism: parallelism, Cores: opts.Cores * opts.Executors,
		CheckpointDir: opts.CheckpointDir, DurableCheckpoints: opts.DurableCheckpoints, CheckpointStore: opts.CheckpointStore,
		// A state stream's marked ancestors would else be skipped for ever, and lineage grow.
		CheckpointAllMarked: true,
		TrimJobs:            true,
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// RDDs returns the context in which RDDs are made; what a program makes through it runs beside the
// batches.
func (e *Engine) RDDs() *rdd.Context { return e.rdds }

// Cluster returns the executors.
func (e *Engine) Cluster() *local.Cluster { return e.cluster }

// start brings the executors up without waiting for the first job.
//
// Errors: ctx's; scheduler.ErrClosed.
func (e *Engine) start(ctx context.Context) error {
	if err := e.scheduler.Start(); err != nil {
		return fmt.Errorf("start executors: %w", err)
	}
	select {
	case <-e.cluster.Ready():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("start executors: %w", ctx.Err())
	}
}

// executors returns the executors that are there, oldest first.
func (e *Engine) executors() []scheduler.ExecutorInfo {
	ids := e.cluster.Executors()
	infos := make([]scheduler.ExecutorInfo, len(ids))
	for i, id := range ids {
		infos[i] = scheduler.ExecutorInfo{ID: id, Host: string(id)} // as the cluster reports them
	}
	return infos
}

// AddListener makes the scheduler tell l, too, of jobs, stages and tasks from now on; see
// scheduler.Scheduler.AddListener.
func (e *Engine) AddListener(l *scheduler.Listener) { e.scheduler.AddListener(l) }

// RemoveListener makes the scheduler forget a listener that AddListener was given.
func (e *Engine) RemoveListener(l *scheduler.Listener) { e.scheduler.RemoveListener(l) }

// Active returns the context that runs on the engine, nil if none does.
func (e *Engine) Active() *Context { return e.active.Load() }

// Close ends the jobs that run, waits for their tasks and refuses further ones. It may be called more
// than once. Contexts on the engine are to be stopped first.
func (e *Engine) Close() error {
	<-e.close()
	return nil
}

// close closes the engine and returns a channel that is closed when that is done.
func (e *Engine) close() <-chan struct{} {
	e.closing.Do(func() {
		e.rdds.Stop()
		// A task that does not return holds it up, and not everybody wants to wait for that.
		go func() {
			defer close(e.closed)
			_ = e.scheduler.Close() // it has no error to give
		}()
	})
	return e.closed
}
