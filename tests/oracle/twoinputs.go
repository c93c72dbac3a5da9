package oracle

import (
	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// A joined row is a key with the value of each side, missing where a side has none.
type joinedRow = rdd.Pair[string, rdd.Joined[rdd.Option[int64], rdd.Option[int64]]]

// nested joins by looking at every pair of rows of a key. Left and right keep the rows that match nothing.
func nested(a, b []Row, left, right bool) []Row {
	var out []Row
	_, there := group(b)
	for _, x := range a {
		for _, v := range there[x.Key] {
			out = append(out, Row{Key: x.Key, Value: both(x.Value, v)})
		}
		if len(there[x.Key]) == 0 && left {
			out = append(out, Row{Key: x.Key, Value: both(x.Value, missing)})
		}
	}
	_, there = group(a)
	for _, y := range b {
		if right && len(there[y.Key]) == 0 {
			out = append(out, Row{Key: y.Key, Value: both(missing, y.Value)})
		}
	}
	return out
}

// matches is how many rows a join has at most, of an RDD with itself where there is one.
func matches(in ...[]Row) int {
	_, a := group(in[0])
	_, b := group(in[len(in)-1])
	n := len(in[0]) + len(in[len(in)-1])
	for k, values := range a {
		n += len(values) * len(b[k])
	}
	return n
}

func crossing(in ...[]Row) int { return len(in[0]) * len(in[1]) }

func hasKey(in []Row, key string) bool {
	for _, r := range in {
		if r.Key == key {
			return true
		}
	}
	return false
}

// set returns which rows there are.
func set(in []Row) map[Row]bool {
	there := make(map[Row]bool, len(in))
	for _, r := range in {
		there[r] = true
	}
	return there
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
		name: "join", grows: matches,
		eval: func(s Step, in ...[]Row) []Row { return nested(in[0], in[1], false, false) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.MapValues(rdd.Join(in[0], in[1], s.options()...), b.inner()), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return dstream.MapValues(dstream.Join(in[0], in[1], s.options()...), b.inner())
		},
	}, {
		name: "leftOuterJoin", grows: matches,
		eval: func(s Step, in ...[]Row) []Row { return nested(in[0], in[1], true, false) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.MapValues(rdd.LeftOuterJoin(in[0], in[1], s.options()...), leftSide), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return dstream.MapValues(dstream.LeftOuterJoin(in[0], in[1], s.options()...), leftSide)
		},
	}, {
		name: "rightOuterJoin", grows: matches,
		eval: func(s Step, in ...[]Row) []Row { return nested(in[0], in[1], false, true) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.MapValues(rdd.RightOuterJoin(in[0], in[1], s.options()...), rightSide), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return dstream.MapValues(dstream.RightOuterJoin(in[0], in[1], s.options()...), rightSide)
		},
	}, {
		name: "fullOuterJoin", grows: matches,
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
			there := set(in[1])
			return without(in[0], func(r Row) bool { return there[r] })
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.Subtract(in[0], in[1], s.options()...), nil
		},
	}, {
		name: "subtractByKey",
		eval: func(s Step, in ...[]Row) []Row {
			_, there := group(in[1])
			return without(in[0], func(r Row) bool { return len(there[r.Key]) > 0 })
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.SubtractByKey(in[0], in[1], s.options()...), nil
		},
	}, {
		name: "intersection",
		eval: func(s Step, in ...[]Row) []Row {
			there := set(in[1])
			return without(unique(in[0]), func(r Row) bool { return !there[r] })
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.Intersection(in[0], in[1], s.options()...), nil
		},
	}, {
		name: "cartesian", grows: crossing,
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
