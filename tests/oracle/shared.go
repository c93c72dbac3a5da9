package oracle

import (
	"context"
	"iter"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// weights is what some steps broadcast.
func (s Step) weights() []Row {
	var all []Row
	for i := range 1 + s.Arg%7 {
		all = append(all, Row{Key: label(i), Value: i*s.Arg + 1})
	}
	return all
}

func weighed(r Row, weights []Row) Row {
	return Row{Key: r.Key, Value: r.Value + weights[small(r.Value)%int64(len(weights))].Value}
}

// destroy drops what steps have broadcast.
func (b *builder) destroy() {
	for _, x := range b.broadcasts {
		x.Destroy()
	}
}

// shared are the operations whose functions are made once a partition, some from a broadcast, and others that see their
// partition.
func shared() []operation {
	all := []operation{{
		name: "mapWith",
		eval: func(s Step, in ...[]Row) []Row {
			return each(in[0], func(r Row) []Row { return one(weighed(r, s.weights())) })
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			sent, err := rdd.NewBroadcast(b.c, s.weights())
			if err != nil {
				return nil, err
			}
			b.broadcasts = append(b.broadcasts, sent)
			return rdd.MapWith(in[0], func(ctx context.Context, _ int) (func(Row) Row, error) {
				weights, err := sent.Value(ctx)
				return func(r Row) Row { b.tick(); return weighed(r, weights) }, err
			}), nil
		},
	}, {
		name: "filterWith",
		eval: func(s Step, in ...[]Row) []Row { return without(in[0], func(r Row) bool { return !passes(r, s.Arg) }) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.FilterWith(in[0], func(context.Context, int) (func(Row) bool, error) {
				return func(r Row) bool { b.tick(); return passes(r, s.Arg) }, nil
			}), nil
		},
	}, {
		name: "flatMapWith",
		eval: func(s Step, in ...[]Row) []Row { return each(in[0], func(r Row) []Row { return copies(r, s.Arg) }) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.FlatMapWith(in[0], func(context.Context, int) (func(Row, []Row) []Row, error) {
				return func(r Row, out []Row) []Row { b.tick(); return append(out, copies(r, s.Arg)...) }, nil
			}), nil
		},
	}, {
		name: "filterMap",
		eval: func(s Step, in ...[]Row) []Row {
			return each(in[0], func(r Row) []Row {
				if !passes(r, s.Arg) {
					return nil
				}
				return one(rekey(r, s.Arg))
			})
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.FilterMap(in[0], func(r Row) (Row, bool) { b.tick(); return rekey(r, s.Arg), passes(r, s.Arg) }), nil
		},
	}, {
		name: "flatMapSeq",
		eval: func(s Step, in ...[]Row) []Row { return each(in[0], func(r Row) []Row { return copies(r, s.Arg) }) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.FlatMapSeq(in[0], func(r Row) iter.Seq[Row] {
				return func(yield func(Row) bool) {
					b.tick()
					for _, c := range copies(r, s.Arg) {
						if !yield(c) {
							return
						}
					}
				}
			}), nil
		},
	}, {
		name: "mapPartitionsWithIndex",
		eval: func(s Step, in ...[]Row) []Row { return each(in[0], func(r Row) []Row { return one(rekey(r, s.Arg)) }) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.MapPartitionsWithIndex(in[0], func(_ int, in iter.Seq[Row]) iter.Seq[Row] { return rekeyAll(b, s.Arg)(in) }), nil
		},
	}, {
		name: "mapPartitionsWithContext",
		eval: func(s Step, in ...[]Row) []Row { return each(in[0], func(r Row) []Row { return one(rekey(r, s.Arg)) }) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.MapPartitionsWithContext(in[0], func(ctx context.Context, _ int, in iter.Seq[Row]) iter.Seq2[Row, error] {
				return func(yield func(Row, error) bool) {
					for r := range rekeyAll(b, s.Arg)(in) {
						if !yield(r, ctx.Err()) {
							return
						}
					}
				}
			}), nil
		},
	}, {
		name: "keyBy",
		eval: func(s Step, in ...[]Row) []Row {
			return each(in[0], func(r Row) []Row { return one(Row{Key: label(r.Value + s.Arg), Value: r.Value}) })
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			keyed := rdd.KeyBy(in[0], func(r Row) string { b.tick(); return label(r.Value + s.Arg) })
			return rdd.MapValues(keyed, func(r Row) int64 { return r.Value }), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return dstream.MapToPair(in[0], func(r Row) (string, int64) { b.tick(); return label(r.Value + s.Arg), r.Value })
		},
	}}
	for i := range all {
		all[i].inputs, all[i].ordered, all[i].distinct = 1, true, true
		// A broadcast lives as long as the batches that use it, which one builder over all does not know.
		all[i].distinct = all[i].name != "mapWith"
	}
	return all
}
