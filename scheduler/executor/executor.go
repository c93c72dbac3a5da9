package executor

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

// Options set up an executor. ID is required; Peers is where there is more than one executor.
type Options struct {
	ID scheduler.ExecutorID
	// Isolate keeps and returns blocks as bytes.
	Isolate bool
	// Peers reads what other executors hold; nil finds nothing there.
	Peers Peers
	// Resolver finds the work of a task that does not carry it; nil finds none.
	Resolver Resolver
}

// Peers reads blocks of other executors.
//
// It is called from the goroutines of tasks, also several at once, and may block until ctx is done.
// What it returns is shared and must not be changed. An error means that the block cannot be had.
type Peers interface {
	Bucket(ctx context.Context, from scheduler.ExecutorID, id lineage.ShuffleID, mapPart, reduce int) ([]Held, error)
	Persisted(ctx context.Context, from scheduler.ExecutorID, id scheduler.BlockID) ([]Held, error)
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
	opts  Options
	store *store
}

// New returns an executor with an empty store.
func New(opts Options) *Executor {
	return &Executor{opts: opts, store: newStore()}
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
	env := &env{executor: e, task: task}
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
	if env.fetch != nil {
		err = env.fetch
	}
	for _, s := range env.scratch {
		_ = s.Close() // what is left of it is only room taken
	}
	end.Cached, end.Metrics = env.stored, env.metrics
	if err == nil {
		err = e.updates(env, end)
	}
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
	end.ResultData, err = encode("result", work.Job.Codec, block)
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

// write runs a map task and keeps its buckets.
func (e *Executor) write(ctx context.Context, env *env, s *lineage.Shuffle) (scheduler.MapStatus, error) {
	part := env.task.Attempt.Partition
	out := &buckets{shuffle: s, isolate: e.opts.Isolate, held: make([][]Held, s.NumReducers), sizes: make([]int64, s.NumReducers)}
	if err := s.Write(ctx, env, part, out); err != nil {
		return scheduler.MapStatus{}, err
	}
	e.store.putBuckets(s.ID, part, out.held)
	return scheduler.MapStatus{Sizes: scheduler.SizesOf(out.sizes)}, nil
}

// A buckets takes what one map task writes.
type buckets struct {
	shuffle *lineage.Shuffle
	isolate bool
	held    [][]Held
	sizes   []int64
}

// Put keeps a block.
func (o *buckets) Put(reduce int, b lineage.Block) error {
	if reduce < 0 || reduce >= len(o.held) {
		return &scheduler.CodecError{Doing: fmt.Sprintf("write shuffle %s", o.shuffle.ID),
			Err: fmt.Errorf("bucket %d of %d", reduce, len(o.held))}
	}
	h := Held{Block: b}
	if o.isolate {
		data, err := encode("bucket", o.shuffle.Codec, b)
		if err != nil {
			return err
		}
		h = Held{Data: data}
	}
	o.held[reduce] = append(o.held[reduce], h)
	o.sizes[reduce] += max(o.shuffle.Codec.Size(b), 1)
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

// Bucket returns a shuffle bucket this executor holds.
func (e *Executor) Bucket(id lineage.ShuffleID, mapPart, reduce int) ([]Held, bool) {
	return e.store.bucket(id, mapPart, reduce)
}

// Persisted returns a persisted partition this executor holds. One that is being computed is not
// there yet.
func (e *Executor) Persisted(id scheduler.BlockID) ([]Held, bool) { return e.store.peek(id) }

// Drop forgets blocks.
func (e *Executor) Drop(d lineage.Drop) { e.store.drop(d) }

// Clear forgets all blocks.
func (e *Executor) Clear() { e.store.clear() }

// Blocks returns how many shuffle outputs and persisted partitions the executor holds.
func (e *Executor) Blocks() (mapOutputs, persisted int) { return e.store.count() }

// encode turns a block into bytes that are never nil.
func encode(what string, codec lineage.Codec, b lineage.Block) ([]byte, error) {
	if codec == nil {
		return nil, &scheduler.CodecError{Doing: "encode " + what, Err: errors.New("there is no codec for its type")}
	}
	data, err := codec.Encode(b)
	if err != nil {
		return nil, &scheduler.CodecError{Doing: "encode " + what, Err: err}
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// open returns the block that h holds.
func (h Held) open(codec lineage.Codec) (lineage.Block, error) {
	if h.Data == nil {
		return h.Block, nil
	}
	if codec == nil {
		return nil, errors.New("decode block: there is no codec for its type")
	}
	b, err := codec.Decode(h.Data)
	if err != nil {
		return nil, fmt.Errorf("decode block of %d bytes: %w", len(h.Data), err)
	}
	return b, nil
}
