package rdd

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd/codec"
)

// An Accumulator is a value that tasks add to and the program reads: tasks add values of type V to a total of
// type A. Each task adds to a part of its own, which is sent with its success and merged into the total here.
//
// What a result task adds counts once for each partition of the job. What map tasks add counts each time one
// succeeds, so that reruns and speculation count again; what failed tasks add does not count. A partition that
// is kept adds nothing when it is read.
type Accumulator[V, A any] struct {
	home  *shared
	total *total[V, A]
}

// total is an accumulator as the driver's registry and its handle share it.
type total[V, A any] struct {
	spec  *lineage.Accumulator
	zero  func() A
	add   func(A, V) A
	merge func(A, A) A
	clone func(A) A // nil where assignment is one

	mu    sync.Mutex // guards value
	value A
}

// NewAccumulator returns an accumulator whose parts begin as zero(), take values with add and are joined with
// merge. add and merge may change their first argument, not the second. A name is shown to listeners; it may be
// empty.
//
// Order: parts are merged in the order in which tasks end, so merge should not depend on it.
// Cost: A is encoded by package codec where it crosses a process border.
// Errors: ErrNilFunction; ErrStopped.
func NewAccumulator[V, A any](c *Context, name string, zero func() A, add func(A, V) A, merge func(A, A) A) (*Accumulator[V, A], error) {
	switch {
	case zero == nil || add == nil || merge == nil:
		return nil, &BuildError{Op: "accumulator", Site: c.callSite(), Err: ErrNilFunction}
	case c.stopped.Load():
		return nil, ErrStopped
	}
	t := &total[V, A]{zero: zero, add: add, merge: merge, clone: codec.CloneFunc[A]()}
	if err := guarded(func() error { t.value = zero(); return nil }); err != nil {
		return nil, &BuildError{Op: "accumulator", Site: c.callSite(), Err: err}
	}
	t.spec = &lineage.Accumulator{ID: lineage.AccumulatorID(c.values.lastAccumulator.Add(1)), Name: name,
		Codec: new(rowCodec[A]), Zero: func() lineage.Block { return &rowBlock[A]{rows: []A{zero()}} }}
	c.values.register(t.spec.ID, t)
	a := &Accumulator[V, A]{home: c.shared, total: t}
	if !c.opts.KeepUnreachable {
		id, values := t.spec.ID, &c.values
		runtime.AddCleanup(a, func(id lineage.AccumulatorID) { values.unregister(id) }, id)
	}
	return a, nil
}

// Name returns the name it was made with.
func (a *Accumulator[V, A]) Name() string { return a.total.spec.Name }

// Add adds a value: to the part of the task whose context ctx is, else to the total.
//
// Cost: finds the task's part each time; Local finds it once.
// Errors: ErrDifferentContexts in a task of another context's job.
func (a *Accumulator[V, A]) Add(ctx context.Context, v V) error {
	if taskOf(ctx) == nil {
		t := a.total
		t.mu.Lock()
		defer t.mu.Unlock()
		t.value = t.add(t.value, v)
		return nil
	}
	l, err := a.Local(ctx)
	if err == nil {
		l.Add(v)
	}
	return err
}

// Local returns the part of the task whose context ctx is, for functions that add much. It belongs to the task's
// own goroutine.
//
// Errors: ErrNotInTask outside of tasks; ErrDifferentContexts in a task of another context's job.
func (a *Accumulator[V, A]) Local(ctx context.Context) (Local[V, A], error) {
	t := taskOf(ctx)
	switch {
	case t == nil:
		return Local[V, A]{}, ErrNotInTask
	case t.home != a.home:
		return Local[V, A]{}, fmt.Errorf("accumulator %q: %w", a.Name(), ErrDifferentContexts)
	}
	part, err := single[A](t.env.Accumulate(a.total.spec))
	if err != nil {
		return Local[V, A]{}, fmt.Errorf("accumulator %q: %w", a.Name(), err)
	}
	return Local[V, A]{part: &part.rows[0], add: a.total.add}, nil
}

// A Local is the part of an accumulator that one task adds to.
type Local[V, A any] struct {
	part *A
	add  func(A, V) A
}

// Add adds a value to the task's part.
func (l Local[V, A]) Add(v V) { *l.part = l.add(*l.part, v) }

// Value returns what the task has added so far.
func (l Local[V, A]) Value() A { return *l.part }

// Value returns a copy of the total: what all tasks that have ended had added.
//
// Errors: ErrInTask in a task, which sees nothing but its own part, that of Local.
func (a *Accumulator[V, A]) Value(ctx context.Context) (A, error) {
	if inTask(ctx) {
		var none A
		return none, fmt.Errorf("value of accumulator %q: %w", a.Name(), ErrInTask)
	}
	t := a.total
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.clone != nil {
		return t.clone(t.value), nil
	}
	return t.value, nil
}

// Reset sets the total back to zero().
func (a *Accumulator[V, A]) Reset() {
	t := a.total
	t.mu.Lock()
	defer t.mu.Unlock()
	t.value = t.zero()
}

// update merges what a task has added.
func (t *total[V, A]) update(u lineage.Update) error {
	return guarded(func() error { return t.mergePart(u) })
}

func (t *total[V, A]) mergePart(u lineage.Update) (err error) {
	block := u.Value
	if block == nil {
		if block, err = t.spec.Codec.Decode(u.Data); err != nil {
			return err
		}
	}
	part, err := single[A](block)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.value = t.merge(t.value, part.rows[0])
	return nil
}
