package golden

import (
	"context"

	"github.com/leat-io/leat/rdd"
)

// folding answers with all records combined into one value.
func (b *Builder) folding(ctx context.Context, a Action, d *Dataset) (Answer, error) {
	depth := 2
	if a.Depth != nil {
		depth = *a.Depth
	}
	switch a.Act {
	case "reduce", "treeReduce":
		f, err := binaryFunction(a.F)
		if err != nil {
			return nil, err
		}
		var x Value
		if a.Act == "reduce" {
			x, err = d.Rows().Reduce(ctx, f)
		} else {
			x, err = rdd.TreeReduce(ctx, d.Rows(), f, depth)
		}
		return answered(One{x}, err)
	case "fold":
		zero, err := ParseValue(a.Zero)
		if err != nil {
			return nil, err
		}
		f, err := binaryFunction(a.F)
		if err != nil {
			return nil, err
		}
		x, err := d.Rows().Fold(ctx, zero, f)
		return answered(One{x}, err)
	case "aggregate", "treeAggregate":
		zero, err := ParseValue(a.Zero)
		if err != nil {
			return nil, err
		}
		seq, err := foldFunction(a.Seq)
		if err != nil {
			return nil, err
		}
		comb, err := binaryFunction(a.Comb)
		if err != nil {
			return nil, err
		}
		var x Value
		if a.Act == "aggregate" {
			x, err = rdd.Aggregate(ctx, d.Rows(), zero, seq, comb)
		} else {
			x, err = rdd.TreeAggregate(ctx, d.Rows(), zero, seq, comb, depth)
		}
		return answered(One{x}, err)
	}
	return nil, nil
}
