package golden

import (
	"context"
	"iter"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// A Stream is a DStream of a case: of values, or of pairs where an operation by key made it. The other
// view is declared when it is asked for, as with a [Dataset].
type Stream struct {
	rows  *dstream.DStream[Value]
	pairs *dstream.DStream[Pair]
	// kept is the stream that is persisted and checkpointed, made the one that questions are about.
	kept, made declared
	// parent is the stream it is made from, nil where there is none or internal ones that differ from those of cases are between.
	parent *Stream
	// inner is set for an internal stream, about which there are questions only.
	inner *dstream.Ancestor
	// snapshots makes the stream of the states of a mapWithState; nil for others.
	snapshots func() *dstream.DStream[Pair]
	// counted is false where the operations leave the number of partitions open.
	counted bool
}

// declared is what can be said of and asked about a stream of any type.
type declared interface {
	Err() error
	Info() dstream.Info
	Remembered() []dstream.Time
	Parents() []dstream.Ancestor
	Persist(rdd.StorageLevel) error
	Checkpoint(time.Duration) error
}

// streamOfRows returns the stream of a DStream of values.
func streamOfRows(s *dstream.DStream[Value]) *Stream {
	return &Stream{rows: s, kept: s, made: s, counted: true}
}

// streamOfPairs returns the stream of a DStream of pairs.
func streamOfPairs(s *dstream.DStream[Pair]) *Stream {
	return &Stream{pairs: s, kept: s, made: s, counted: true}
}

// Rows returns the stream as values; it keeps the partitioner.
func (s *Stream) Rows() *dstream.DStream[Value] {
	if s.rows == nil {
		s.rows = dstream.MapPartitions(s.pairs, each(rowOf), rdd.PreservePartitioning())
	}
	return s.rows
}

// Pairs returns the stream as pairs; a batch with records that are no tuples of two fails.
func (s *Stream) Pairs() *dstream.DStream[Pair] {
	if s.pairs == nil {
		s.pairs = dstream.MapPartitions(s.rows, each(pairOf), rdd.PreservePartitioning())
	}
	return s.pairs
}

// info returns the settings of the stream as it was made.
func (s *Stream) info() dstream.Info {
	if s.inner != nil {
		return s.inner.Info()
	}
	return s.made.Info()
}

// remembered returns the batches that the stream holds.
func (s *Stream) remembered() []dstream.Time {
	if s.inner != nil {
		return s.inner.Remembered()
	}
	return s.made.Remembered()
}

// behind has n internal streams lie between a stream and parent, nearest first.
func (s *Stream) behind(n int, parent *Stream) {
	at, made := s, s.made.Parents()
	for range n {
		if len(made) == 0 {
			return
		}
		inner := made[0]
		at.parent = &Stream{inner: &inner}
		at, made = at.parent, inner.Parents()
	}
	at.parent = parent
}

func rowOf(p Pair) Value { return Tuple(p.Key, p.Value) }

func pairOf(x Value) Pair {
	k, v := pair(x)
	return Pair{Key: k, Value: v}
}

// each makes a function of a partition of one of a record.
func each[T, U any](f func(T) U) func(iter.Seq[T]) iter.Seq[U] {
	return func(in iter.Seq[T]) iter.Seq[U] {
		return func(yield func(U) bool) {
			for x := range in {
				if !yield(f(x)) {
					return
				}
			}
		}
	}
}

// A collector computes the records of a batch.
type collector func(ctx context.Context) (Parts, error)

// foreach declares an output that calls f for every batch with an RDD.
func (s *Stream) foreach(f func(ctx context.Context, t dstream.Time, collect collector) error) *dstream.Output {
	if s.pairs != nil && s.kept == declared(s.pairs) {
		return dstream.ForeachRDD(s.pairs, func(ctx context.Context, r *rdd.RDD[Pair], t dstream.Time) error {
			return f(ctx, t, collecting(r, rowOf))
		})
	}
	return dstream.ForeachRDD(s.Rows(), func(ctx context.Context, r *rdd.RDD[Value], t dstream.Time) error {
		return f(ctx, t, collecting(r, same))
	})
}

// slice returns collectors of the batches from one time to another.
func (s *Stream) slice(from, to dstream.Time) ([]collector, error) {
	if s.pairs != nil && s.kept == declared(s.pairs) {
		return sliceOf(s.pairs, rowOf, from, to)
	}
	return sliceOf(s.Rows(), same, from, to)
}

func sliceOf[T any](s *dstream.DStream[T], row func(T) Value, from, to dstream.Time) ([]collector, error) {
	rdds, err := dstream.Slice(s, from, to)
	out := make([]collector, len(rdds))
	for i, r := range rdds {
		out[i] = collecting(r, row)
	}
	return out, err
}

func collecting[T any](r *rdd.RDD[T], row func(T) Value) collector {
	return func(ctx context.Context) (Parts, error) {
		parts, err := r.CollectPartitions(ctx)
		if err != nil {
			return nil, err
		}
		out := make(Parts, len(parts))
		for i, part := range parts {
			out[i] = make([]Value, len(part))
			for j, x := range part {
				out[i][j] = row(x)
			}
		}
		return out, nil
	}
}
