package oracle

import (
	"iter"

	"github.com/leat-io/leat/rdd"
)

// numbering are the operations in which the place of a row among all rows matters.
func numbering() []operation {
	all := []operation{{
		name: "index",
		eval: func(_ Step, in ...[]Row) []Row {
			var out []Row
			for i, r := range in[0] {
				out = append(out, Row{Key: r.Key, Value: r.Value*31 + int64(i)})
			}
			return out
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			numbered, err := rdd.ZipWithIndex(b.ctx, in[0])
			if err != nil {
				return nil, err
			}
			return rdd.Map(numbered, func(p rdd.Pair[Row, int64]) Row {
				b.tick()
				return Row{Key: p.Key.Key, Value: p.Key.Value*31 + p.Value}
			}), nil
		},
	}, {
		name: "sliding",
		eval: func(s Step, in ...[]Row) []Row {
			var out []Row
			for i := range in[0] {
				if n := s.run(); i+n <= len(in[0]) {
					out = append(out, runOf(in[0][i:i+n]))
				}
			}
			return out
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.Map(rdd.Sliding(in[0], s.run()), func(run []Row) Row { b.tick(); return runOf(run) }), nil
		},
	}}
	for i := range all {
		all[i].inputs, all[i].ordered, all[i].wantsOrder = 1, true, true
	}
	return append(all, zipping()...)
}

// run is the length of the runs of Sliding.
func (s Step) run() int { return 1 + int(s.Arg%5) }

// runOf weighs the rows of a run by their places.
func runOf(run []Row) Row {
	out := Row{Key: run[0].Key}
	for i, r := range run {
		out.Value += r.Value * int64(i+1)
	}
	return out
}

// zipping are the operations that read partitions of several RDDs side by side. All are made from one, so
// that their partitions fit.
func zipping() []operation {
	eval := func(n int) func(s Step, in ...[]Row) []Row {
		return func(s Step, in ...[]Row) []Row {
			var out []Row
			for _, r := range in[0] {
				out = append(out, r)
				for i := range n - 1 {
					out = append(out, Row{Key: r.Key, Value: scale(r.Value, s.Arg+int64(i))})
				}
			}
			return out
		}
	}
	scaled := func(b *builder, s Step, in rows, i int64) rows {
		return rdd.MapValues(in, func(v int64) int64 { b.tick(); return scale(v, s.Arg+i) })
	}
	return []operation{{
		name: "zipPartitions", inputs: 1, ordered: true, eval: eval(2),
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.ZipPartitions(in[0], scaled(b, s, in[0], 0), func(x, y iter.Seq[Row]) iter.Seq[Row] { return alternate(x, y) }), nil
		},
	}, {
		name: "zipPartitions3", inputs: 1, ordered: true, eval: eval(3),
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.ZipPartitions3(in[0], scaled(b, s, in[0], 0), scaled(b, s, in[0], 1),
				func(x, y, z iter.Seq[Row]) iter.Seq[Row] { return alternate(x, y, z) }), nil
		},
	}, {
		name: "zipPartitions4", inputs: 1, ordered: true, eval: eval(4),
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.ZipPartitions4(in[0], scaled(b, s, in[0], 0), scaled(b, s, in[0], 1), scaled(b, s, in[0], 2),
				func(w, x, y, z iter.Seq[Row]) iter.Seq[Row] { return alternate(w, x, y, z) }), nil
		},
	}}
}

// alternate takes a row from each input in turn. It holds all of them: a pull iterator would be a goroutine.
func alternate(inputs ...iter.Seq[Row]) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		held := make([][]Row, len(inputs))
		for i, in := range inputs {
			for r := range in {
				held[i] = append(held[i], r)
			}
		}
		for n := range held[0] {
			for i := range held {
				if !yield(held[i][n]) {
					return
				}
			}
		}
	}
}
