package executor

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

// Options set up an executor. ID is required; Peers is where there is more than one executor.
type Options struct {
	ID scheduler.ExecutorID
	// Isolate keeps and returns blocks as bytes.
	Isolate bool
	// Memory is how many bytes tasks may reserve and blocks may take, together. 0 is without a limit.
	Memory int64
	// Folder returns the folder for files, which the executor removes when it is closed. It is called when
	// the first file is made. nil makes one in the system's folder for temporary files.
	Folder func() (string, error)
	// Remove removes files that are not needed any more; it may do so later. nil removes them at once.
	Remove func(paths ...string)
	// Peers reads what other executors hold; nil finds nothing there.
	Peers Peers
	// Resolver finds the work of a task that does not carry it; nil finds none.
	Resolver Resolver
	// MayCommit says whether an attempt may make its output visible. It is called from the goroutines of tasks.
	// nil lets all of them.
	MayCommit func(id scheduler.TaskID) bool
	// Lost is told of persisted partitions that the executor no longer holds, other than because it was told to
	// drop them: pushed out, or damaged. It is called from the goroutines of tasks, with no lock held.
	Lost func(blocks []scheduler.BlockID)
}

// Peers reads blocks of other executors and sends them copies.
//
// It is called from the goroutines of tasks, also several at once, and may block until ctx is done.
// What it yields is shared and must not be changed. An error of yield ends it and is returned; any other
// means that the block cannot be had.
type Peers interface {
	// Bucket yields the blocks of a bucket from number first on.
	Bucket(ctx context.Context, from scheduler.ExecutorID, id lineage.ShuffleID, mapPart, reduce, first int, yield func(Held) error) error
	// Persisted yields the blocks of a persisted partition.
	Persisted(ctx context.Context, from scheduler.ExecutorID, id scheduler.BlockID, yield func(Held) error) error
	// Replicate stores so many copies of a partition of from on other executors, fewer if it must, and returns
	// which. blocks yields the partition's blocks, as often as it is called.
	Replicate(ctx context.Context, from scheduler.ExecutorID, id scheduler.BlockID, p lineage.Persistence, copies int, blocks func(yield func(Held) error) error) []scheduler.ExecutorID
}

// A Resolver finds the work that an address names. It is called from the goroutines of tasks, also
// several at once. An error ends the attempt.
type Resolver interface {
	Resolve(address scheduler.Address) (Work, error)
}

// Work is what a task does: exactly one is set.
type Work struct {
	Job     *lineage.Job
	Shuffle *lineage.Shuffle
}

// An Executor runs tasks and holds blocks.
type Executor struct {
	opts       Options
	pool       *pool
	disk       *disk
	store      *store
	broadcasts broadcasts
}

// New returns an executor with an empty store. It makes no file before there is something to write.
func New(opts Options) *Executor {
	e := &Executor{opts: opts, pool: newPool(opts.Memory), disk: newDisk(opts.Folder, opts.Remove)}
	e.store = newStore(e.pool, e.disk)
	e.pool.evict = func(need int64, owner *lineage.ShuffleID, all bool, m *lineage.Metrics) int64 {
		freed, lost := e.store.evict(need, owner, all, m)
		e.lost(lost)
		return freed
	}
	return e
}

func (e *Executor) lost(blocks []scheduler.BlockID) {
	if len(blocks) > 0 && e.opts.Lost != nil {
		e.opts.Lost(blocks)
	}
}

// ID returns the executor's name.
func (e *Executor) ID() scheduler.ExecutorID { return e.opts.ID }

// Run runs one attempt on the calling goroutine and returns its report.
//
// The attempt sees ctx; Run returns when its code does. If the code ends the goroutine with
// runtime.Goexit, as a failing test does, Run does not return.
//
// Errors: the report's Err is a *scheduler.FetchError if an output could not be had, else a
// *scheduler.TaskError.
func (e *Executor) Run(ctx context.Context, task *scheduler.Task) *scheduler.TaskEnd {
	env := &env{executor: e, task: task, begun: time.Now()}
	defer env.end() // also if the goroutine ends
	end := &scheduler.TaskEnd{Task: task.ID}
	work := Work{Job: task.Job, Shuffle: task.Shuffle}
	var err error
	if work.Job == nil && work.Shuffle == nil {
		work, err = e.resolve(task.Address)
	}
	if err == nil {
		err = e.attempt(ctx, env, work, end)
	}
	// The task's code has seen the failure if there was one, and may have gone on regardless.
	switch {
	case env.fetch != nil:
		err = env.fetch
	case err == nil && env.denied != nil:
		err = env.denied
	}
	if err == nil {
		err = e.updates(env, end)
	}
	env.metrics.PeakMemory = env.share.peak
	env.metrics.RunTime = int64(time.Since(env.begun))
	end.Cached, end.Metrics = env.stored, env.metrics
	if err != nil {
		end.Result, end.ResultData, end.Status, end.Updates = nil, nil, scheduler.MapStatus{}, nil
		end.Err = e.failure(task, work, err)
	}
	return end
}

// resolve finds work by address and refuses what does not fit it.
func (e *Executor) resolve(address scheduler.Address) (Work, error) {
	if e.opts.Resolver == nil {
		return Work{}, &scheduler.CodecError{Doing: "resolve task", Err: errors.New("the executor has no resolver")}
	}
	work, err := e.opts.Resolver.Resolve(address)
	if err != nil {
		return Work{}, fmt.Errorf("resolve %s of stage %d: %w", address.Name, address.Stage, err)
	}
	if address.Map != (work.Shuffle != nil) || address.Map == (work.Job != nil) {
		return Work{}, &scheduler.CodecError{Doing: "resolve task", Err: errors.New("map and result work mixed up")}
	}
	return work, nil
}

// attempt does the work. It is the one place where panics of user code end.
func (e *Executor) attempt(ctx context.Context, env *env, work Work, end *scheduler.TaskEnd) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &scheduler.PanicError{Value: fmt.Sprint(v), Stack: string(debug.Stack())}
		}
	}()
	if work.Shuffle != nil {
		end.Status, err = e.write(ctx, env, work.Shuffle)
		return err
	}
	block, err := work.Job.Run(ctx, env, env.task.Attempt.Partition)
	if err != nil {
		return err
	}
	if !e.opts.Isolate || block == nil {
		end.Result = block
		return nil
	}
	defer timed(&env.metrics.EncodeTime)()
	end.ResultData, err = encode("result", work.Job.Codec, block)
	env.metrics.ResultBytes = int64(len(end.ResultData))
	return err
}

// updates adds to a report what the task has added to accumulators.
func (e *Executor) updates(env *env, end *scheduler.TaskEnd) error {
	for _, p := range env.parts {
		u := lineage.Update{ID: p.of.ID, Name: p.of.Name, Value: p.value}
		if e.opts.Isolate {
			var err error
			u.Value = nil
			if u.Data, err = encode("accumulator", p.of.Codec, p.value); err != nil {
				return err
			}
		}
		end.Updates = append(end.Updates, u)
	}
	return nil
}

// failure says where an attempt failed. The methods of an error may be the program's, and panic: such an
// error is replaced, so that nobody who looks at it later does.
func (e *Executor) failure(task *scheduler.Task, work Work, err error) (failure error) {
	at := task.Attempt
	te := &scheduler.TaskError{Job: at.Job, Stage: at.Stage, Partition: at.Partition, Attempt: at.Number,
		Executor: e.opts.ID, Err: err}
	var final lineage.Node
	switch {
	case work.Job != nil:
		final = work.Job.Final
	case work.Shuffle != nil:
		final = work.Shuffle.Parent
	}
	if final != nil {
		te.Op, te.Site = final.Op(), final.Site()
	}
	defer func() {
		if v := recover(); v != nil {
			te.Stack = string(debug.Stack())
			te.Err = &scheduler.PanicError{Value: fmt.Sprintf("in a method of an error (%v): %v", err, v), Stack: te.Stack}
			failure = te
		}
	}()
	var fetch *scheduler.FetchError
	if errors.As(err, &fetch) {
		return err
	}
	_ = scheduler.Retryable(err) // the scheduler asks this too
	var p *scheduler.PanicError
	if errors.As(err, &p) {
		te.Stack = p.Stack
	}
	return te
}
