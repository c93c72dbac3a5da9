package oracle

import (
	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// A joined row is a key with the value of each side, missing where a side has none.
type joinedRow = rdd.Pair[string, rdd.Joined[rdd.Option[int64], rdd.Option[int64]]]

// nested joins by looking at every pair of rows. Left and right keep the rows that match nothing.
func nested(a, b []Row, left, right bool) []Row {
	var out []Row
	for _, x := range a {
		matched := false
		for _, y := range b {
			if x.Key == y.Key {
				matched = true
				out = append(out, Row{Key: x.Key, Value: both(x.Value, y.Value)})
			}
		}
		if !matched && left {
			out = append(out, Row{Key: x.Key, Value: both(x.Value, missing)})
		}
	}
	for _, y := range b {
		if right && !hasKey(a, y.Key) {
			out = append(out, Row{Key: y.Key, Value: both(missing, y.Value)})
		}
	}
	return out
}

func hasKey(in []Row, key string) bool {
	for _, r := range in {
		if r.Key == key {
			return true
		}
	}
	return false
}

func hasRow(in []Row, row Row) bool {
	for _, r := range in {
		if r == row {
			return true
		}
	}
	return false
}

func without(in []Row, drop func(Row) bool) []Row {
	return each(in, func(r Row) []Row {
		if drop(r) {
			return nil
		}
		return one(r)
	})
}

// twoInputs are the operations that combine steps.
func twoInputs() []operation {
	all := []operation{{
		name: "union", ordered: true, distinct: true,
		eval:   func(s Step, in ...[]Row) []Row { return append(append([]Row(nil), in[0]...), in[1]...) },
		batch:  func(b *builder, s Step, in ...rows) (rows, error) { return in[0].Union(in[1]), nil },
		stream: func(b *builder, s Step, in ...stream) stream { return in[0].Union(in[1]) },
	}, {
		name: "join",
		eval: func(s Step, in ...[]Row) []Row { return nested(in[0], in[1], false, false) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.MapValues(rdd.Join(in[0], in[1], s.options()...), b.inner()), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return dstream.MapValues(dstream.Join(in[0], in[1], s.options()...), b.inner())
		},
	}, {
		name: "leftOuterJoin",
		eval: func(s Step, in ...[]Row) []Row { return nested(in[0], in[1], true, false) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.MapValues(rdd.LeftOuterJoin(in[0], in[1], s.options()...), leftSide), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return dstream.MapValues(dstream.LeftOuterJoin(in[0], in[1], s.options()...), leftSide)
		},
	}, {
		name: "rightOuterJoin",
		eval: func(s Step, in ...[]Row) []Row { return nested(in[0], in[1], false, true) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.MapValues(rdd.RightOuterJoin(in[0], in[1], s.options()...), rightSide), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return dstream.MapValues(dstream.RightOuterJoin(in[0], in[1], s.options()...), rightSide)
		},
	}, {
		name: "fullOuterJoin",
		eval: func(s Step, in ...[]Row) []Row { return nested(in[0], in[1], true, true) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.Map(rdd.FullOuterJoin(in[0], in[1], s.options()...), bothSides), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return dstream.Map(dstream.FullOuterJoin(in[0], in[1], s.options()...), bothSides)
		},
	}, {
		name: "coGroup",
		eval: func(s Step, in ...[]Row) []Row { return digests(in[0], in[1]) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.MapValues(rdd.CoGroup(in[0], in[1], s.options()...), b.groups()), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return dstream.MapValues(dstream.CoGroup(in[0], in[1], s.options()...), b.groups())
		},
	}, {
		name: "coGroup3",
		eval: func(s Step, in ...[]Row) []Row { return digests(in[0], in[1], in[0]) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.MapValues(rdd.CoGroup3(in[0], in[1], in[0], s.options()...), func(g rdd.CoGrouped3[int64, int64, int64]) int64 {
				b.tick()
				return weigh(g.First, g.Second, g.Third)
			}), nil
		},
	}, {
		name: "subtract",
		eval: func(s Step, in ...[]Row) []Row {
			return without(in[0], func(r Row) bool { return hasRow(in[1], r) })
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.Subtract(in[0], in[1], s.options()...), nil
		},
	}, {
		name: "subtractByKey",
		eval: func(s Step, in ...[]Row) []Row {
			return without(in[0], func(r Row) bool { return hasKey(in[1], r.Key) })
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.SubtractByKey(in[0], in[1], s.options()...), nil
		},
	}, {
		name: "intersection",
		eval: func(s Step, in ...[]Row) []Row {
			return without(unique(in[0]), func(r Row) bool { return !hasRow(in[1], r) })
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.Intersection(in[0], in[1], s.options()...), nil
		},
	}, {
		name: "cartesian",
		eval: func(s Step, in ...[]Row) []Row {
			var out []Row
			for _, x := range in[0] {
				for _, y := range in[1] {
					out = append(out, crossed(rdd.Pair[Row, Row]{Key: x, Value: y}))
				}
			}
			return out
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.Map(rdd.Cartesian(in[0], in[1]), crossed), nil
		},
	}}
	for i := range all {
		all[i].inputs, all[i].needsAll = 2, true
	}
	return all
}

func (b *builder) inner() func(rdd.Joined[int64, int64]) int64 {
	return func(j rdd.Joined[int64, int64]) int64 { b.tick(); return both(j.Left, j.Right) }
}

func (b *builder) groups() func(rdd.CoGrouped[int64, int64]) int64 {
	return func(g rdd.CoGrouped[int64, int64]) int64 { b.tick(); return weigh(g.Left, g.Right) }
}

// weigh tells the values of the inputs apart by the input's number.
func weigh(sides ...[]int64) int64 {
	var d int64
	for i, side := range sides {
		d += digest(side) * int64(2*i+1)
	}
	return d
}

// digests is weigh of every key's values in each input.
func digests(inputs ...[]Row) []Row {
	var all []Row
	for _, in := range inputs {
		all = append(all, in...)
	}
	keys, _ := group(all)
	grouped := make([]map[string][]int64, len(inputs))
	for i, in := range inputs {
		_, grouped[i] = group(in)
	}
	var out []Row
	for _, k := range keys {
		sides := make([][]int64, len(inputs))
		for i := range inputs {
			sides[i] = grouped[i][k]
		}
		out = append(out, Row{Key: k, Value: weigh(sides...)})
	}
	return out
}

func or(o rdd.Option[int64]) int64 {
	if !o.OK {
		return missing
	}
	return o.Value
}

func leftSide(j rdd.Joined[int64, rdd.Option[int64]]) int64  { return both(j.Left, or(j.Right)) }
func rightSide(j rdd.Joined[rdd.Option[int64], int64]) int64 { return both(or(j.Left), j.Right) }

func bothSides(r joinedRow) Row {
	return Row{Key: r.Key, Value: both(or(r.Value.Left), or(r.Value.Right))}
}

func crossed(p rdd.Pair[Row, Row]) Row {
	return Row{Key: p.Key.Key, Value: both(p.Key.Value, p.Value.Value) + int64(len(p.Value.Key))}
}
