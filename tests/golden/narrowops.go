package golden

import (
	"context"
	"iter"

	"github.com/leat-io/leat/rdd"
)

// source makes the datasets that come from nowhere.
func (b *Builder) source(_ context.Context, op Operation, _ []*Dataset) (*Dataset, error) {
	parts := b.Context.Parallelism()
	if op.Parts != nil {
		parts = *op.Parts
	}
	switch op.Op {
	case "parallelize":
		rows, err := ParseValues(op.Data)
		if err != nil {
			return nil, err
		}
		return RowsOf(rdd.Parallelize(b.Context, rows, parts)), nil
	case "range":
		return RowsOf(rdd.Map(rdd.Range(b.Context, op.Start, op.End, op.Step, parts), Int)), nil
	case "empty":
		return RowsOf(rdd.Empty[Value](b.Context)), nil
	}
	return nil, nil
}

// narrow makes what is computed record by record or partition by partition.
func (b *Builder) narrow(_ context.Context, op Operation, in []*Dataset) (*Dataset, error) {
	switch op.Op {
	case "map":
		return lift(mapFunction, op.F, func(f func(Value) Value) *Dataset { return RowsOf(rdd.Map(in[0].Rows(), f)) })
	case "flatMap":
		return lift(flatFunction, op.F, func(f func(Value) []Value) *Dataset { return RowsOf(rdd.FlatMap(in[0].Rows(), f)) })
	case "filter":
		return lift(testFunction, op.F, func(f func(Value) bool) *Dataset { return RowsOf(in[0].Rows().Filter(f)) })
	case "mapPartitions":
		return lift(partitionFunction, op.F, func(f partitionFunc) *Dataset {
			var opts []rdd.PartitionOption
			if op.Preserve {
				opts = append(opts, rdd.PreservePartitioning())
			}
			return RowsOf(rdd.MapPartitions(in[0].Rows(), f, opts...))
		})
	case "mapPartitionsWithIndex":
		return lift(indexedFunction, op.F, func(f func(int, iter.Seq[Value]) iter.Seq[Value]) *Dataset {
			return RowsOf(rdd.MapPartitionsWithIndex(in[0].Rows(), f))
		})
	case "keyBy":
		return lift(mapFunction, op.F, func(f func(Value) Value) *Dataset { return PairsOf(rdd.KeyBy(in[0].Rows(), f)) })
	case "mapValues":
		return lift(mapFunction, op.F, func(f func(Value) Value) *Dataset { return PairsOf(rdd.MapValues(in[0].Pairs(), f)) })
	case "flatMapValues":
		return lift(flatFunction, op.F, func(f func(Value) []Value) *Dataset { return PairsOf(rdd.FlatMapValues(in[0].Pairs(), f)) })
	case "glom":
		return RowsOf(rdd.Map(rdd.Glom(in[0].Rows()), func(rows []Value) Value { return List(rows...) })), nil
	case "keys":
		return RowsOf(rdd.Keys(in[0].Pairs())), nil
	case "values":
		return RowsOf(rdd.Values(in[0].Pairs())), nil
	case "cache":
		return in[0].cache(), nil
	}
	return nil, nil
}

// lift makes a dataset with a function found by name.
func lift[F any](find func(string) (F, error), name string, with func(F) *Dataset) (*Dataset, error) {
	f, err := find(name)
	if err != nil {
		return nil, err
	}
	return with(f), nil
}
