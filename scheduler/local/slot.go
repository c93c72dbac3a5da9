package local

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

// A launch is an attempt on its way through a slot.
type launch struct {
	task *scheduler.Task
	data []byte // the task's address as bytes, under Isolate
	err  error  // why it cannot be sent
	ctx  context.Context
	stop context.CancelCauseFunc
}

var (
	errCanceled = errors.New("task canceled")
	errGoexit   = errors.New("the task's code ended its goroutine")
)

// Launch hands an attempt to a slot of its executor.
func (c *Cluster) Launch(task *scheduler.Task) {
	l := &launch{task: task}
	if c.opts.Isolate {
		c.work.add(task)
		l.data, l.err = scheduler.EncodeTask(task)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[task.Executor]
	if n == nil || c.stopped {
		if c.opts.Isolate {
			c.work.remove(task)
		}
		return // its loss has been reported
	}
	l.ctx, l.stop = context.WithCancelCause(n.ctx)
	c.running[task.ID] = l
	n.tasks <- l
}

// Cancel cancels the context of an attempt.
func (c *Cluster) Cancel(id scheduler.TaskID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.running[id]; l != nil {
		l.stop(errCanceled)
	}
}

// serve is the goroutine of a slot: it runs attempts until the executor is gone.
func (c *Cluster) serve(n *node) {
	for l := range n.tasks {
		if !c.serveOne(n, l) {
			return
		}
	}
}

// serveOne runs one attempt and reports it. If the attempt's code ends the goroutine, as a failed test
// assertion does, the attempt is reported as failed and another goroutine takes over the slot.
func (c *Cluster) serveOne(n *node, l *launch) (returned bool) {
	defer func() {
		if !returned {
			c.opts.Logger.Error("task ended its goroutine", "task", int64(l.task.ID), "executor", string(n.ID()))
			c.finish(n, l, &scheduler.TaskEnd{Task: l.task.ID, Err: errGoexit})
			c.workers.Go(func() { c.serve(n) })
		}
	}()
	end := c.run(n, l)
	c.finish(n, l, end)
	return true
}

// run runs one attempt, under Isolate from bytes to bytes.
func (c *Cluster) run(n *node, l *launch) *scheduler.TaskEnd {
	fail := func(err error) *scheduler.TaskEnd { return &scheduler.TaskEnd{Task: l.task.ID, Err: err} }
	if l.ctx.Err() != nil { // cancelled before a slot came round to it
		return fail(context.Cause(l.ctx))
	}
	if !c.opts.Isolate {
		return n.Executor.Run(l.ctx, l.task)
	}
	if l.err != nil {
		return fail(l.err)
	}
	task, err := scheduler.DecodeTask(l.data)
	if err != nil {
		return fail(err)
	}
	data, err := scheduler.EncodeTaskEnd(n.Executor.Run(l.ctx, task), c.codecs...)
	if err != nil {
		return fail(err)
	}
	end, err := scheduler.DecodeTaskEnd(data, c.codecs...)
	if err != nil {
		return fail(err)
	}
	if end.ResultData != nil {
		if end.Result, err = decode(l.task.Job.Codec, end.ResultData); err != nil {
			return fail(&scheduler.CodecError{Doing: "decode result", Err: err})
		}
		end.ResultData = nil
	}
	return end
}

// decode reads a result back. A codec may call the program's methods: this is outside of the attempt, so their
// panics end here.
func decode(codec lineage.Codec, data []byte) (b lineage.Block, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &scheduler.PanicError{Value: fmt.Sprint(v), Stack: string(debug.Stack())}
		}
	}()
	return codec.Decode(data)
}

// finish reports an attempt, unless its executor is dead: then nobody hears of it.
func (c *Cluster) finish(n *node, l *launch, end *scheduler.TaskEnd) {
	l.stop(nil)
	if c.opts.Isolate {
		c.work.remove(l.task)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, l.task.ID)
	if n.dead {
		return
	}
	c.stillHeld(end)
	c.sink.TaskEnded(end)
}

// stillHeld takes out of a report the partitions that have been pushed out, or lost, since they were
// stored. mu is held, so that what is lost from here on is reported later than end.
func (c *Cluster) stillHeld(end *scheduler.TaskEnd) {
	if len(end.Cached) == 0 {
		return
	}
	for i := range end.Cached {
		cached := &end.Cached[i]
		cached.Executors = slices.DeleteFunc(cached.Executors, func(id scheduler.ExecutorID) bool {
			n := c.nodes[id]
			return n == nil || !n.Holds(cached.BlockID)
		})
	}
	end.Cached = slices.DeleteFunc(end.Cached, func(b scheduler.CachedBlock) bool { return len(b.Executors) == 0 })
}
