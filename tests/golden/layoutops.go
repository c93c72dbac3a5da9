package golden

import (
	"context"
	"iter"

	"github.com/leat-io/leat/rdd"
)

// layout makes what joins whole datasets or moves records without looking at keys.
func (b *Builder) layout(ctx context.Context, op Operation, in []*Dataset) (*Dataset, error) {
	switch op.Op {
	case "union":
		all := make([]*rdd.RDD[Value], len(in))
		for i, d := range in {
			all[i] = d.Rows()
		}
		return RowsOf(rdd.UnionAll(b.Context, all...)), nil
	case "cartesian":
		return PairsOf(rdd.Cartesian(in[0].Rows(), in[1].Rows())), nil
	case "zip":
		return PairsOf(rdd.Zip(in[0].Rows(), in[1].Rows())), nil
	case "zipPartitions":
		return RowsOf(rdd.ZipPartitions(in[0].Rows(), in[1].Rows(), lengths)), nil
	case "zipWithIndex":
		numbered, err := rdd.ZipWithIndex(ctx, in[0].Rows())
		if err != nil {
			return nil, err
		}
		return PairsOf(rdd.Map(numbered, numberedPair)), nil
	case "zipWithUniqueId":
		return PairsOf(rdd.Map(rdd.ZipWithUniqueID(in[0].Rows()), numberedPair)), nil
	case "coalesce", "repartition":
		if op.Num == nil {
			return nil, &NotBuiltError{What: "operation", Name: op.Op + " without num"}
		}
		if op.Shuffle || op.Op == "repartition" {
			return RowsOf(in[0].Rows().Repartition(*op.Num)), nil
		}
		return RowsOf(in[0].Rows().Coalesce(*op.Num)), nil
	case "distinct", "intersection", "subtract":
		opts, err := b.keyOptions(op)
		if err != nil {
			return nil, err
		}
		switch op.Op {
		case "distinct":
			return RowsOf(rdd.Distinct(in[0].Rows(), opts...)), nil
		case "intersection":
			return RowsOf(rdd.Intersection(in[0].Rows(), in[1].Rows(), opts...)), nil
		}
		return RowsOf(rdd.Subtract(in[0].Rows(), in[1].Rows(), opts...)), nil
	}
	return nil, nil
}

func numberedPair(p rdd.Pair[Value, int64]) Pair { return Pair{Key: p.Key, Value: p.Value} }

// lengths yields one pair: how many values each sequence has.
func lengths(left, right iter.Seq[Value]) iter.Seq[Value] {
	return func(yield func(Value) bool) {
		var n, m int64
		for range left {
			n++
		}
		for range right {
			m++
		}
		yield(Tuple(n, m))
	}
}
