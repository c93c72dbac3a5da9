package oracle

import (
	"cmp"
	"iter"
	"slices"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

func same(_ Step, in ...[]Row) []Row { return in[0] }

func (s Step) parts() int { return max(s.Parts, 1) }

func (s Step) sortOptions() []rdd.SortOption {
	var opts []rdd.SortOption
	if s.Parts > 0 {
		opts = append(opts, rdd.SortPartitions(s.Parts))
	}
	if s.Arg%2 == 1 {
		opts = append(opts, rdd.Descending())
	}
	return opts
}

// stable sorts rows by a key, downwards for odd arguments, and leaves equal ones as they are.
func stable(s Step, in []Row, compare func(a, b Row) int) []Row {
	in = slices.Clone(in)
	slices.SortStableFunc(in, func(a, b Row) int {
		if s.Arg%2 == 1 {
			return compare(b, a)
		}
		return compare(a, b)
	})
	return in
}

func byName(a, b Row) int  { return cmp.Compare(a.Key, b.Key) }
func byValue(a, b Row) int { return cmp.Compare(a.Value, b.Value) }

// layout are the operations that place, sort, number and keep rows.
func layout() []operation {
	all := []operation{{
		name: "partitionBy", eval: same,
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.PartitionBy(in[0], rdd.Hash[string](s.parts())), nil
		},
	}, {
		name: "repartitionAndSort", eval: same,
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			sorted := rdd.RepartitionAndSortWithinPartitions(in[0], rdd.Hash[string](s.parts()))
			return rdd.MapPartitions(sorted, ascending, rdd.PreservePartitioning()), nil
		},
	}, {
		name: "repartition", eval: same,
		batch: func(b *builder, s Step, in ...rows) (rows, error) { return in[0].Repartition(s.parts()), nil },
	}, {
		name: "coalesce", eval: same, ordered: true,
		batch: func(b *builder, s Step, in ...rows) (rows, error) { return in[0].Coalesce(s.parts()), nil },
	}, {
		name: "sortRows", sorts: true,
		eval: func(s Step, in ...[]Row) []Row { return stable(s, in[0], compareRows) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.SortByFunc(b.ctx, in[0], func(r Row) Row { return r }, compareRows, s.sortOptions()...)
		},
	}, {
		name: "sortByValue", ordered: true,
		eval: func(s Step, in ...[]Row) []Row { return stable(s, in[0], byValue) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.SortBy(b.ctx, in[0], func(r Row) int64 { b.tick(); return r.Value }, s.sortOptions()...)
		},
	}, {
		name: "sortByKey", ordered: true, ranged: true,
		eval: func(s Step, in ...[]Row) []Row { return stable(s, in[0], byName) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.SortByKey(b.ctx, in[0], s.sortOptions()...)
		},
	}, {
		name: "filterByRange", ordered: true,
		eval: func(s Step, in ...[]Row) []Row {
			lo, hi := s.bounds()
			return without(in[0], func(r Row) bool { return r.Key < lo || r.Key > hi })
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			lo, hi := s.bounds()
			return rdd.FilterByRange(in[0], lo, hi), nil
		},
	}, {
		name: "zipWithItself", ordered: true,
		eval: func(s Step, in ...[]Row) []Row {
			return each(in[0], func(r Row) []Row { return one(crossed(rdd.Pair[Row, Row]{Key: r, Value: rekey(r, s.Arg)})) })
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			other := rdd.Map(in[0], func(r Row) Row { b.tick(); return rekey(r, s.Arg) })
			return rdd.Map(rdd.Zip(in[0], other), crossed), nil
		},
	}, {
		name: "zipWithIndex", sorts: true,
		eval: func(s Step, in ...[]Row) []Row {
			out := make([]Row, len(in[0]))
			for i := range out {
				out[i] = Row{Key: "#", Value: int64(i)}
			}
			return out
		},
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			numbered, err := rdd.ZipWithIndex(b.ctx, in[0])
			if err != nil {
				return nil, err
			}
			return rdd.Map(numbered, func(p rdd.Pair[Row, int64]) Row { return Row{Key: "#", Value: p.Value} }), nil
		},
	}, {
		name: "persist", eval: same, ordered: true,
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			kept := rdd.MapValues(in[0], b.itself)
			return kept, kept.Persist(s.level())
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			kept := dstream.MapValues(in[0], b.itself)
			b.note(kept.Persist(s.level()))
			return kept
		},
	}, {
		name: "checkpoint", eval: same, ordered: true,
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			kept := rdd.MapValues(in[0], b.itself)
			if s.Arg%2 == 0 {
				kept.Cache()
			}
			return kept, kept.Checkpoint()
		},
		stream: func(b *builder, s Step, in ...stream) stream {
			kept := dstream.MapValues(in[0], b.itself)
			b.checkpoint(kept, max(s.Every, 1))
			return kept
		},
	}}
	for i := range all {
		all[i].inputs = 1
	}
	return all
}

// bounds is a range of keys; some hold no key.
func (s Step) bounds() (lo, hi string) {
	from := s.Arg % 10
	return string(rune('a' + from)), string(rune('a' + from + s.Arg%4))
}

// ascending passes rows whose keys ascend and changes those that come too late.
func ascending(in iter.Seq[Row]) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		last := ""
		for r := range in {
			if r.Key < last {
				r.Key = "out of order"
			} else {
				last = r.Key
			}
			if !yield(r) {
				return
			}
		}
	}
}

// level is one of all storage levels.
func (s Step) level() rdd.StorageLevel {
	levels := []rdd.StorageLevel{rdd.MemoryOnly(), rdd.MemoryOnlySer(), rdd.MemoryAndDisk(), rdd.MemoryAndDiskSer(), rdd.DiskOnly()}
	level := levels[s.Arg%5]
	if s.Arg/5%3 == 0 {
		return rdd.Replicated(level, 2)
	}
	return level
}
