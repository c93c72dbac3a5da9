package golden

import (
	"context"

	"github.com/leat-io/leat/dstream"
)

// windowed makes what looks back over several batches.
func (b *StreamBuilder) windowed(_ context.Context, op StreamOperation, in []*Stream) (*Stream, error) {
	opts, err := b.keyOptions(op)
	if err != nil {
		return nil, err
	}
	window, slide := milliseconds(op.Window), milliseconds(op.Slide)
	var inverse func(a, b Value) Value
	if op.Inv != "" {
		if inverse, err = binaryFunction(op.Inv); err != nil {
			return nil, err
		}
	}
	switch op.Op {
	case "window":
		// Of the stream as it was made: what a window persists is its parent.
		if in[0].pairs != nil && in[0].kept == declared(in[0].pairs) {
			return streamOfPairs(dstream.Window(in[0].pairs, window, slide)), nil
		}
		return streamOfRows(dstream.Window(in[0].Rows(), window, slide)), nil
	case "countByWindow":
		counts := dstream.CountByWindow(in[0].Rows(), window, slide)
		s := streamOfRows(dstream.Map(counts, Int))
		s.made = counts
		return s, nil
	case "countByValueAndWindow":
		counts := dstream.CountByValueAndWindow(in[0].Rows(), window, slide, opts...)
		s := streamOfPairs(dstream.MapValues(counts, Int))
		s.made = counts
		return s, nil
	case "groupByKeyAndWindow":
		return bagged(dstream.GroupByKeyAndWindow(in[0].Pairs(), window, slide, opts...)), nil
	case "reduceByWindow":
		return liftStream(binaryFunction, op.F, func(f func(a, b Value) Value) *Stream {
			return streamOfRows(dstream.ReduceByWindow(in[0].Rows(), f, inverse, window, slide))
		})
	case "reduceByKeyAndWindow":
		with := []dstream.WindowOption{dstream.Partitioned(opts...)}
		if op.Filter != "" {
			keep, err := testFunction(op.Filter)
			if err != nil {
				return nil, err
			}
			with = append(with, dstream.KeepWindowed(func(p Pair) bool { return keep(rowOf(p)) }))
		}
		return liftStream(binaryFunction, op.F, func(f func(a, b Value) Value) *Stream {
			return streamOfPairs(dstream.ReduceByKeyAndWindow(in[0].Pairs(), f, inverse, window, slide, with...))
		})
	}
	return nil, nil
}
