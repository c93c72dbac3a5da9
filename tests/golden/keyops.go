package golden

import (
	"context"

	"github.com/leat-io/leat/rdd"
)

// byKey makes what combines or places by key.
func (b *Builder) byKey(_ context.Context, op Operation, in []*Dataset) (*Dataset, error) {
	opts, err := b.keyOptions(op)
	if err != nil {
		return nil, err
	}
	switch op.Op {
	case "partitionBy":
		p, err := b.partitioner(op.P)
		if err != nil {
			return nil, err
		}
		placed := rdd.PartitionBy(in[0].Pairs(), p)
		if placed.Same(in[0].Pairs()) {
			return in[0], nil
		}
		return PairsOf(placed), nil
	case "reduceByKey":
		return lift(binaryFunction, op.F, func(f func(a, b Value) Value) *Dataset {
			return PairsOf(rdd.ReduceByKey(in[0].Pairs(), f, opts...))
		})
	case "foldByKey":
		zero, err := ParseValue(op.Zero)
		if err != nil {
			return nil, err
		}
		return lift(binaryFunction, op.F, func(f func(a, b Value) Value) *Dataset {
			return PairsOf(rdd.FoldByKey(in[0].Pairs(), zero, f, opts...))
		})
	case "aggregateByKey":
		zero, err := ParseValue(op.Zero)
		if err != nil {
			return nil, err
		}
		comb, err := binaryFunction(op.Comb)
		if err != nil {
			return nil, err
		}
		return lift(foldFunction, op.Seq, func(seq func(acc, x Value) Value) *Dataset {
			return PairsOf(rdd.AggregateByKey(in[0].Pairs(), zero, seq, comb, opts...))
		})
	case "combineByKey":
		return lift(combineFunctions, op.F, func(c combiner) *Dataset {
			return PairsOf(rdd.CombineByKey(in[0].Pairs(), c.create, c.merge, c.merge2, opts...))
		})
	case "subtractByKey":
		return PairsOf(rdd.SubtractByKey(in[0].Pairs(), in[1].Pairs(), opts...)), nil
	}
	return nil, nil
}

// grouped makes what brings the values of a key together.
func (b *Builder) grouped(_ context.Context, op Operation, in []*Dataset) (*Dataset, error) {
	opts, err := b.keyOptions(op)
	if err != nil {
		return nil, err
	}
	bagged := func(g *rdd.RDD[rdd.Pair[Value, []Value]]) *Dataset {
		return PairsOf(rdd.MapValues(g, func(vs []Value) Value { return Bag(vs...) })).asking(g.Node())
	}
	switch op.Op {
	case "groupBy":
		return lift(mapFunction, op.F, func(f func(Value) Value) *Dataset {
			return bagged(rdd.GroupBy(in[0].Rows(), f, opts...))
		})
	case "groupByKey":
		return bagged(rdd.GroupByKey(in[0].Pairs(), opts...)), nil
	case "cogroup":
		return cogroup(in, opts), nil
	case "join":
		return joined(rdd.Join(in[0].Pairs(), in[1].Pairs(), opts...), same, same), nil
	case "leftOuterJoin":
		return joined(rdd.LeftOuterJoin(in[0].Pairs(), in[1].Pairs(), opts...), same, optional), nil
	case "rightOuterJoin":
		return joined(rdd.RightOuterJoin(in[0].Pairs(), in[1].Pairs(), opts...), optional, same), nil
	case "fullOuterJoin":
		return joined(rdd.FullOuterJoin(in[0].Pairs(), in[1].Pairs(), opts...), optional, optional), nil
	}
	return nil, nil
}

func same(v Value) Value { return v }

func optional(o rdd.Option[Value]) Value {
	if o.OK {
		return Some(o.Value)
	}
	return None()
}

// joined turns both sides of a join into values. The dependencies of a join are those of the
// co-group it is made from.
func joined[V, W any](j *rdd.RDD[rdd.Pair[Value, rdd.Joined[V, W]]], left func(V) Value, right func(W) Value) *Dataset {
	d := PairsOf(rdd.MapValues(j, func(x rdd.Joined[V, W]) Value { return Tuple(left(x.Left), right(x.Right)) }))
	if deps := j.Node().Deps(); len(deps) == 1 {
		d.asking(deps[0].Parent)
	}
	return d
}

// cogroup groups 2 to 4 datasets; the values are tuples of bags.
func cogroup(in []*Dataset, opts []rdd.KeyOption) *Dataset {
	switch len(in) {
	case 2:
		g := rdd.CoGroup(in[0].Pairs(), in[1].Pairs(), opts...)
		return PairsOf(rdd.MapValues(g, func(x rdd.CoGrouped[Value, Value]) Value {
			return Tuple(Bag(x.Left...), Bag(x.Right...))
		})).asking(g.Node())
	case 3:
		g := rdd.CoGroup3(in[0].Pairs(), in[1].Pairs(), in[2].Pairs(), opts...)
		return PairsOf(rdd.MapValues(g, func(x rdd.CoGrouped3[Value, Value, Value]) Value {
			return Tuple(Bag(x.First...), Bag(x.Second...), Bag(x.Third...))
		})).asking(g.Node())
	}
	g := rdd.CoGroup4(in[0].Pairs(), in[1].Pairs(), in[2].Pairs(), in[3].Pairs(), opts...)
	return PairsOf(rdd.MapValues(g, func(x rdd.CoGrouped4[Value, Value, Value, Value]) Value {
		return Tuple(Bag(x.First...), Bag(x.Second...), Bag(x.Third...), Bag(x.Fourth...))
	})).asking(g.Node())
}
