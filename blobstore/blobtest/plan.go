package blobtest

import (
	"context"
	"errors"
	"fmt"

	"github.com/leat-io/leat/blobstore"
)

// ErrFault is what a call that a plan lets fail returns.
var ErrFault = errors.New("blobtest: a fault of the test")

// An Op is one call of a Memory.
type Op struct {
	N    int    // its number, from 1
	Kind string // "put", "put if absent", "compare and swap", "open", "read", "list", "remove"
	Name string // the blob, or the prefix of a listing
}

// String returns the call.
func (o Op) String() string { return fmt.Sprintf("call %d: %s %q", o.N, o.Kind, o.Name) }

// A Fault is what becomes of a call.
type Fault int

// The faults. Where a call only reads all but None and Slow are Fail.
const (
	// None: the call does what it should.
	None Fault = iota
	// Fail: it has no effect and returns ErrFault.
	Fail
	// Lost: it does what it should, and returns blobstore.ErrUnknown.
	Lost
	// Dropped: it has no effect, and returns blobstore.ErrUnknown.
	Dropped
	// Late: it returns blobstore.ErrUnknown, and does what it should when Deliver is called.
	Late
	// Slow: it waits for its context to end, and then is Dropped.
	Slow
)

// String returns the fault in a word.
func (f Fault) String() string {
	return [...]string{"none", "fail", "lost", "dropped", "late", "slow", "?", "?"}[f&7]
}

// A Plan says what becomes of each call. It must not call the store.
type Plan func(op Op) Fault

// SetPlan sets the plan of all calls from now on. Nil has no faults.
func (m *Memory) SetPlan(p Plan) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.plan = p
}

// Deliver lets the effects of the calls that were Late come, in their order: each has one if it still can.
func (m *Memory) Deliver() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, effect := range m.late {
		effect()
	}
	m.late = nil
}

// call counts a call and runs its effect, as the plan says.
func (m *Memory) call(ctx context.Context, op, name string, writes bool, effect func() error) error {
	fault, err := m.start(ctx, op, name, writes, effect)
	if fault == Slow {
		<-ctx.Done()
		err = ctx.Err()
		if writes {
			err = fmt.Errorf("%w: %w", blobstore.ErrUnknown, err)
		}
	}
	if err != nil {
		return &blobstore.Error{Op: op, Name: name, Err: err}
	}
	return nil
}

func (m *Memory) start(ctx context.Context, op, name string, writes bool, effect func() error) (Fault, error) {
	if err := ctx.Err(); err != nil {
		return None, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	fault := None
	if m.plan != nil {
		fault = m.plan(Op{N: m.calls, Kind: op, Name: name})
	}
	switch {
	case fault == None:
		return fault, effect()
	case fault == Slow:
		return fault, nil
	case fault == Fail || !writes:
		return fault, ErrFault
	case fault == Lost:
		_ = effect() // the answer is lost, whatever it is
	case fault == Late:
		m.late = append(m.late, func() { _ = effect() })
	}
	return fault, fmt.Errorf("%w: %w", blobstore.ErrUnknown, ErrFault)
}
