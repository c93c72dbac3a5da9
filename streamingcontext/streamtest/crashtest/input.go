package crashtest

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

// Input declares an input whose source outlives processes: the first batch has the records of batches[0], and so on; batches behind the
// last have none. As from a log, a process takes what comes next, and records which range it took; so what a process took and did not
// record goes into the first batch of the next one. Its points are those of WatchInput.
//
// Shape: two partitions; never absent.
func Input[T any](ssc *streamingcontext.Context, w *World, name string, batches [][]T) *dstream.DStream[T] {
	in := WatchInput(w, name, dstream.Input[T](&ranges[T]{batches: batches, given: map[dstream.Time]int{}}))
	return dstream.NewInput(ssc.Graph(), "crashtest", "Input "+name, in)
}

// ranges gives slices of records, one a batch.
type ranges[T any] struct {
	batches [][]T
	given   map[dstream.Time]int // which of the slices a batch has
	next    int
}

func (in *ranges[T]) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[T], error) {
	at := in.take(t)
	var rows []T
	if at < len(in.batches) {
		rows = slices.Clone(in.batches[at])
	}
	return rdd.Parallelize(c, rows, 2), nil
}

// take returns which of the slices a batch has.
func (in *ranges[T]) take(t dstream.Time) int {
	at, again := in.given[t]
	if !again {
		at = in.next
		in.given[t], in.next = at, at+1
	}
	return at
}

// Record also chooses for a batch whose RDD has failed: the batch begins all the same, and is run again with what is recorded now.
func (in *ranges[T]) Record(t dstream.Time) ([]byte, error) {
	return binary.AppendUvarint(nil, uint64(in.take(t))), nil
}

var errRecord = errors.New("crashtest: not what the input recorded")

func (in *ranges[T]) Replay(t dstream.Time, recorded []byte) error {
	at, n := binary.Uvarint(recorded)
	if n <= 0 {
		return errRecord
	}
	in.given[t], in.next = int(at), max(in.next, int(at)+1)
	return nil
}

func (in *ranges[T]) Save() ([]byte, error) { return binary.AppendUvarint(nil, uint64(in.next)), nil }

func (in *ranges[T]) Load(data []byte) error {
	next, n := binary.Uvarint(data)
	if n <= 0 {
		return errRecord
	}
	in.next = max(in.next, int(next))
	return nil
}

func (in *ranges[T]) Forget(upTo dstream.Time) {
	for t := range in.given {
		if t <= upTo {
			delete(in.given, t)
		}
	}
}
