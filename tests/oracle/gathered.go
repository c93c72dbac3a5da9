package oracle

import "github.com/leat-io/leat/rdd"

func (s Step) doubled(in []Row) []Row {
	return each(in, func(r Row) []Row { return one(Row{Key: r.Key, Value: scale(r.Value, s.Arg)}) })
}

func (b *builder) doubled(s Step, in rows) rows {
	return rdd.MapValues(in, func(v int64) int64 { b.tick(); return scale(v, s.Arg) })
}

// gathered are the operations over more than two inputs, which are made from two.
func gathered() []operation {
	all := []operation{{
		name: "coGroup4",
		eval: func(s Step, in ...[]Row) []Row { return digests(in[0], in[1], s.doubled(in[0]), s.doubled(in[1])) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			groups := rdd.CoGroup4(in[0], in[1], b.doubled(s, in[0]), b.doubled(s, in[1]), s.options()...)
			return rdd.MapValues(groups, func(g rdd.CoGrouped4[int64, int64, int64, int64]) int64 {
				b.tick()
				return weigh(g.First, g.Second, g.Third, g.Fourth)
			}), nil
		},
	}, {
		name: "coGroupAll",
		eval: func(s Step, in ...[]Row) []Row { return digests(s.many(in[0], in[1], s.doubled(in[0]))...) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			inputs := pick(s, in[0], in[1], b.doubled(s, in[0]))
			groups := rdd.CoGroupAll(in[0].Context(), inputs, s.options()...)
			return rdd.MapValues(groups, func(g [][]int64) int64 { b.tick(); return weigh(g...) }), nil
		},
	}, {
		name: "unionAll",
		eval: func(s Step, in ...[]Row) []Row {
			var out []Row
			for _, x := range s.many(in[0], in[1], s.doubled(in[0])) {
				out = append(out, x...)
			}
			return out
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			c := in[0].Context()
			inputs := append(pick(s, in[0], in[1], b.doubled(s, in[0])), rdd.Empty[Row](c))
			return rdd.UnionAll(c, inputs...), nil
		},
	}}
	for i := range all {
		all[i].inputs, all[i].needsAll = 2, true
	}
	return all
}

// pick returns one to nine inputs of the three given, some of them more than once.
func pick[T any](s Step, in ...T) []T {
	var all []T
	for i := range 1 + int(s.Arg%9) {
		all = append(all, in[(i*i+int(s.Arg))%3])
	}
	return all
}

func (s Step) many(in ...[]Row) [][]Row { return pick(s, in...) }
