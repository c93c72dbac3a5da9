package streamtest

import (
	"slices"
	"sync"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// A Feed is an input that the test pushes records into.
type Feed[T any] struct {
	stream *dstream.DStream[T]
	parts  int

	mu    sync.Mutex           // guards the fields below
	next  []T                  // for the batch to come
	given map[dstream.Time][]T // to batches that may be made again
}

// Input declares an input on the kit. A batch holds what was pushed since the batch before.
//
// Shape: Options.Partitions partitions, sliced as by rdd.Parallelize; never absent.
func Input[T any](k *Kit) *Feed[T] {
	f := &Feed[T]{parts: k.opts.Partitions, given: map[dstream.Time][]T{}}
	f.stream = dstream.NewInput[T](k.ssc.Graph(), "feed", "Feed", (*feedInput[T])(f))
	return f
}

// Stream returns the input as a stream.
func (f *Feed[T]) Stream() *dstream.DStream[T] { return f.stream }

// Push adds records to the next batch. They are copied.
func (f *Feed[T]) Push(records ...T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next = append(f.next, records...)
}

// feedInput is the Feed as the graph sees it.
type feedInput[T any] Feed[T]

func (f *feedInput[T]) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[T], error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rows, again := f.given[t]
	if !again {
		rows, f.next = f.next, nil
		f.given[t] = rows
	}
	return rdd.Parallelize(c, slices.Clone(rows), f.parts), nil
}

// Report returns the number of records.
func (f *feedInput[T]) Report(t dstream.Time) (records int64, description string, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return int64(len(f.given[t])), "", true
}

// Forget drops the records of batches that will not be made again.
func (f *feedInput[T]) Forget(upTo dstream.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for t := range f.given {
		if t <= upTo {
			delete(f.given, t)
		}
	}
}
