package dstream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// A declaration that can never work is reported by Start with the place of its call.
func TestWrongDeclarations(t *testing.T) {
	bad := 1500 * time.Millisecond
	for _, c := range []struct {
		name string
		want error
		// declare makes the mistake in the line after it takes its place.
		declare func(d *driver, s *counts) string
	}{
		{"map", dstream.ErrNilFunction, func(_ *driver, s *counts) string {
			dstream.Map[rdd.Pair[string, int], int](s, nil)
			return here()
		}},
		{"flatMap", dstream.ErrNilFunction, func(_ *driver, s *counts) string {
			dstream.FlatMap[rdd.Pair[string, int], int](s, nil)
			return here()
		}},
		{"flatMapAppend", dstream.ErrNilFunction, func(_ *driver, s *counts) string {
			dstream.FlatMapAppend[rdd.Pair[string, int], int](s, nil)
			return here()
		}},
		{"filter", dstream.ErrNilFunction, func(_ *driver, s *counts) string {
			s.Filter(nil)
			return here()
		}},
		{"mapChunks", dstream.ErrNilFunction, func(_ *driver, s *counts) string {
			dstream.MapChunks[rdd.Pair[string, int], int](s, nil)
			return here()
		}},
		{"mapPartitions", dstream.ErrNilFunction, func(_ *driver, s *counts) string {
			dstream.MapPartitions[rdd.Pair[string, int], int](s, nil)
			return here()
		}},
		{"mapToPair", dstream.ErrNilFunction, func(_ *driver, s *counts) string {
			dstream.MapToPair[rdd.Pair[string, int], int, int](s, nil)
			return here()
		}},
		{"mapValues", dstream.ErrNilFunction, func(_ *driver, s *counts) string {
			dstream.MapValues[string, int, int](s, nil)
			return here()
		}},
		{"flatMapValues", dstream.ErrNilFunction, func(_ *driver, s *counts) string {
			dstream.FlatMapValues[string, int, int](s, nil)
			return here()
		}},
		{"reduce", dstream.ErrNilFunction, func(_ *driver, s *counts) string {
			dstream.Reduce(s, nil)
			return here()
		}},
		{"reduceByKey", dstream.ErrNilFunction, func(_ *driver, s *counts) string {
			dstream.ReduceByKey(s, nil)
			return here()
		}},
		{"combineByKey", dstream.ErrNilFunction, func(_ *driver, s *counts) string {
			dstream.CombineByKey[string, int, int](s, nil, add, add)
			return here()
		}},
		{"transform", dstream.ErrNilFunction, func(_ *driver, s *counts) string {
			dstream.Transform[rdd.Pair[string, int], int](s, nil)
			return here()
		}},
		{"transformWith", dstream.ErrNilFunction, func(_ *driver, s *counts) string {
			dstream.TransformWith[rdd.Pair[string, int], rdd.Pair[string, int], int](s, s, nil)
			return here()
		}},
		{"transformAll", dstream.ErrNilFunction, func(_ *driver, s *counts) string {
			dstream.TransformAll[rdd.Pair[string, int], int]([]*counts{s}, nil)
			return here()
		}},
		{"foreachRDD", dstream.ErrNilFunction, func(_ *driver, s *counts) string {
			dstream.ForeachRDD(s, nil)
			return here()
		}},
		{"repartition", dstream.ErrArgument, func(_ *driver, s *counts) string {
			s.Repartition(0)
			return here()
		}},
		{"print", dstream.ErrArgument, func(_ *driver, s *counts) string {
			dstream.Print(s, new(bytes.Buffer), -1)
			return here()
		}},
		{"print_nil_writer", dstream.ErrArgument, func(_ *driver, s *counts) string {
			dstream.Print(s, nil, 1)
			return here()
		}},
		{"W5_window", dstream.ErrBadWindow, func(_ *driver, s *counts) string {
			dstream.Window(s, bad, 0)
			return here()
		}},
		{"W5_window_slide", dstream.ErrBadSlide, func(_ *driver, s *counts) string {
			dstream.Window(s, seconds(2), bad)
			return here()
		}},
		{"W5_zero_window", dstream.ErrBadWindow, func(_ *driver, s *counts) string {
			dstream.Window(s, 0, 0)
			return here()
		}},
		{"W5_negative_slide", dstream.ErrBadSlide, func(_ *driver, s *counts) string {
			dstream.Window(s, seconds(2), -seconds(1))
			return here()
		}},
		{"W5_inverse_window", dstream.ErrBadWindow, func(_ *driver, s *counts) string {
			dstream.ReduceByKeyAndWindow(s, add, subtract, bad, 0)
			return here()
		}},
		{"W5_inverse_slide", dstream.ErrBadSlide, func(_ *driver, s *counts) string {
			dstream.ReduceByKeyAndWindow(s, add, subtract, seconds(2), bad)
			return here()
		}},
		{"W5_panes", dstream.ErrBadWindow, func(_ *driver, s *counts) string {
			dstream.ReduceByKeyAndWindow(s, add, nil, bad, 0)
			return here()
		}},
		{"W5_groupByKeyAndWindow", dstream.ErrBadSlide, func(_ *driver, s *counts) string {
			dstream.GroupByKeyAndWindow(s, seconds(2), bad)
			return here()
		}},
		{"W5_countByWindow", dstream.ErrBadWindow, func(_ *driver, s *counts) string {
			dstream.CountByWindow(s, bad, 0)
			return here()
		}},
		{"window_nil_function", dstream.ErrNilFunction, func(_ *driver, s *counts) string {
			dstream.ReduceByKeyAndWindow(s, nil, subtract, seconds(2), 0)
			return here()
		}},
		{"window_nil_functions", dstream.ErrNilFunction, func(_ *driver, s *counts) string {
			dstream.ReduceByWindow(s, nil, nil, seconds(2), 0)
			return here()
		}},
		{"filter_of_other_types", dstream.ErrArgument, func(_ *driver, s *counts) string {
			dstream.ReduceByKeyAndWindow(s, add, subtract, seconds(2), 0, dstream.KeepWindowed(func(rdd.Pair[int, int]) bool { return true }))
			return here()
		}},
		{"filter_without_inverse_of_other_types", dstream.ErrArgument, func(_ *driver, s *counts) string {
			dstream.ReduceByKeyAndWindow(s, add, nil, seconds(2), 0, dstream.KeepWindowed(func(rdd.Pair[int, int]) bool { return true }))
			return here()
		}},
		{"updateStateByKey", dstream.ErrNilFunction, func(_ *driver, s *counts) string {
			dstream.UpdateStateByKey[string, int, int](s, nil)
			return here()
		}},
		{"updateStateByKeyTimed", dstream.ErrNilFunction, func(_ *driver, s *counts) string {
			dstream.UpdateStateByKeyTimed[string, int, int](s, nil)
			return here()
		}},
		{"updateStateByKeyIter", dstream.ErrNilFunction, func(_ *driver, s *counts) string {
			dstream.UpdateStateByKeyIter[string, int, int](s, nil)
			return here()
		}},
		{"updateStateByKeyIter_touched_only", dstream.ErrArgument, func(_ *driver, s *counts) string {
			dstream.UpdateStateByKeyIter(s, sumIter, dstream.TouchedOnly())
			return here()
		}},
		{"initial_state_of_other_types", dstream.ErrArgument, func(d *driver, s *counts) string {
			dstream.UpdateStateByKey(s, sumState, dstream.InitialState(rdd.Parallelize(d.rdds, []rdd.Pair[int, int]{}, 1)))
			return here()
		}},
		{"W17_different_slides", dstream.ErrDifferentSlides, func(_ *driver, s *counts) string {
			dstream.Join(dstream.Window(s, seconds(2), seconds(2)), s)
			return here()
		}},
		{"union_of_different_slides", dstream.ErrDifferentSlides, func(_ *driver, s *counts) string {
			s.Union(dstream.Window(s, seconds(2), seconds(2)))
			return here()
		}},
		{"different_contexts", dstream.ErrDifferentContexts, func(_ *driver, s *counts) string {
			other := newDriver(t, setup{})
			dstream.CoGroup(s, input(other, letters("a")))
			return here()
		}},
		{"no_parents", dstream.ErrNoParents, func(_ *driver, s *counts) string {
			none := dstream.Union[rdd.Pair[string, int]]()
			at := here()
			s.Union(dstream.Window(none, seconds(2), 0))
			return at
		}},
		{"no_parents_first", dstream.ErrNoParents, func(_ *driver, s *counts) string {
			none := dstream.TransformAll(nil, func([]*rdd.RDD[int], dstream.Time) (*rdd.RDD[rdd.Pair[string, int]], error) { return nil, nil })
			at := here()
			dstream.Join(runningSum(none), s)
			return at
		}},
		{"slices_without_partitions", dstream.ErrArgument, func(d *driver, _ *counts) string {
			dstream.SliceStream(d.graph, [][]int{{1}}, 0)
			return here()
		}},
		{"constant_nil", dstream.ErrArgument, func(d *driver, _ *counts) string {
			dstream.ConstantStream[int](d.graph, nil)
			return here()
		}},
		{"input_nil", dstream.ErrNilFunction, func(d *driver, _ *counts) string {
			dstream.NewInput[int](d.graph, "none", "None", nil)
			return here()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDriver(t, setup{})
			s := input(d, letters("a"))
			collect(s)
			site := c.declare(d, s)
			err := d.graph.Start(0)
			var b *dstream.BuildError
			if !errors.Is(err, c.want) || !errors.As(err, &b) {
				t.Fatalf("got %v, want a BuildError of %v", err, c.want)
			}
			if b.Site != site {
				t.Errorf("at %s, want %s: %v", b.Site, site, err)
			}
			if _, err := d.graph.Generate(1000); !errors.Is(err, dstream.ErrNotInitialized) {
				t.Errorf("Generate after a failed Start: %v", err)
			}
		})
	}
}

// here is the line before the one it is called on.
func here() string {
	_, _, line, _ := runtime.Caller(1)
	return fmt.Sprintf("build_test.go:%d", line-1)
}

func TestStartReportsAllMistakesOnceEach(t *testing.T) {
	d := newDriver(t, setup{})
	s := input(d, []int{1})
	broken := dstream.Map[int, int](s, nil)
	collect(dstream.Map(broken, func(x int) int { return x })) // derived from a mistake: not another one
	collect(broken.Repartition(-1))
	dstream.Window(s, 1, 0)
	err := d.graph.Start(0)
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 2 || !errors.Is(err, dstream.ErrNilFunction) || !errors.Is(err, dstream.ErrBadWindow) {
		t.Errorf("got %d lines, want those of map and window:\n%v", len(lines), err)
	}
	if !errors.Is(broken.Err(), dstream.ErrNilFunction) || s.Err() != nil {
		t.Errorf("streams say %v and %v", broken.Err(), s.Err())
	}
}

func TestDeclaredTooLate(t *testing.T) {
	d := newDriver(t, setup{})
	s := input(d, []int{1})
	collect(s)
	d.start()
	late := dstream.Map(s, func(x int) int { return x })
	site := here()
	var b *dstream.BuildError
	if !errors.Is(late.Err(), dstream.ErrContextActive) || !errors.As(late.Err(), &b) || b.Site != site {
		t.Errorf("got %v, want ErrContextActive at %s", late.Err(), site)
	}
	out := dstream.ForeachRDD(s, func(context.Context, *rdd.RDD[int], dstream.Time) error { return nil })
	if !errors.Is(out.Err(), dstream.ErrContextActive) {
		t.Errorf("output: %v", out.Err())
	}
	for name, err := range map[string]error{
		"Persist": s.Persist(rdd.MemoryOnly()), "Checkpoint": s.Checkpoint(seconds(1)),
		"Remember": d.graph.Remember(seconds(9)), "Start": d.graph.Start(0),
	} {
		if !errors.Is(err, dstream.ErrContextActive) {
			t.Errorf("%s: got %v, want ErrContextActive", name, err)
		}
	}
	d.steps(1) // what was refused does not take part
}

func TestStartWithoutOutputs(t *testing.T) {
	d := newDriver(t, setup{})
	input(d, []int{1})
	if err := d.graph.Start(0); !errors.Is(err, dstream.ErrNoOutputOps) {
		t.Errorf("got %v, want ErrNoOutputOps", err)
	}
}

func TestCheckpointNeedsADirectory_W12(t *testing.T) {
	for name, f := range map[string]func(*counts) *counts{
		"inverse": func(s *counts) *counts { return dstream.ReduceByKeyAndWindow(s, add, subtract, seconds(2), 0) },
		"state":   func(s *counts) *counts { return dstream.UpdateStateByKey(s, sumState) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, setup{noDir: true})
			collect(f(input(d, letters("a"))))
			err := d.graph.Start(0)
			var b *dstream.BuildError
			if !errors.Is(err, dstream.ErrCheckpointDirNotSet) || !errors.As(err, &b) {
				t.Fatalf("got %v, want ErrCheckpointDirNotSet", err)
			}
			if !strings.HasPrefix(b.Site, "build_test.go:") {
				t.Errorf("at %s, want this file", b.Site)
			}
		})
	}
	t.Run("no_inverse_needs_none", func(t *testing.T) {
		d := newDriver(t, setup{noDir: true})
		collect(dstream.ReduceByKeyAndWindow(input(d, letters("a")), add, nil, seconds(2), 0))
		d.run(3)
	})
}

func TestCheckpointInterval_S9(t *testing.T) {
	for interval, want := range map[time.Duration]error{
		1500 * time.Millisecond: dstream.ErrBadCheckpointInterval, 500 * time.Millisecond: dstream.ErrBadCheckpointInterval,
		2 * time.Second: nil,
	} {
		d := newDriver(t, setup{})
		s := runningSum(input(d, letters("a")))
		if err := s.Checkpoint(interval); err != nil {
			t.Fatal(err)
		}
		collect(s)
		if err := d.graph.Start(0); !errors.Is(err, want) {
			t.Errorf("%v: got %v, want %v", interval, err, want)
		}
	}
	s := runningSum(input(newDriver(t, setup{}), letters("a")))
	if err := s.Checkpoint(-1); !errors.Is(err, dstream.ErrBadDuration) {
		t.Errorf("negative: got %v, want ErrBadDuration", err)
	}
}

func TestFingerprint(t *testing.T) {
	build := func(op func(*ints) *ints) string {
		d := newDriver(t, setup{})
		collect(op(input(d, []int{1})))
		return d.graph.Fingerprint()
	}
	double := func(s *ints) *ints { return dstream.Map(s, func(x int) int { return 2 * x }) }
	all := []string{build(double), build(double),
		build(func(s *ints) *ints { return s.Filter(func(int) bool { return true }) }),
		build(func(s *ints) *ints { return dstream.Window(s, seconds(2), seconds(2)) }),
		build(func(s *ints) *ints { return double(double(s)) })}
	if all[0] != all[1] {
		t.Error("the same graph has two fingerprints")
	}
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != 4 {
		t.Errorf("%d fingerprints of 4 graphs", n)
	}
}
