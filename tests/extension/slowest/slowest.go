// Package slowest is a listener that is added from outside of leat: one folder, and no change elsewhere.
//
// A [Batches] keeps the batches that took the longest, for a report at the end of a program or on a page.
//
//	slow := slowest.New(5)
//	ssc := streamingcontext.New(streamingcontext.Options{
//		Interval: time.Second, Listeners: []streamingcontext.Listener{slow.Listener()},
//	})
//	...
//	fmt.Println(slow)
//
// Guarantees: it holds as many batches as it was told to. The listener is called by the context; all other methods may
// be called from any goroutine. Not here: percentiles, and batches that were set aside without having run.
//
// Source: package streamingcontext, Listener.
package slowest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/streamingcontext"
)

// Batches are the slowest batches of a context.
type Batches struct {
	keep int

	mu  sync.Mutex // guards all
	all []Batch    // the slowest first
}

// A Batch is how long a batch took, and the output that took the most of it.
type Batch struct {
	Time   dstream.Time
	Took   time.Duration
	Output streamingcontext.OutputInfo
}

// New returns a keeper of the n slowest batches.
func New(n int) *Batches { return &Batches{keep: n} }

// Listener returns what is given to a context.
func (b *Batches) Listener() streamingcontext.Listener {
	return streamingcontext.Listener{BatchCompleted: b.completed}
}

func (b *Batches) completed(info streamingcontext.BatchInfo) {
	took, known := info.ProcessingDelay()
	if !known {
		return
	}
	batch := Batch{Time: info.Time, Took: took}
	var longest time.Duration = -1
	for _, o := range info.Outputs {
		if d, known := o.Duration(); known && d > longest {
			longest, batch.Output = d, o
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	at, _ := slices.BinarySearchFunc(b.all, batch, func(have, x Batch) int {
		return cmp.Or(cmp.Compare(x.Took, have.Took), -1) // behind its equals
	})
	b.all = slices.Insert(b.all, at, batch)
	b.all = b.all[:min(len(b.all), b.keep)]
}

// All returns the batches, the slowest first.
func (b *Batches) All() []Batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.all)
}

// String returns a line a batch.
func (b *Batches) String() string {
	var s strings.Builder
	for _, x := range b.All() {
		fmt.Fprintf(&s, "batch %s took %v, most of it in %s at %s\n", x.Time, x.Took, x.Output.Name, x.Output.Site)
	}
	return s.String()
}
