package oracle

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/leat-io/leat/rdd"
)

// A wideRow is a row with a long string, of which few fill the memory of an operator.
type wideRow struct {
	Row  Row
	Long string
}

// long is a string of about as many bytes as a step is wide, which tells values apart.
func (s Step) long(v int64) string {
	mark := fmt.Sprint(v, ";")
	return mark + strings.Repeat(string(rune('a'+small(v)%26)), max(s.Width-2*len(mark), 0)) + mark
}

func (s Step) widen(r Row) wideRow { return wideRow{Row: r, Long: s.long(r.Value)} }

// narrow gives the row back; one whose string is not whole is another.
func (s Step) narrow(w wideRow) Row {
	if w.Long != s.long(w.Row.Value) {
		w.Row.Key = "torn"
	}
	return w.Row
}

func byMixed(a, b Row) int {
	return cmp.Or(cmp.Compare(mix(a.Value), mix(b.Value)), cmp.Compare(a.Key, b.Key))
}

// wide are the operations that hold long strings, so that they spill where there is little memory.
func wide() []operation {
	long := func(b *builder, s Step, in rows) *rdd.RDD[rdd.Pair[string, string]] {
		return rdd.MapValues(in, func(v int64) string { b.tick(); return s.long(v) })
	}
	// size tells multisets of long strings apart by their lengths and marks.
	size := func(s Step, values []string) int64 {
		d := int64(len(values))
		for _, x := range values {
			mark, _, _ := strings.Cut(x, ";")
			var v int64
			if _, err := fmt.Sscan(mark, &v); err != nil || x != s.long(v) {
				return -1
			}
			d += mix(v)
		}
		return d
	}
	all := []operation{{
		name: "groupLong",
		eval: func(_ Step, in ...[]Row) []Row { return perKey(in[0], digest) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.MapValues(rdd.GroupByKey(long(b, s, in[0]), s.options()...), func(v []string) int64 { b.tick(); return size(s, v) }), nil
		},
	}, {
		name: "combineLong",
		eval: func(_ Step, in ...[]Row) []Row { return perKey(in[0], digest) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			lists := rdd.CombineByKey(long(b, s, in[0]), func(v string) []string { b.tick(); return []string{v} },
				func(list []string, v string) []string { return append(list, v) },
				func(x, y []string) []string { return append(x, y...) }, s.combining()...)
			return rdd.MapValues(lists, func(v []string) int64 { return size(s, v) }), nil
		},
	}, {
		name: "sortLong", sorts: true,
		eval: func(s Step, in ...[]Row) []Row { return stable(s, in[0], byMixed) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			sorted, err := rdd.SortByFunc(b.ctx, rdd.Map(in[0], s.widen), func(w wideRow) Row { b.tick(); return w.Row }, byMixed, s.sortOptions()...)
			if err != nil {
				return nil, err
			}
			return rdd.Map(sorted, s.narrow), nil
		},
	}, {
		name: "distinctLong",
		eval: func(_ Step, in ...[]Row) []Row { return unique(in[0]) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return rdd.Map(rdd.Distinct(rdd.Map(in[0], s.widen), s.options()...), s.narrow), nil
		},
	}, {
		name: "repartitionLong", eval: same,
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			dealt := rdd.Map(in[0], func(r Row) wideRow { b.tick(); return s.widen(r) }).Repartition(s.parts())
			return rdd.Map(dealt, s.narrow), nil
		},
	}, {
		name: "persistLong", eval: same, ordered: true,
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			kept := rdd.Map(in[0], func(r Row) wideRow { b.tick(); return s.widen(r) })
			if err := kept.Persist(s.level()); err != nil {
				return nil, err
			}
			if _, err := kept.Count(b.ctx); err != nil {
				return nil, err
			}
			return rdd.Map(kept, s.narrow), nil
		},
	}, {
		name: "joinLong", grows: matches,
		eval: func(s Step, in ...[]Row) []Row { return nested(in[0], in[0], false, false) },
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			joined := rdd.Join(long(b, s, in[0]), in[0], s.options()...)
			return rdd.MapValues(joined, func(j rdd.Joined[string, int64]) int64 {
				b.tick()
				mark, _, _ := strings.Cut(j.Left, ";")
				var v int64
				if _, err := fmt.Sscan(mark, &v); err != nil || j.Left != s.long(v) {
					return -1
				}
				return both(v, j.Right)
			}), nil
		},
	}}
	for i := range all {
		all[i].inputs, all[i].wide = 1, true
	}
	return all
}

// bytesWide is what the long strings of a wide step take in all, about: several times what an operator
// holds without asking.
const bytesWide = 1536 << 10

// settleWidth chooses how wide a step is for so many rows, in a stream less, as there are many batches.
func (s *Step) settleWidth(rows int, stream bool) {
	bytes := bytesWide
	if stream {
		bytes /= 4
	}
	s.Width = min(max(bytes/max(rows, 1), 16), 64<<10)
}
