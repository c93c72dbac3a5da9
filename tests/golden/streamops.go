package golden

import (
	"context"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// liftStream makes a stream with a function found by name.
func liftStream[F any](find func(string) (F, error), name string, with func(F) *Stream) (*Stream, error) {
	f, err := find(name)
	if err != nil {
		return nil, err
	}
	return with(f), nil
}

// narrow makes what is computed record by record or partition by partition.
func (b *StreamBuilder) narrow(_ context.Context, op StreamOperation, in []*Stream) (*Stream, error) {
	switch op.Op {
	case "map":
		return liftStream(mapFunction, op.F, func(f func(Value) Value) *Stream {
			return streamOfRows(dstream.Map(in[0].Rows(), f))
		})
	case "flatMap":
		return liftStream(flatFunction, op.F, func(f func(Value) []Value) *Stream {
			return streamOfRows(dstream.FlatMap(in[0].Rows(), f))
		})
	case "filter":
		return liftStream(testFunction, op.F, func(f func(Value) bool) *Stream {
			return streamOfRows(in[0].Rows().Filter(f))
		})
	case "mapPartitions":
		return liftStream(partitionFunction, op.F, func(f partitionFunc) *Stream {
			return streamOfRows(dstream.MapPartitions(in[0].Rows(), f))
		})
	case "glom":
		return streamOfRows(dstream.Map(dstream.Glom(in[0].Rows()), func(rows []Value) Value { return List(rows...) })), nil
	case "mapValues":
		return liftStream(mapFunction, op.F, func(f func(Value) Value) *Stream {
			return streamOfPairs(dstream.MapValues(in[0].Pairs(), f))
		})
	case "flatMapValues":
		return liftStream(flatFunction, op.F, func(f func(Value) []Value) *Stream {
			return streamOfPairs(dstream.FlatMapValues(in[0].Pairs(), f))
		})
	case "union":
		all := make([]*dstream.DStream[Value], len(in))
		for i, s := range in {
			all[i] = s.Rows()
		}
		if len(all) > 1 && !op.Ctx {
			return streamOfRows(all[0].Union(all[1:]...)), nil
		}
		return streamOfRows(dstream.Union(all...)), nil
	}
	return nil, nil
}

// combined makes what brings the records of a batch together.
func (b *StreamBuilder) combined(_ context.Context, op StreamOperation, in []*Stream) (*Stream, error) {
	opts, err := b.keyOptions(op)
	if err != nil {
		return nil, err
	}
	switch op.Op {
	case "repartition":
		if op.Num == nil {
			return nil, &NotBuiltError{What: "stream operation", Name: "repartition without num"}
		}
		return streamOfRows(in[0].Rows().Repartition(*op.Num)), nil
	case "count":
		return streamOfRows(dstream.Map(dstream.Count(in[0].Rows()), Int)), nil
	case "reduce":
		return liftStream(binaryFunction, op.F, func(f func(a, b Value) Value) *Stream {
			return streamOfRows(dstream.Reduce(in[0].Rows(), f))
		})
	case "countByValue":
		return streamOfPairs(dstream.MapValues(dstream.CountByValue(in[0].Rows(), opts...), Int)), nil
	case "groupByKey":
		return bagged(dstream.GroupByKey(in[0].Pairs(), opts...)), nil
	case "reduceByKey":
		return liftStream(binaryFunction, op.F, func(f func(a, b Value) Value) *Stream {
			return streamOfPairs(dstream.ReduceByKey(in[0].Pairs(), f, opts...))
		})
	case "combineByKey":
		return liftStream(combineFunctions, op.F, func(c combiner) *Stream {
			return streamOfPairs(dstream.CombineByKey(in[0].Pairs(), c.create, c.merge, c.merge2, opts...))
		})
	}
	return nil, nil
}

// bagged makes the values of groups bags.
func bagged(s *dstream.DStream[rdd.Pair[Value, []Value]]) *Stream {
	return streamOfPairs(dstream.MapValues(s, func(vs []Value) Value { return Bag(vs...) }))
}

// joined makes what brings two streams together by key.
func (b *StreamBuilder) joined(_ context.Context, op StreamOperation, in []*Stream) (*Stream, error) {
	opts, err := b.keyOptions(op)
	if err != nil {
		return nil, err
	}
	switch op.Op {
	case "cogroup":
		groups := dstream.CoGroup(in[0].Pairs(), in[1].Pairs(), opts...)
		return streamOfPairs(dstream.MapValues(groups, func(x rdd.CoGrouped[Value, Value]) Value {
			return Tuple(Bag(x.Left...), Bag(x.Right...))
		})), nil
	case "join":
		return joinedStream(dstream.Join(in[0].Pairs(), in[1].Pairs(), opts...), same, same), nil
	case "leftOuterJoin":
		return joinedStream(dstream.LeftOuterJoin(in[0].Pairs(), in[1].Pairs(), opts...), same, optional), nil
	case "rightOuterJoin":
		return joinedStream(dstream.RightOuterJoin(in[0].Pairs(), in[1].Pairs(), opts...), optional, same), nil
	case "fullOuterJoin":
		return joinedStream(dstream.FullOuterJoin(in[0].Pairs(), in[1].Pairs(), opts...), optional, optional), nil
	}
	return nil, nil
}

// joinedStream turns both sides of a join into values.
func joinedStream[V, W any](j *dstream.DStream[rdd.Pair[Value, rdd.Joined[V, W]]], left func(V) Value, right func(W) Value) *Stream {
	return streamOfPairs(dstream.MapValues(j, func(x rdd.Joined[V, W]) Value { return Tuple(left(x.Left), right(x.Right)) }))
}
