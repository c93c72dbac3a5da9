package rdd

import (
	"context"
	"fmt"
	"sync"

	"github.com/leat-io/leat/lineage"
)

// A TaskContext is what a function may ask of the task it is called in: the fields of the running
// attempt (stage, partition, number of the attempt, id of the task) and the properties of the job. It belongs
// to the task's own goroutine.
type TaskContext struct {
	lineage.Attempt
	// Properties are those of the job that the attempt was launched for.
	Properties lineage.Properties

	task *task
}

// TaskFrom returns the task that ctx, which a function was called with, belongs to; false outside of tasks. The
// task is cancelled through ctx.
func TaskFrom(ctx context.Context) (TaskContext, bool) {
	t := taskOf(ctx)
	if t == nil {
		return TaskContext{}, false
	}
	return TaskContext{Attempt: t.env.Attempt(), Properties: t.env.Properties(), task: t}, true
}

// OnCompletion has f called when the task ends, whether it succeeds, fails, panics or is cancelled.
//
// Order: the function registered last is called first; those of OnFailure come before all of these.
// Errors: an error or panic of f fails a task that had not failed; the other functions are called all the
// same.
func (t TaskContext) OnCompletion(f func() error) {
	if t.task.ended {
		t.task.hook(f)
		return
	}
	t.task.completion = append(t.task.completion, f)
}

// OnFailure has f called with what the task failed with, if it fails.
//
// Order: the function registered last is called first.
func (t TaskContext) OnFailure(f func(err error)) {
	if t.task.ended {
		if t.task.failed != nil {
			t.task.hook(func() error { f(t.task.failed); return nil })
		}
		return
	}
	t.task.failure = append(t.task.failure, f)
}

// task is what operators carry down a partition's chain.
type task struct {
	ctx  context.Context // the task's; user functions see it, and it refuses actions
	env  lineage.Env
	home *shared // what the job's context shares with its views; nil where nobody said

	asking asking // what the reader of the node that is pushed next asks for

	completion []func() error
	failure    []func(error)
	ended      bool
	failed     error // what it ended with
	hookErr    error // the first error of a hook
}

// taskKey finds the task in a context.
type taskKey struct{}

func taskOf(ctx context.Context) *task {
	t, _ := ctx.Value(taskKey{}).(*task)
	return t
}

func inTask(ctx context.Context) bool { return taskOf(ctx) != nil }

// newTask returns the task that ctx belongs to, or wraps what the executor gave.
func newTask(ctx context.Context, env lineage.Env) *task {
	if t := taskOf(ctx); t != nil {
		return t
	}
	t := &task{env: env}
	t.ctx = context.WithValue(ctx, taskKey{}, t)
	return t
}

// runTask does the work of one task for a job of home, and then calls the hooks.
func runTask(ctx context.Context, env lineage.Env, home *shared, work func(t *task) error) (err error) {
	t := newTask(ctx, env)
	t.home = home
	returned := false
	defer func() {
		if returned {
			err = t.end(err)
			return
		}
		// A panic goes on to the executor, which knows its stack.
		v := recover()
		if v == nil {
			_ = t.end(errGoexit)
			return
		}
		_ = t.end(&PanicError{Value: fmt.Sprint(v)})
		panic(v)
	}()
	err = work(t)
	returned = true
	return err
}

// hookedWrite makes the map tasks of a shuffle tasks of home.
func hookedWrite(s *lineage.Shuffle, home *shared) {
	write := s.Write
	s.Write = func(ctx context.Context, env lineage.Env, part int, out lineage.Buckets) error {
		return runTask(ctx, env, home, func(t *task) error { return write(t.ctx, env, part, out) })
	}
}

// end calls the hooks and returns what the task ends with.
func (t *task) end(err error) error {
	for err != nil && len(t.failure) > 0 {
		last := len(t.failure) - 1
		f := t.failure[last]
		t.failure = t.failure[:last]
		t.hook(func() error { f(err); return nil })
	}
	for len(t.completion) > 0 {
		last := len(t.completion) - 1
		f := t.completion[last]
		t.completion = t.completion[:last]
		t.hook(f)
	}
	if err == nil {
		err = t.hookErr
	}
	t.ended, t.failed = true, err
	return err
}

// hook calls one hook and keeps its error, if it is the first.
func (t *task) hook(f func() error) {
	err := errGoexit // if f ends the goroutine, which the hooks that follow need
	var wg sync.WaitGroup
	wg.Go(func() { err = guarded(f) })
	wg.Wait()
	if err != nil && t.hookErr == nil {
		at := t.env.Attempt()
		t.hookErr = fmt.Errorf("hook of the task on partition %d of stage %d: %w", at.Partition, at.Stage, err)
	}
}

// guarded calls a function of the program and turns its panic into an error.
func guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: fmt.Sprint(v)}
		}
	}()
	return f()
}
