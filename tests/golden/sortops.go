package golden

import (
	"context"

	"github.com/leat-io/leat/rdd"
)

// ordered makes what sorts or looks at the order of keys.
func (b *Builder) ordered(ctx context.Context, op Operation, in []*Dataset) (*Dataset, error) {
	var opts []rdd.SortOption
	if op.Asc != nil && !*op.Asc {
		opts = append(opts, rdd.Descending())
	}
	if op.Num != nil {
		opts = append(opts, rdd.SortPartitions(*op.Num))
	}
	switch op.Op {
	case "sortBy":
		key, err := mapFunction(op.F)
		if err != nil {
			return nil, err
		}
		r, err := rdd.SortByFunc(ctx, in[0].Rows(), key, Compare, opts...)
		if err != nil {
			return nil, err
		}
		return RowsOf(r), nil
	case "sortByKey":
		r, err := rdd.SortByKeyFunc(ctx, in[0].Pairs(), Compare, opts...)
		if err != nil {
			return nil, err
		}
		return PairsOf(r), nil
	case "repartitionAndSortWithinPartitions":
		p, err := b.partitioner(op.P)
		if err != nil {
			return nil, err
		}
		return PairsOf(rdd.RepartitionAndSortWithinPartitionsFunc(in[0].Pairs(), p, Compare)), nil
	case "filterByRange":
		lo, err := ParseValue(op.Lo)
		if err != nil {
			return nil, err
		}
		hi, err := ParseValue(op.Hi)
		if err != nil {
			return nil, err
		}
		return PairsOf(rdd.FilterByRangeFunc(in[0].Pairs(), lo, hi, Compare)), nil
	}
	return nil, nil
}
