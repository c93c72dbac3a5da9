package oracle

import (
	"iter"
	"slices"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// each applies f to all rows.
func each(in []Row, f func(Row) []Row) []Row {
	var out []Row
	for _, r := range in {
		out = append(out, f(r)...)
	}
	return out
}

func one(r Row) []Row { return []Row{r} }

// elementwise are the operations that see one row at a time.
func elementwise() []operation {
	all := []operation{{
		name: "mapValues",
		eval: func(s Step, in ...[]Row) []Row {
			return each(in[0], func(r Row) []Row { return one(Row{Key: r.Key, Value: scale(r.Value, s.Arg)}) })
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.MapValues(in[0], func(v int64) int64 { b.tick(); return scale(v, s.Arg) }), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return dstream.MapValues(in[0], func(v int64) int64 { b.tick(); return scale(v, s.Arg) })
		},
	}, {
		name: "map",
		eval: func(s Step, in ...[]Row) []Row {
			return each(in[0], func(r Row) []Row { return one(rekey(r, s.Arg)) })
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.Map(in[0], func(r Row) Row { b.tick(); return rekey(r, s.Arg) }), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return dstream.MapToPair(in[0], func(r Row) (string, int64) {
				b.tick()
				r = rekey(r, s.Arg)
				return r.Key, r.Value
			})
		},
	}, {
		name: "filter",
		eval: func(s Step, in ...[]Row) []Row {
			return slices.DeleteFunc(slices.Clone(in[0]), func(r Row) bool { return !passes(r, s.Arg) })
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return in[0].Filter(func(r Row) bool { b.tick(); return passes(r, s.Arg) }), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return in[0].Filter(func(r Row) bool { b.tick(); return passes(r, s.Arg) })
		},
	}, {
		name: "flatMap",
		eval: func(s Step, in ...[]Row) []Row {
			return each(in[0], func(r Row) []Row { return copies(r, s.Arg) })
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.FlatMap(in[0], func(r Row) []Row { b.tick(); return copies(r, s.Arg) }), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return dstream.FlatMap(in[0], func(r Row) []Row { b.tick(); return copies(r, s.Arg) })
		},
	}, {
		name: "flatMapAppend",
		eval: func(s Step, in ...[]Row) []Row {
			return each(in[0], func(r Row) []Row { return manyCopies(r, s.Arg) })
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.FlatMapAppend(in[0], func(r Row, out []Row) []Row { b.tick(); return append(out, manyCopies(r, s.Arg)...) }), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return dstream.FlatMapAppend(in[0], func(r Row, out []Row) []Row { b.tick(); return append(out, manyCopies(r, s.Arg)...) })
		},
	}, {
		name: "flatMapValues",
		eval: func(s Step, in ...[]Row) []Row {
			return each(in[0], func(r Row) []Row {
				if small(r.Value)%5 == 0 {
					return nil
				}
				return []Row{r, {Key: r.Key, Value: scale(r.Value, s.Arg)}}
			})
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.FlatMapValues(in[0], twice(b, s.Arg)), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return dstream.FlatMapValues(in[0], twice(b, s.Arg))
		},
	}, {
		name: "mapChunks",
		eval: func(s Step, in ...[]Row) []Row {
			return each(in[0], func(r Row) []Row {
				if passes(r, s.Arg) {
					return one(Row{Key: label(r.Value), Value: r.Value})
				}
				return nil
			})
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.MapChunks(in[0], relabel(b, s.Arg)), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return dstream.MapChunks(in[0], relabel(b, s.Arg))
		},
	}, {
		name: "mapPartitions",
		eval: func(s Step, in ...[]Row) []Row { return each(in[0], func(r Row) []Row { return one(rekey(r, s.Arg)) }) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.MapPartitions(in[0], rekeyAll(b, s.Arg)), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return dstream.MapPartitions(in[0], rekeyAll(b, s.Arg))
		},
	}, {
		name: "tryMap",
		eval: func(s Step, in ...[]Row) []Row {
			return each(in[0], func(r Row) []Row { return one(Row{Key: r.Key, Value: small(r.Value)}) })
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.TryMap(in[0], func(r Row) (Row, error) { b.tick(); return Row{Key: r.Key, Value: small(r.Value)}, nil }), nil
		},
	}, {
		name: "keysAndValues",
		eval: func(s Step, in ...[]Row) []Row {
			if s.Arg%2 == 0 {
				return each(in[0], func(r Row) []Row { return one(Row{Key: r.Key, Value: int64(len(r.Key))}) })
			}
			return each(in[0], func(r Row) []Row { return one(Row{Key: label(r.Value), Value: r.Value}) })
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			if s.Arg%2 == 0 {
				return rdd.Map(rdd.Keys(in[0]), func(k string) Row { return Row{Key: k, Value: int64(len(k))} }), nil
			}
			return rdd.Map(rdd.Values(in[0]), func(v int64) Row { return Row{Key: label(v), Value: v} }), nil
		},
	}, {
		name: "glom",
		eval: func(s Step, in ...[]Row) []Row { return in[0] },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.FlatMap(rdd.Glom(in[0]), func(all []Row) []Row { b.tick(); return all }), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return dstream.FlatMap(dstream.Glom(in[0]), func(all []Row) []Row { b.tick(); return all })
		},
	}}
	for i := range all {
		all[i].inputs, all[i].ordered, all[i].distinct = 1, true, true
	}
	return all
}

func twice(b *builder, arg int64) func(int64) []int64 {
	return func(v int64) []int64 {
		b.tick()
		if small(v)%5 == 0 {
			return nil
		}
		return []int64{v, scale(v, arg)}
	}
}

func relabel(b *builder, arg int64) func(in, out []Row) ([]Row, error) {
	return func(in, out []Row) ([]Row, error) {
		b.tick()
		for i, r := range in {
			if passes(r, arg) {
				out = append(out, Row{Key: label(r.Value), Value: r.Value})
			}
			in[i].Value = -1 // the chunk is the function's own
		}
		return out, nil
	}
}

func rekeyAll(b *builder, arg int64) func(iter.Seq[Row]) iter.Seq[Row] {
	return func(in iter.Seq[Row]) iter.Seq[Row] {
		return func(yield func(Row) bool) {
			for r := range in {
				b.tick()
				if !yield(rekey(r, arg)) {
					return
				}
			}
		}
	}
}
