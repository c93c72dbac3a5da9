package oracle

import (
	"slices"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// group returns the values of each key, and the keys ascending.
func group(in []Row) (keys []string, values map[string][]int64) {
	values = map[string][]int64{}
	for _, r := range in {
		if _, ok := values[r.Key]; !ok {
			keys = append(keys, r.Key)
		}
		values[r.Key] = append(values[r.Key], r.Value)
	}
	slices.Sort(keys)
	return keys, values
}

// perKey makes one row of the values of each key.
func perKey(in []Row, f func(values []int64) int64) []Row {
	keys, values := group(in)
	var out []Row
	for _, k := range keys {
		out = append(out, Row{Key: k, Value: f(values[k])})
	}
	return out
}

// reduced combines values one after the other.
func reduced(f func(a, b int64) int64) func([]int64) int64 {
	return func(values []int64) int64 {
		x := values[0]
		for _, v := range values[1:] {
			x = f(x, v)
		}
		return x
	}
}

// options are the key options of a step.
func (s Step) options() []rdd.KeyOption {
	var opts []rdd.KeyOption
	if s.Parts > 0 {
		opts = append(opts, rdd.NumPartitions(s.Parts))
	}
	return opts
}

// combining adds to the options whether map tasks combine.
func (s Step) combining() []rdd.KeyOption {
	if s.Arg%5 == 4 {
		return append(s.options(), rdd.WithoutMapSideCombine())
	}
	return s.options()
}

// byKey are the operations that bring together the rows of each key, or of each row.
func byKey() []operation {
	all := []operation{{
		name: "reduceByKey",
		eval: func(s Step, in ...[]Row) []Row { return perKey(in[0], reduced(combiner(s.Arg))) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.ReduceByKey(in[0], b.ticking(combiner(s.Arg)), s.combining()...), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return dstream.ReduceByKey(in[0], b.ticking(combiner(s.Arg)), s.combining()...)
		},
	}, {
		name: "groupByKey",
		eval: func(s Step, in ...[]Row) []Row { return perKey(in[0], digest) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.MapValues(rdd.GroupByKey(in[0], s.options()...), func(v []int64) int64 { b.tick(); return digest(v) }), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return dstream.MapValues(dstream.GroupByKey(in[0], s.options()...), func(v []int64) int64 { b.tick(); return digest(v) })
		},
	}, {
		name: "aggregateByKey",
		eval: func(s Step, in ...[]Row) []Row {
			return perKey(in[0], func(values []int64) int64 {
				var t total
				for _, v := range values {
					t = t.add(v)
				}
				return t.value()
			})
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			all := rdd.AggregateByKey(in[0], total{}, func(t total, v int64) total { b.tick(); return t.add(v) }, total.join, s.combining()...)
			return rdd.MapValues(all, total.value), nil
		},
	}, {
		name: "foldByKey",
		eval: func(s Step, in ...[]Row) []Row { return perKey(in[0], reduced(combiner(0))) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.FoldByKey(in[0], 0, b.ticking(combiner(0)), s.combining()...), nil
		},
	}, {
		name: "combineByKey",
		eval: func(s Step, in ...[]Row) []Row { return perKey(in[0], digest) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			lists := rdd.CombineByKey(in[0], alone(b), push, joinLists, s.combining()...)
			return rdd.MapValues(lists, digest), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return dstream.MapValues(dstream.CombineByKey(in[0], alone(b), push, joinLists, s.combining()...), digest)
		},
	}, {
		name: "counts",
		eval: func(s Step, in ...[]Row) []Row {
			n := map[Row]int64{}
			for _, r := range in[0] {
				n[r]++
			}
			return each(unique(in[0]), func(r Row) []Row { return one(counted(rdd.Pair[Row, int64]{Key: r, Value: n[r]})) })
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.Map(rdd.Counts(in[0], s.options()...), counted), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			return dstream.Map(dstream.CountByValue(in[0], s.options()...), counted)
		},
	}, {
		name: "distinct",
		eval: func(s Step, in ...[]Row) []Row { return unique(in[0]) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.Distinct(in[0], s.options()...), nil
		},
	}, {
		name: "groupByNumber",
		eval: func(s Step, in ...[]Row) []Row {
			return perKey(each(in[0], func(r Row) []Row { return one(Row{Key: label(r.Value), Value: r.Value}) }), digest)
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			groups := rdd.GroupBy(in[0], func(r Row) int64 { b.tick(); return small(r.Value) % 6 }, s.options()...)
			return rdd.Map(groups, func(g rdd.Pair[int64, []Row]) Row {
				var values []int64
				for _, r := range g.Value {
					values = append(values, r.Value)
				}
				return Row{Key: label(g.Key), Value: digest(values)}
			}), nil
		},
	}, {
		name: "reduceByPlace",
		eval: func(s Step, in ...[]Row) []Row {
			sums := map[place]int64{}
			var order []place
			for _, r := range in[0] {
				if _, ok := sums[placeOf(r)]; !ok {
					order = append(order, placeOf(r))
				}
				sums[placeOf(r)] += r.Value
			}
			var out []Row
			for _, p := range order {
				out = append(out, p.row(sums[p]))
			}
			return out
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			placed := rdd.Map(in[0], func(r Row) rdd.Pair[place, int64] { return rdd.Pair[place, int64]{Key: placeOf(r), Value: r.Value} })
			return rdd.Map(rdd.ReduceByKey(placed, b.ticking(combiner(0)), s.combining()...), placeRow), nil
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			placed := dstream.MapToPair(in[0], func(r Row) (place, int64) { return placeOf(r), r.Value })
			return dstream.Map(dstream.ReduceByKey(placed, b.ticking(combiner(0)), s.combining()...), placeRow)
		},
	}}
	for i := range all {
		all[i].inputs = 1
	}
	return all
}

func alone(b *builder) func(int64) []int64 {
	return func(v int64) []int64 { b.tick(); return []int64{v} }
}

func push(list []int64, v int64) []int64    { return append(list, v) }
func joinLists(a, b []int64) []int64        { return append(a, b...) }
func placeRow(p rdd.Pair[place, int64]) Row { return p.Key.row(p.Value) }

func counted(p rdd.Pair[Row, int64]) Row {
	return Row{Key: p.Key.Key, Value: p.Key.Value*31 + p.Value}
}

// unique returns each row once.
func unique(in []Row) []Row { return slices.Compact(sorted(in)) }
