package dstream_test

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

type (
	ints     = dstream.DStream[int]
	counts   = dstream.DStream[rdd.Pair[string, int]]
	labelled = rdd.Pair[string, string]
)

// stateless is a case of an operation without memory: batches in, batches out.
type stateless struct {
	name    string
	batches int
	build   func(d *driver) interface{ text(int) string }
	want    string
}

func TestStateless(t *testing.T) {
	for _, c := range []stateless{
		{"B1_map", 3, onInts(func(s *ints) *ints { return dstream.Map(s, func(x int) int { return 10 * x }) },
			[]int{1, 2}, []int{3}, []int{}), "10 20; 30; -"},
		{"B2_flatMap", 2, onInts(func(s *ints) *ints { return dstream.FlatMap(s, func(x int) []int { return []int{x, -x} }) },
			[]int{1}, []int{2, 3}), "-1 1; -2 -3 2 3"},
		{"B2_flatMapAppend", 2, onInts(func(s *ints) *ints {
			return dstream.FlatMapAppend(s, func(x int, out []int) []int { return append(out, x, -x) })
		}, []int{1}, []int{2, 3}), "-1 1; -2 -3 2 3"},
		{"B3_filter", 2, onInts(func(s *ints) *ints { return s.Filter(func(x int) bool { return x%2 == 1 }) },
			[]int{1, 2, 3}, []int{4}), "1 3; -"},
		{"B4_glom", 1, onIntsTo(func(s *ints) *dstream.DStream[[]int] { return dstream.Glom(s) },
			[]int{1, 2, 3, 4, 5}), "[1 2] [3 4 5]"},
		{"B5_mapPartitions", 2, onInts(func(s *ints) *ints {
			return dstream.MapPartitions(s, func(rows iter.Seq[int]) iter.Seq[int] {
				return func(yield func(int) bool) {
					total := 0
					for x := range rows {
						total += x
					}
					yield(total)
				}
			})
		}, []int{1, 2, 3, 4, 5}, []int{}), "12 3; 0 0"},
		{"mapChunks", 2, onInts(func(s *ints) *ints {
			return dstream.MapChunks(s, func(in, out []int) ([]int, error) {
				for _, x := range in {
					out = append(out, x+1)
				}
				return out, nil
			})
		}, []int{1, 2}, []int{}), "2 3; -"},
		{"B6_count", 3, onIntsTo(func(s *ints) *dstream.DStream[int64] { return dstream.Count(s) },
			[]int{}, []int{7}, []int{7, 7}), "0; 1; 2"},
		{"B7_reduce", 3, onInts(func(s *ints) *ints { return dstream.Reduce(s, add) },
			[]int{}, []int{4, 5}, []int{6}), "-; 9; 6"},
		{"B8_countByValue", 3, func(d *driver) interface{ text(int) string } {
			return collect(dstream.CountByValue(input(d, []string{"u", "u", "v"}, []string{}, []string{"v"})))
		}, "u:2 v:1; -; v:1"},
		{"B9_groupByKey", 2, func(d *driver) interface{ text(int) string } {
			return collect(dstream.GroupByKey(input(d, pairs("p:1 p:2 q:3"), pairs("-"))))
		}, "p:{1,2} q:{3}; -"},
		{"B10_reduceByKey", 3, onPairs(func(s *counts) *counts { return dstream.ReduceByKey(s, largest) },
			"p:1 p:5 q:3", "-", "p:2"), "p:5 q:3; -; p:2"},
		{"B11_flatMapValues", 1, onPairs(func(s *counts) *counts {
			return dstream.FlatMapValues(s, func(v int) []int { return []int{v, v + 1} })
		}, "p:1 q:2"), "p:1 p:2 q:2 q:3"},
		{"B11_mapValues", 1, onPairs(func(s *counts) *counts {
			return dstream.MapValues(s, func(v int) int { return v + 10 })
		}, "p:1 q:2"), "p:11 q:12"},
		{"B12_combineByKey", 1, func(d *driver) interface{ text(int) string } {
			type mean struct{ Sum, N int }
			return collect(dstream.CombineByKey(input(d, pairs("p:2 p:4 q:9")),
				func(v int) mean { return mean{v, 1} },
				func(m mean, v int) mean { return mean{m.Sum + v, m.N + 1} },
				func(a, b mean) mean { return mean{a.Sum + b.Sum, a.N + b.N} }))
		}, "(p,{6 2}) (q,{9 1})"},
		{"B13_union_of_derived", 3, onInts(func(s *ints) *ints {
			return s.Union(dstream.Map(s, func(x int) int { return x + 100 }))
		}, []int{1, 2}, []int{3}, []int{}), "1 101 102 2; 103 3; -"},
		{"B14_union_of_one_thrice", 2, onInts(func(s *ints) *ints { return dstream.Union(s, s, s) },
			[]int{1}, []int{2}), "1 1 1; 2 2 2"},
		{"B17_coGroup", 3, func(d *driver) interface{ text(int) string } {
			return collect(dstream.CoGroup(input(d, words("aab", "a", "-")...), labels(d, "a:x a:x b:x", "b:x", "-")))
		}, "a:({1,1},{x,x}) b:({1},{x}); a:({1},{}) b:({},{x}); -"},
		{"B18_join_crosses", 1, func(d *driver) interface{ text(int) string } {
			return collect(dstream.Join(input(d, pairs("p:1 p:2")), labels(d, "p:x p:y q:z")))
		}, "p:(1,x) p:(1,y) p:(2,x) p:(2,y)"},
		{"B19_join", 4, func(d *driver) interface{ text(int) string } {
			l, r := sides(d)
			return collect(dstream.Join(l, r))
		}, "m:(1,x) n:(1,x); o:(1,x); -; -"},
		{"B19_leftOuterJoin", 4, func(d *driver) interface{ text(int) string } {
			l, r := sides(d)
			return collect(dstream.LeftOuterJoin(l, r))
		}, "m:(1,x) n:(1,x); m:(1,∅) o:(1,x); o:(1,∅); -"},
		{"B19_rightOuterJoin", 4, func(d *driver) interface{ text(int) string } {
			l, r := sides(d)
			return collect(dstream.RightOuterJoin(l, r))
		}, "m:(1,x) n:(1,x); n:(∅,x) o:(1,x); -; o:(∅,x)"},
		{"B19_fullOuterJoin", 4, func(d *driver) interface{ text(int) string } {
			l, r := sides(d)
			return collect(dstream.FullOuterJoin(l, r))
		}, "m:(1,x) n:(1,x); m:(1,∅) n:(∅,x) o:(1,x); o:(1,∅); o:(∅,x)"},
		{"B21_foreachRDD_skips_absent", 3, onInts(func(s *ints) *ints { return dstream.Map(s, func(x int) int { return x }) },
			[]int{1}, nil, []int{2}), "1; none; 2"},
		{"B25_transform_with_time", 3, onIntsTo(func(s *ints) *dstream.DStream[dstream.Time] {
			return dstream.Transform(s, func(r *rdd.RDD[int], t dstream.Time) (*rdd.RDD[dstream.Time], error) {
				return rdd.Parallelize(r.Context(), []dstream.Time{t}, 1), nil
			})
		}, []int{1}, []int{}, []int{2}), "1000 ms; 2000 ms; 3000 ms"},
		{"transformWith", 2, func(d *driver) interface{ text(int) string } {
			return collect(dstream.TransformWith(input(d, []int{1}, []int{}), input(d, []string{"a"}, []string{"b"}),
				func(l *rdd.RDD[int], r *rdd.RDD[string], _ dstream.Time) (*rdd.RDD[string], error) {
					return rdd.Map(rdd.Cartesian(l, r), func(p rdd.Pair[int, string]) string { return p.Value + show(p.Key) }), nil
				}))
		}, "a1; -"},
		{"transformAll", 1, func(d *driver) interface{ text(int) string } {
			s := input(d, []int{1}, []int{})
			return collect(dstream.TransformAll([]*ints{s, s}, func(rdds []*rdd.RDD[int], _ dstream.Time) (*rdd.RDD[int], error) {
				return rdds[0].Union(rdds[1]), nil
			}))
		}, "1 1"},
		{"mapToPair", 1, func(d *driver) interface{ text(int) string } {
			return collect(dstream.MapToPair(input(d, []string{"p", "qq"}), func(w string) (string, int) { return w, len(w) }))
		}, "p:1 qq:2"},
		{"constantStream", 3, func(d *driver) interface{ text(int) string } {
			return collect(dstream.ConstantStream(d.graph, rdd.Parallelize(d.rdds, []int{4, 5}, 2)).Cache())
		}, "4 5; 4 5; 4 5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachSetup(t, func(t *testing.T, d *driver) {
				out := c.build(d)
				d.run(c.batches)
				equal(t, out.text(c.batches), c.want)
			})
		})
	}
}

func largest(a, b int) int { return max(a, b) }

func onInts(f func(*ints) *ints, batches ...[]int) func(*driver) interface{ text(int) string } {
	return onIntsTo(f, batches...)
}

func onIntsTo[T any](f func(*ints) *dstream.DStream[T], batches ...[]int) func(*driver) interface{ text(int) string } {
	return func(d *driver) interface{ text(int) string } { return collect(f(input(d, batches...))) }
}

func onPairs(f func(*counts) *counts, batches ...string) func(*driver) interface{ text(int) string } {
	return func(d *driver) interface{ text(int) string } {
		var in [][]rdd.Pair[string, int]
		for _, b := range batches {
			in = append(in, pairs(b))
		}
		return collect(f(input(d, in...)))
	}
}

// labels is an input of pairs with text: "a:x b:y".
func labels(d *driver, batches ...string) *dstream.DStream[labelled] {
	var in [][]labelled
	for _, b := range batches {
		rows := []labelled{}
		for _, w := range strings.Fields(b) {
			if k, v, ok := strings.Cut(w, ":"); ok {
				rows = append(rows, labelled{Key: k, Value: v})
			}
		}
		in = append(in, rows)
	}
	return input(d, in...)
}

// sides are the inputs of B19.
func sides(d *driver) (*counts, *dstream.DStream[labelled]) {
	return input(d, words("mn", "mo", "o", "-")...), labels(d, "m:x n:x", "n:x o:x", "-", "o:x")
}

func TestAbsentParentFailsTheBatch_B15(t *testing.T) {
	d := newDriver(t, setup{})
	s := input(d, []int{1}, nil)
	first := collect(s)
	out := collect(s.Union(dstream.Map(s, func(x int) int { return x })))
	d.start()
	if err := d.step(); err != nil {
		t.Fatal(err)
	}
	err := d.step()
	var g *dstream.GenerationError
	if !errors.Is(err, dstream.ErrParentAbsent) || !errors.As(err, &g) {
		t.Fatalf("got %v, want a GenerationError of ErrParentAbsent", err)
	}
	if g.Op != "union" || g.Batch != 2000 || !strings.HasPrefix(g.Site, "stateless_test.go:") {
		t.Errorf("got %q at %s in batch %s", g.Op, g.Site, g.Batch)
	}
	equal(t, out.text(2), "1 1; none")
	equal(t, first.text(2), "1; none") // no output of the batch runs
}

func TestAbsentParentIsRefusedByWhatNeedsEveryBatch(t *testing.T) {
	for name, f := range map[string]func(*ints) *ints{
		"repartition": func(s *ints) *ints { return s.Repartition(3) },
		"transform": func(s *ints) *ints {
			return dstream.Transform(s, func(r *rdd.RDD[int], _ dstream.Time) (*rdd.RDD[int], error) { return r, nil })
		},
		"count": func(s *ints) *ints { return dstream.Map(dstream.Count(s), func(n int64) int { return int(n) }) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, setup{})
			collect(f(input(d, nil, []int{1})))
			d.start()
			if err := d.step(); !errors.Is(err, dstream.ErrParentAbsent) {
				t.Errorf("got %v, want ErrParentAbsent", err)
			}
		})
	}
}

func TestTransformThatReturnsNoRDD_B16(t *testing.T) {
	d := newDriver(t, setup{})
	collect(dstream.Transform(input(d, []int{1}), func(*rdd.RDD[int], dstream.Time) (*rdd.RDD[int], error) { return nil, nil }))
	d.start()
	if err := d.step(); !errors.Is(err, dstream.ErrNilRDD) {
		t.Errorf("got %v, want ErrNilRDD", err)
	}
}

func TestTransformThatPanics(t *testing.T) {
	d := newDriver(t, setup{})
	collect(dstream.Transform(input(d, []int{1}), func(*rdd.RDD[int], dstream.Time) (*rdd.RDD[int], error) { panic("no") }))
	d.start()
	var p *rdd.PanicError
	if err := d.step(); !errors.As(err, &p) || p.Value != "no" {
		t.Errorf("got %v, want the panic", err)
	}
}

func TestRepartition_B20(t *testing.T) {
	eachSetup(t, func(t *testing.T, d *driver) {
		var rows []int
		for i := range 40 {
			rows = append(rows, i+1)
		}
		five := input(d, rows).Repartition(5)
		two := collect(five.Repartition(2))
		out := collect(five)
		d.run(1)
		if n, m := len(out.parts[1000]), len(two.parts[1000]); n != 5 || m != 2 {
			t.Errorf("%d and %d partitions, want 5 and 2", n, m)
		}
		got := slices.Sorted(slices.Values(two.rows[1000]))
		if !slices.Equal(got, rows) {
			t.Errorf("got %v", got)
		}
	})
}

func TestGlomKeepsOrder_B4(t *testing.T) {
	d := newDriver(t, setup{})
	out := collect(dstream.Glom(input(d, []int{1, 2, 3, 4, 5})))
	d.run(1)
	if got := out.rows[1000]; !slices.Equal(got[0], []int{1, 2}) || !slices.Equal(got[1], []int{3, 4, 5}) {
		t.Errorf("got %v", got)
	}
}
