package dstream

import (
	"errors"
	"fmt"
	"time"
)

// An InputHolder is an Input whose records wait until a batch asks for them, so that batches can be left out: what would have
// come in them comes in the next one.
type InputHolder interface {
	// Hold is called before RDD is for t: the batch is made, but has nothing. What it would have had comes in a later one. For
	// batch times that are left out altogether nothing is called.
	Hold(t Time)
}

// Hold makes batch t have no records: each input that is an InputHolder is told. It is called before Generate.
func (g *Graph) Hold(t Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range g.nodes {
		if n.input == nil {
			continue
		}
		if in, ok := n.input.Input.(InputHolder); ok {
			if err := apart(func() { in.Hold(t) }); err != nil {
				return fmt.Errorf("%s: hold back for batch %s: %w", n.input.Name, t, err)
			}
		}
	}
	return nil
}

// Reasons why batches of a program cannot be left out.
var (
	// ErrInputByTime: an input gives each batch something of its own, as a queue, or a function of the batch time.
	ErrInputByTime = errors.New("the input gives each batch time something of its own, and has no Hold")
	// ErrWindowOfStates: a window counts in how many batches a state was there.
	ErrWindowOfStates = errors.New("it is a window of states, which every batch has, also one without input")
	// ErrSlidesEveryBatch: a window is to be shown for every batch time.
	ErrSlidesEveryBatch = errors.New("its window is to be shown for every batch time: give it a longer slide")
)

// A CoalesceError says which stream keeps the batches of a program from being left out.
type CoalesceError struct {
	Op   string
	Site string // file and line of its declaration
	Err  error  // why: one of ErrInputByTime, ErrWindowOfStates, ErrSlidesEveryBatch
}

// Error returns the place, the operator and why.
func (e *CoalesceError) Error() string {
	return fmt.Sprintf("%s: %s: batches cannot be left out: %v", e.Site, e.Op, e.Err)
}

// Unwrap returns why.
func (e *CoalesceError) Unwrap() error { return e.Err }

// Coalescible checks that batches can be left out and nothing is lost or counted otherwise. With shown they are left out while
// windows have records, too: a window that is due at every batch time would not be shown for those.
//
// Errors: a *CoalesceError for each stream that keeps them from it, joined.
func (g *Graph) Coalescible(shown bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	states := map[*node]bool{} // streams that show state, and what is derived from them
	var errs []error
	for _, n := range g.nodes {
		switch n.op {
		case "updateStateByKey", "updateStateByKeyIter", "stateSnapshots":
			states[n] = true
		}
		for _, p := range n.parents {
			states[n] = states[n] || states[p]
		}
		var why error
		switch {
		case n.input != nil:
			if _, ok := n.input.Input.(InputHolder); !ok {
				why = ErrInputByTime
			}
		case n.extra > 0 && len(n.parents) > 0 && states[n.parents[0]]:
			why = ErrWindowOfStates
		case shown && n.extra > n.slide && n.slide == g.interval:
			why = ErrSlidesEveryBatch
		}
		if why != nil {
			errs = append(errs, &CoalesceError{Op: n.op, Site: n.site, Err: why})
		}
	}
	return errors.Join(errs...)
}

// Reach returns how long after its batch a record is still in a window of the program: the longest way of windows behind each
// other.
func (g *Graph) Reach() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	var longest millis
	back := map[*node]millis{}
	for _, n := range g.nodes { // parents come before their children
		for _, p := range n.parents {
			back[n] = max(back[n], back[p])
		}
		back[n] += n.extra
		longest = max(longest, back[n])
	}
	return ms(longest)
}

// Due reports whether a stream with a slide longer than the interval has a batch at t.
func (g *Graph) Due(t Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range g.nodes {
		if n.slide > g.interval && n.valid(t) {
			return true
		}
	}
	return false
}
