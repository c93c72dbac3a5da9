package local

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/executor"
)

// A Cluster is a set of executors in this process. It serves one scheduler.
type Cluster struct {
	opts    Options
	codecs  []scheduler.ErrorCodec // of opts, and the executor's
	work    *work
	ready   chan struct{} // closed when the first executors are there
	folder  *folder
	memory  int64 // of one executor, 0: no limit; set by Run
	workers sync.WaitGroup

	// mu guards what follows. The scheduler's sink and the executors' stores may be called under it,
	// as neither calls back.
	mu      sync.Mutex
	ctx     context.Context // of Run, while it runs; tasks' contexts descend from it
	sink    scheduler.Sink  // set by Run
	nodes   map[scheduler.ExecutorID]*node
	order   []scheduler.ExecutorID
	added   int // executors ever
	stopped bool
	running map[scheduler.TaskID]*launch
}

// A node is one live executor.
type node struct {
	*executor.Executor
	ctx    context.Context
	cancel context.CancelCauseFunc
	tasks  chan *launch // holds as many as there are slots, which is as many as are ever sent
	dead   bool         // guarded by Cluster.mu
}

var (
	errKilled  = errors.New("killed")
	errStopped = errors.New("cluster is stopped")
	errTwice   = errors.New("a cluster serves one scheduler, once")
)

// New returns a cluster. Its executors exist, but run nothing before Run.
//
// Errors: what Validate says about opts is returned by Run.
func New(opts Options) *Cluster {
	opts = opts.withDefaults()
	return &Cluster{opts: opts, codecs: append([]scheduler.ErrorCodec{executor.FileErrorCodec()}, opts.ErrorCodecs...),
		work: newWork(), ready: make(chan struct{}), folder: newFolder(opts.Dir), nodes: map[scheduler.ExecutorID]*node{},
		running: map[scheduler.TaskID]*launch{}}
}

// Run serves the executors until ctx is done, then cancels the tasks and waits for them. The
// scheduler calls it.
func (c *Cluster) Run(ctx context.Context, sink scheduler.Sink) error {
	if err := c.opts.Validate(); err != nil {
		return err
	}
	c.mu.Lock()
	if c.sink != nil {
		c.mu.Unlock()
		return errTwice
	}
	c.ctx, c.sink = ctx, sink
	c.memory = share(c.opts.Memory, c.opts.Executors, thisMachine())
	for c.added < c.opts.Executors {
		c.add()
	}
	close(c.ready)
	c.mu.Unlock()
	if n := clean(c.folder.dir); n > 0 {
		c.opts.Logger.Info("folders of killed processes removed", "dir", c.folder.dir, "folders", n)
	}
	for waiting := true; waiting; {
		select {
		case <-c.folder.sweep:
			c.folder.empty()
		case <-ctx.Done():
			waiting = false
		}
	}
	c.mu.Lock()
	c.stopped = true
	for _, n := range c.nodes {
		close(n.tasks) // Launch sends under mu and not once stopped is set
	}
	c.mu.Unlock()
	c.workers.Wait()
	// What the executors hold goes with them, also where somebody still knows the cluster.
	c.mu.Lock()
	for _, n := range c.nodes {
		if err := n.Close(); err != nil {
			c.opts.Logger.Warn("files not removed", "executor", string(n.ID()), "error", err)
		}
	}
	c.mu.Unlock()
	if err := c.folder.close(); err != nil {
		c.opts.Logger.Warn("folder not removed", "dir", c.folder.dir, "error", err)
	}
	return nil
}

// Ready returns a channel that is closed when Run has made the first executors.
func (c *Cluster) Ready() <-chan struct{} { return c.ready }

// Add brings a new executor and returns its id. Before Run it is one more to begin with; once the
// cluster has stopped it is empty.
func (c *Cluster) Add() scheduler.ExecutorID {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.stopped:
		return ""
	case c.sink == nil:
		c.opts.Executors++
		return name(c.opts.Executors - 1)
	}
	return c.add()
}

func name(i int) scheduler.ExecutorID { return scheduler.ExecutorID(fmt.Sprintf("local-%d", i)) }

// add makes an executor and starts its slots. mu is held.
func (c *Cluster) add() scheduler.ExecutorID {
	id := name(c.added)
	c.added++
	n := &node{tasks: make(chan *launch, c.opts.Slots)}
	n.ctx, n.cancel = context.WithCancelCause(c.ctx)
	o := executor.Options{ID: id, Isolate: c.opts.Isolate, Memory: c.memory, Peers: peers{c}, Resolver: c.opts.Resolver,
		Folder: func() (string, error) { return c.folder.executor(id) }, Remove: c.folder.discard,
		MayCommit: func(task scheduler.TaskID) bool { return c.mayCommit(n, task) },
		Lost:      func(blocks []scheduler.BlockID) { c.blocksLost(n, blocks) }}
	if o.Resolver == nil {
		o.Resolver = c.work
	}
	n.Executor = executor.New(o)
	c.nodes[id] = n
	c.order = append(c.order, id)
	for range c.opts.Slots {
		c.workers.Go(func() { c.serve(n) })
	}
	c.sink.ExecutorAdded(scheduler.ExecutorInfo{ID: id, Host: string(id), Slots: c.opts.Slots})
	return id
}

// Kill loses an executor, as a crash of its process would: its tasks are cancelled and their reports
// ignored, its blocks and files are gone. It does not count against the tasks. It reports whether there was
// such an executor.
func (c *Cluster) Kill(id scheduler.ExecutorID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[id]
	if n == nil || c.stopped {
		return false
	}
	n.dead = true
	delete(c.nodes, id)
	for i, o := range c.order {
		if o == id {
			c.order = append(c.order[:i:i], c.order[i+1:]...)
			break
		}
	}
	n.cancel(&scheduler.ExecutorLostError{Executor: id, Err: errKilled})
	if err := n.Close(); err != nil {
		c.opts.Logger.Warn("files not removed", "executor", string(id), "error", err)
	}
	close(n.tasks)
	c.opts.Logger.Info("executor killed", "executor", string(id))
	c.sink.ExecutorLost(id, scheduler.Loss{Err: errKilled, Blameless: true})
	return true
}

// Executors returns the live executors, oldest first; none before Run.
func (c *Cluster) Executors() []scheduler.ExecutorID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]scheduler.ExecutorID(nil), c.order...)
}

// Blocks returns how many shuffle outputs and persisted partitions all executors hold.
func (c *Cluster) Blocks() (mapOutputs, persisted int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		m, p := n.Executor.Blocks()
		mapOutputs, persisted = mapOutputs+m, persisted+p
	}
	return mapOutputs, persisted
}

// blocksLost passes on that an executor has lost partitions. The report of whatever it had stored them
// for has been made, or will not name them: finish asks under the same lock.
func (c *Cluster) blocksLost(n *node, blocks []scheduler.BlockID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !n.dead {
		c.sink.BlocksLost(n.ID(), blocks)
	}
}

// mayCommit asks the scheduler. The lock is not held then: it may take the scheduler a while.
func (c *Cluster) mayCommit(n *node, task scheduler.TaskID) bool {
	c.mu.Lock()
	dead, sink := n.dead, c.sink
	c.mu.Unlock()
	return !dead && sink.MayCommit(task)
}

// Drop makes all executors forget blocks.
func (c *Cluster) Drop(d lineage.Drop) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		n.Executor.Drop(d)
	}
}

// node returns a live executor.
func (c *Cluster) node(id scheduler.ExecutorID) (*node, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch n := c.nodes[id]; {
	case c.stopped:
		return nil, errStopped
	case n == nil:
		return nil, &scheduler.ExecutorLostError{Executor: id}
	default:
		return n, nil
	}
}
