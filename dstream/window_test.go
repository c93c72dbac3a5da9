package dstream_test

import (
	"errors"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

func sevenInts() [][]int { return [][]int{{10}, {11}, {12}, {13}, {14}, {15}, {16}} }

func TestWindow(t *testing.T) {
	for _, c := range []struct {
		name          string
		window, slide int
		want          string
	}{
		{"W1_slide_of_one_batch", 2, 1, "10; 10 11; 11 12; 12 13; 13 14; 14 15; 15 16; 16; -"},
		{"W1_slide_left_out", 2, 0, "10; 10 11; 11 12; 12 13; 13 14; 14 15; 15 16; 16; -"},
		{"W2_tumbling", 3, 3, "none; none; 10 11 12; none; none; 13 14 15; none; none; 16"},
		{"W3_early_windows_are_partial", 4, 2, "none; 10 11; none; 10 11 12 13; none; 12 13 14 15; none; 14 15 16; none"},
		{"W-14_longer_than_its_input", 10, 1, "10; 10 11; 10 11 12; 10 11 12 13; 10 11 12 13 14; 10 11 12 13 14 15; 10 11 12 13 14 15 16; 10 11 12 13 14 15 16; 10 11 12 13 14 15 16"},
		{"W4_gaps/W-08", 2, 3, "none; none; 11 12; none; none; 14 15; none; none; -"},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachSetup(t, func(t *testing.T, d *driver) {
				out := collect(dstream.Window(input(d, sevenInts()...), seconds(c.window), seconds(c.slide)))
				d.run(9)
				equal(t, out.text(9), c.want)
			})
		})
	}
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

func TestWindowOverAbsentBatches(t *testing.T) {
	eachSetup(t, func(t *testing.T, d *driver) {
		out := collect(dstream.Window(input(d, nil, []int{1}, nil, nil, []int{2}), seconds(2), 0))
		d.run(5)
		equal(t, out.text(5), "-; 1; 1; -; 2")
	})
}

func TestWindowOfOneBatchKeepsTheOrderOfPartitions(t *testing.T) {
	d := newDriver(t, setup{})
	out := collect(dstream.Window(input(d, []int{1, 2}, []int{3, 4}), seconds(2), 0))
	d.run(2)
	if got := out.parts[2000]; len(got) != 4 || got[0][0] != 1 || got[3][0] != 4 {
		t.Errorf("got %v, want the batches' partitions one behind the other", got)
	}
}

func TestWindowKeepsThePartitionerOfItsBatches(t *testing.T) {
	d := newDriver(t, setup{parallelism: 3})
	reduced := dstream.ReduceByKey(input(d, letters("ab"), letters("bc")), add)
	var shuffles []bool
	dstream.ForeachRDD(dstream.Window(reduced, seconds(2), 0), func(_ ctx, r *rdd.RDD[rdd.Pair[string, int]], _ dstream.Time) error {
		again := rdd.ReduceByKey(r, add)
		for _, dep := range again.Node().Deps() {
			shuffles = append(shuffles, dep.Shuffle != nil)
		}
		return nil
	})
	d.run(2)
	if len(shuffles) != 2 || shuffles[0] || shuffles[1] {
		t.Errorf("shuffles: %v, want none", shuffles)
	}
}

func TestWindowPersistsItsParent_W6(t *testing.T) {
	d := newDriver(t, setup{})
	s := dstream.Map(input(d, []int{1}), func(x int) int { return x })
	if err := s.Persist(rdd.MemoryOnly()); err != nil {
		t.Fatal(err)
	}
	w := dstream.Window(s, seconds(2), 0)
	levels := func() string { return s.Info().Level.String() + " " + w.Info().Level.String() }
	equal(t, levels(), "MEMORY_ONLY_SER NONE")
	if err := w.Persist(rdd.MemoryOnly()); err != nil {
		t.Fatal(err)
	}
	equal(t, levels(), "MEMORY_ONLY NONE")
	outer := dstream.Window(w, seconds(4), 0)
	equal(t, levels(), "MEMORY_ONLY_SER NONE")
	if err := outer.Checkpoint(seconds(10)); err != nil {
		t.Fatal(err)
	}
	collect(outer)
	if err := d.graph.Start(0); !errors.Is(err, dstream.ErrNoStorageLevel) {
		t.Errorf("got %v, want ErrNoStorageLevel", err)
	}
}

func TestWindowOverWindow(t *testing.T) {
	eachSetup(t, func(t *testing.T, d *driver) {
		inner := dstream.Window(input(d, sevenInts()...), seconds(2), seconds(2))
		out := collect(dstream.Window(inner, seconds(4), seconds(2)))
		d.run(8)
		equal(t, out.text(8), "none; 10 11; none; 10 11 12 13; none; 12 13 14 15; none; 14 15 16")
	})
}

func TestCountOverWindow_W18(t *testing.T) {
	eachSetup(t, func(t *testing.T, d *driver) {
		out := collect(dstream.Count(dstream.Window(input(d, []int{}, []int{}, []int{5}), seconds(2), seconds(2))))
		d.run(4)
		equal(t, out.text(4), "none; 0; none; 1")
	})
}
