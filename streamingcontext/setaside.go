package streamingcontext

import (
	"slices"
	"sync"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/streamingcontext/internal/protocol"
)

// MaxSetAside is how many batches that were set aside a context remembers: the latest 1000.
const MaxSetAside = protocol.MaxOwed

// A SetAsideBatch is a batch that failed and that the context went on without.
type SetAsideBatch struct {
	Time dstream.Time
	ID   int64 // in the driver log
	// Inputs is what the inputs gave to the batch; must not be changed.
	Inputs []dstream.InputInfo
	// Outputs are those that failed, in their order; none where the batch could not be generated. All others
	// ended well.
	Outputs []*OutputError
	// Err is why the batch could not be generated, or the error of the first output that failed.
	Err error
}

// SetAside returns the batches that failed and that the context went on without, in the order in which they were
// given up: the latest MaxSetAside of them. It is empty unless Options.OnFailure sets batches aside.
func (c *Context) SetAside() []SetAsideBatch { return c.aside.all() }

// asideList keeps the batches that were set aside.
type asideList struct {
	mu      sync.Mutex // guards batches
	batches []SetAsideBatch
}

func (l *asideList) add(b SetAsideBatch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.batches) == MaxSetAside {
		l.batches = slices.Delete(l.batches, 0, 1)
	}
	l.batches = append(l.batches, b)
}

func (l *asideList) all() []SetAsideBatch {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.batches)
}
