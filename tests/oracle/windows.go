package oracle

import (
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// look evaluates something at every slide of a window over all batches.
func look(s Step, in []Batch, slide int, eval func(now int, window []Row) []Row) []Batch {
	out := make([]Batch, len(in))
	width, every := s.Window*slide, s.Slide*slide
	for now := every; now < len(in); now += every {
		var window []Row
		for at := max(now-width+1, 1); at <= now; at++ {
			window = append(window, in[at].Rows...)
		}
		out[now] = Batch{Present: true, Rows: eval(now, window)}
	}
	return out
}

// recomputed is a window evaluated from scratch at each slide.
func recomputed(eval func(s Step, window []Row) []Row) func(Step, []Batch, int) []Batch {
	return func(s Step, in []Batch, slide int) []Batch {
		return look(s, in, slide, func(_ int, window []Row) []Row { return eval(s, window) })
	}
}

// lingering is a window by key whose keys stay once a window has held them, with 0 where the window
// holds them no more, unless keep does not pass them.
func lingering(combine func(s Step) func(a, b int64) int64, keep func(Row) bool) func(Step, []Batch, int) []Batch {
	return func(s Step, in []Batch, slide int) []Batch {
		var seen []Row
		return look(s, in, slide, func(_ int, window []Row) []Row {
			for _, r := range window {
				if !hasKey(seen, r.Key) {
					seen = append(seen, Row{Key: r.Key})
				}
			}
			// Both invertible functions have 0 as their neutral value.
			all := append(append([]Row(nil), seen...), window...)
			return without(perKey(all, reduced(combine(s))), func(r Row) bool { return !keep(r) })
		})
	}
}

func always(Row) bool     { return true }
func nonZero(r Row) bool  { return r.Value != 0 }
func positive(r Row) bool { return r.Value > 3 }

func undoable(s Step) func(a, b int64) int64 {
	combine, _ := invertible(s.Arg)
	return combine
}

// hashed gives all rows one key.
func hashed(in []Row) []Row {
	return each(in, func(r Row) []Row { return one(Row{Key: "#", Value: r.Value}) })
}

func onlyValue(v int64) Row { return Row{Key: "#", Value: v} }

// span returns the window and slide of a step over a stream.
func (b *builder) span(s Step, over stream) (window, slide time.Duration) {
	return time.Duration(s.Window) * over.Slide(), time.Duration(s.Slide) * over.Slide()
}

// windows are the operations over several batches, and those that make one row of a batch.
func windows() []operation {
	all := []operation{{
		name: "window", spans: true, distinct: false,
		history: recomputed(func(_ Step, window []Row) []Row { return window }),
		stream: func(b *builder, s Step, in ...stream) stream {
			window, slide := b.span(s, in[0])
			return dstream.Window(in[0], window, slide)
		},
	}, {
		name: "reduceByKeyAndWindow", spans: true, tables: 4,
		history: recomputed(func(s Step, window []Row) []Row { return perKey(window, reduced(combiner(s.Arg))) }),
		stream: func(b *builder, s Step, in ...stream) stream {
			window, slide := b.span(s, in[0])
			return dstream.ReduceByKeyAndWindow(in[0], b.ticking(combiner(s.Arg)), nil, window, slide, dstream.Partitioned(s.options()...))
		},
	}, {
		name: "reduceByKeyAndWindowInverse", spans: true,
		history: lingering(undoable, always),
		stream:  func(b *builder, s Step, in ...stream) stream { return b.inverse(s, in[0]) },
	}, {
		name: "reduceByKeyAndWindowNonZero", spans: true,
		history: lingering(undoable, nonZero),
		stream: func(b *builder, s Step, in ...stream) stream {
			return b.inverse(s, in[0], dstream.KeepWindowed(nonZero))
		},
	}, {
		name: "reduceByKeyAndWindowPositive", spans: true,
		history: lingering(undoable, positive),
		stream: func(b *builder, s Step, in ...stream) stream {
			return b.inverse(s, in[0], dstream.KeepWindowed(positive))
		},
	}, {
		name: "groupByKeyAndWindow", spans: true,
		history: recomputed(func(_ Step, window []Row) []Row { return perKey(window, digest) }),
		stream: func(b *builder, s Step, in ...stream) stream {
			window, slide := b.span(s, in[0])
			groups := dstream.GroupByKeyAndWindow(in[0], window, slide, s.options()...)
			return dstream.MapValues(groups, func(v []int64) int64 { b.tick(); return digest(v) })
		},
	}, {
		name: "countByWindow", spans: true,
		history: func(s Step, in []Batch, slide int) []Batch {
			started := false
			return look(s, in, slide, func(_ int, window []Row) []Row {
				if started = started || len(window) > 0; !started {
					return nil
				}
				return one(onlyValue(int64(len(window))))
			})
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			window, slide := b.span(s, in[0])
			return dstream.Map(dstream.CountByWindow(in[0], window, slide), onlyValue)
		},
	}, {
		name: "reduceByWindow", spans: true, tables: 4,
		history: recomputed(func(s Step, window []Row) []Row { return perKey(hashed(window), reduced(combiner(s.Arg))) }),
		stream: func(b *builder, s Step, in ...stream) stream {
			window, slide := b.span(s, in[0])
			values := dstream.Map(in[0], func(r Row) int64 { return r.Value })
			return dstream.Map(dstream.ReduceByWindow(values, b.ticking(combiner(s.Arg)), nil, window, slide), onlyValue)
		},
	}, {
		name: "reduceByWindowInverse", spans: true,
		history: func(s Step, in []Batch, slide int) []Batch {
			one := make([]Batch, len(in))
			for i, batch := range in {
				one[i] = Batch{Present: batch.Present, Rows: hashed(batch.Rows)}
			}
			return lingering(undoable, always)(s, one, slide)
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			window, slide := b.span(s, in[0])
			values := dstream.Map(in[0], func(r Row) int64 { return r.Value })
			combine, undo := invertible(s.Arg)
			return dstream.Map(dstream.ReduceByWindow(values, b.ticking(combine), b.ticking(undo), window, slide), onlyValue)
		},
	}, {
		name: "countByValueAndWindow", spans: true,
		history: recomputed(func(s Step, window []Row) []Row {
			n := map[Row]int64{}
			for _, r := range window {
				n[r]++
			}
			return each(unique(window), func(r Row) []Row { return one(counted(rdd.Pair[Row, int64]{Key: r, Value: n[r]})) })
		}),
		stream: func(b *builder, s Step, in ...stream) stream {
			window, slide := b.span(s, in[0])
			return dstream.Map(dstream.CountByValueAndWindow(in[0], window, slide, s.options()...), counted)
		},
	}, {
		name: "count", needsAll: true,
		eval:   func(_ Step, in ...[]Row) []Row { return one(onlyValue(int64(len(in[0])))) },
		stream: func(b *builder, s Step, in ...stream) stream { return dstream.Map(dstream.Count(in[0]), onlyValue) },
	}, {
		name: "reduce",
		eval: func(s Step, in ...[]Row) []Row { return perKey(hashed(in[0]), reduced(combiner(s.Arg))) },
		stream: func(b *builder, s Step, in ...stream) stream {
			values := dstream.Map(in[0], func(r Row) int64 { return r.Value })
			return dstream.Map(dstream.Reduce(values, b.ticking(combiner(s.Arg))), onlyValue)
		},
	}}
	for i := range all {
		all[i].inputs, all[i].family, all[i].fills = 1, streamOnly, all[i].spans
	}
	return all
}

// inverse is a window by key that is moved rather than recomputed.
func (b *builder) inverse(s Step, in stream, opts ...dstream.WindowOption) stream {
	combine, undo := invertible(s.Arg)
	window, slide := b.span(s, in)
	opts = append(opts, dstream.Partitioned(s.options()...))
	moved := dstream.ReduceByKeyAndWindow(in, b.ticking(combine), b.ticking(undo), window, slide, opts...)
	b.checkpoint(moved, s.Every)
	return moved
}
