package streamingcontext

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// A fileRate keeps an input of files to a rate of records. Files are taken whole, so the rate says how many bytes a batch
// may take, by what a record of the batches before took in its file. What a batch took is counted where it is read.
//
// A file is never cut: a part of it would have to be recorded as a range, compressed files have none, and a line that two ranges share
// would be decided by whoever reads. The price is a batch that is larger than its rate by less than a file, or is one file.
type fileRate struct {
	stream  int
	control *rateController // nil where the rate does not follow the batches

	mu        sync.Mutex // guards the fields below
	perSecond int64      // records; 0: no limit
	bytes     float64    // of the files that were read to the end, older ones counting less and less
	records   float64    // in them
	tallies   map[dstream.Time]*tally
}

// A tally is how many records each partition of a batch had, by what its last reader saw. -1: nobody has read it to the end.
type tally struct {
	bytes int64 // of the batch's files
	parts []atomic.Int64
}

// newFileRate returns the rate of an input of files, nil if it has none.
func newFileRate(b Backpressure) *fileRate {
	if !b.Enabled && b.InitialRate == 0 {
		return nil
	}
	return &fileRate{perSecond: b.InitialRate, tallies: map[dstream.Time]*tally{}}
}

// limit returns how many bytes a batch of so many milliseconds may take, 0 for any number. As long as nobody knows how large a
// record is, that is one file.
func (r *fileRate) limit(millis int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.perSecond <= 0 {
		return 0
	}
	if r.records == 0 {
		return 1
	}
	return max(1, int64(min(float64(r.perSecond)*float64(millis)/1000*r.bytes/r.records, maxEstimate)))
}

func (r *fileRate) set(perSecond int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if perSecond > 0 {
		r.perSecond = perSecond
	}
}

// open begins to count batch t.
func (r *fileRate) open(t dstream.Time, bytes int64, parts int) *tally {
	n := &tally{bytes: bytes, parts: make([]atomic.Int64, parts)}
	for i := range n.parts {
		n.parts[i].Store(-1)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tallies[t] = n
	return n
}

// counted returns the records of batch t, once all of it was read; false if it was not, or is not known any more.
func (r *fileRate) counted(t dstream.Time) (records int64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.tallies[t]
	if n == nil {
		return 0, false
	}
	delete(r.tallies, t)
	for i := range n.parts {
		part := n.parts[i].Load()
		if part < 0 {
			return 0, false
		}
		records += part
	}
	if records > 0 {
		r.bytes, r.records = r.bytes/2+float64(n.bytes), r.records/2+float64(records)
	}
	return records, true
}

// forget drops the counts of batches up to t.
func (r *fileRate) forget(t dstream.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for at := range r.tallies {
		if at <= t {
			delete(r.tallies, at)
		}
	}
}

// tallied returns the records of r, which are counted as they pass. A partition that is read again is counted anew.
func tallied[T any](r *rdd.RDD[T], n *tally) *rdd.RDD[T] {
	return rdd.MapPartitionsWithContext(r, func(_ context.Context, part int, in iter.Seq[T]) iter.Seq2[T, error] {
		return func(yield func(T, error) bool) {
			records := int64(0)
			for record := range in {
				if records++; !yield(record, nil) {
					return
				}
			}
			n.parts[part].Store(records)
		}
	})
}

// rated is an input with a rate.
type rated interface{ rated() *fileRate }

// startFileRates readies what governs the inputs of files.
//
// Errors: those of estimators of the program's.
func (c *Context) startFileRates() error {
	for _, in := range c.graph.Inputs() {
		f, ok := in.Input.(rated)
		if !ok || f.rated() == nil {
			continue
		}
		r := f.rated()
		r.stream = in.ID
		e, err := c.opts.Backpressure.estimator(in.ID, c.Interval())
		if err != nil {
			return fmt.Errorf("estimator of %s: %w", in.Name, err)
		}
		if e != nil {
			r.control = &rateController{stream: in.ID, estimator: e, log: c.opts.Logger, set: r.set}
		}
		c.fileRates = append(c.fileRates, r)
	}
	return nil
}

// countFiles adds to info how many records the files of a batch had.
func (c *Context) countFiles(info *BatchInfo) {
	copied := false
	for _, r := range c.fileRates {
		records, ok := r.counted(info.Time)
		if i := slices.IndexFunc(info.Inputs, func(in dstream.InputInfo) bool { return in.Stream == r.stream }); ok && i >= 0 {
			if !copied {
				info.Inputs, copied = slices.Clone(info.Inputs), true
			}
			info.Inputs[i].Records = records
		}
	}
}
