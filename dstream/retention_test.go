package dstream_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// held is the batches a stream remembers, in seconds.
func held[T any](s *dstream.DStream[T]) string {
	var out []string
	for _, t := range s.Remembered() {
		out = append(out, fmt.Sprint(int64(t)/1000))
	}
	return strings.Join(out, " ")
}

func retention[T any](s *dstream.DStream[T]) time.Duration { return s.Info().Remember }

func TestRetentionOfWindows_C1(t *testing.T) {
	d := newDriver(t, setup{})
	mapped := dstream.Map(input(d, []int{1}), func(x int) int { return x })
	inner := dstream.Window(mapped, seconds(2), 0)
	outer := dstream.Window(inner, seconds(4), seconds(2))
	collect(outer)
	if err := d.graph.Remember(seconds(3)); err != nil {
		t.Fatal(err)
	}
	d.run(10)
	for name, got := range map[string][2]string{
		"outer": {held(outer), "8 10"},
		"inner": {held(inner), "4 5 6 7 8 9 10"},
		"map":   {held(mapped), "2 3 4 5 6 7 8 9 10"},
	} {
		if got[0] != got[1] {
			t.Errorf("%s holds %s, want %s", name, got[0], got[1])
		}
	}
	if o, i, m := retention(outer), retention(inner), retention(mapped); o != seconds(3) || i != seconds(7) || m != seconds(9) {
		t.Errorf("remember %v, %v, %v, want 3 s, 7 s, 9 s", o, i, m)
	}
}

func TestRetentionOfState_C2(t *testing.T) {
	d := newDriver(t, setup{})
	s := runningSum(input(d, letters("ab")))
	if err := s.Checkpoint(seconds(3)); err != nil {
		t.Fatal(err)
	}
	collect(s)
	d.run(10)
	equal(t, held(s), "5 6 7 8 9 10")
	if got := retention(s); got != seconds(6) {
		t.Errorf("remember %v, want 6 s", got)
	}
}

func TestRetentionOfInverseWindows_C3(t *testing.T) {
	for _, c := range []struct{ interval, self, in time.Duration }{
		{seconds(2), seconds(4), seconds(8)}, {0, seconds(20), seconds(24)},
	} {
		d := newDriver(t, setup{})
		in := input(d, letters("ab"))
		s := dstream.ReduceByKeyAndWindow(in, add, subtract, seconds(4), 0)
		if c.interval > 0 {
			if err := s.Checkpoint(c.interval); err != nil {
				t.Fatal(err)
			}
		}
		collect(s)
		d.start()
		if self, below := retention(s), retention(in); self != c.self || below != c.in {
			t.Errorf("checkpoint %v: remember %v and %v, want %v and %v", c.interval, self, below, c.self, c.in)
		}
	}
}

func TestRetentionOfPlainStreams_C4(t *testing.T) {
	d := newDriver(t, setup{})
	s := input(d, []int{1}, []int{2}, []int{3}, []int{4}, []int{5})
	collect(s)
	d.run(5)
	equal(t, held(s), "5")
}

func TestUnusedInput_C6(t *testing.T) {
	d := newDriver(t, setup{})
	out := collect(input(d, []int{1}, []int{2}))
	unused := input(d, []int{3})
	d.run(2)
	equal(t, out.text(2), "1; 2")
	equal(t, held(unused), "")
}

func TestRememberTwice_C7(t *testing.T) {
	d := newDriver(t, setup{})
	if err := d.graph.Remember(seconds(2)); err != nil {
		t.Fatal(err)
	}
	if err := d.graph.Remember(seconds(3)); !errors.Is(err, dstream.ErrRememberAlreadySet) {
		t.Errorf("got %v, want ErrRememberAlreadySet", err)
	}
	if err := newDriver(t, setup{}).graph.Remember(-1); !errors.Is(err, dstream.ErrBadDuration) {
		t.Errorf("negative: got %v, want ErrBadDuration", err)
	}
}

// countingInput counts how often it is asked for a batch, and is told what is forgotten.
type countingInput struct {
	asked     map[dstream.Time]int
	forgotten []dstream.Time
}

func (in *countingInput) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[int], error) {
	in.asked[t]++
	if t%2000 == 0 {
		return nil, nil
	}
	return rdd.Parallelize(c, []int{int(t)}, 1), nil
}

func (in *countingInput) Forget(upTo dstream.Time) { in.forgotten = append(in.forgotten, upTo) }

func TestAStreamComputesABatchOnce_D3(t *testing.T) {
	d := newDriver(t, setup{})
	in := &countingInput{asked: map[dstream.Time]int{}}
	s := dstream.NewInput(d.graph, "counting", "Counting stream", in)
	for range 3 {
		collect(dstream.Map(s, func(x int) int { return x }))
	}
	out := collect(s)
	d.run(4)
	equal(t, out.text(4), "1000; none; 3000; none")
	for k := 1; k <= 4; k++ {
		if n := in.asked[sec(k)]; n != 1 {
			t.Errorf("batch %d was asked for %d times, want once", k, n)
		}
	}
	equal(t, fmt.Sprint(in.forgotten), "[1000 ms 2000 ms 3000 ms]")
}

func TestInputInfos(t *testing.T) {
	d := newDriver(t, setup{})
	collect(input(d, []int{1, 2}, nil, []int{}))
	collect(input(d, []string{"a"}))
	d.keep = true
	d.run(3)
	equal(t, fmt.Sprint(d.graph.InputInfos(1000)), "[{0 2 2 records 0 0} {1 1 1 records 0 0}]")
	equal(t, fmt.Sprint(d.graph.InputInfos(2000)), "[{1 0 0 records 0 0}]")
	inputs := d.graph.Inputs()
	if len(inputs) != 2 || inputs[1].ID != 1 || inputs[1].Name != "Slice stream [1]" || !strings.HasPrefix(inputs[1].Site, "driver_test.go:") {
		t.Errorf("inputs are %+v", inputs)
	}
	d.graph.Forget(5000)
	equal(t, fmt.Sprint(d.graph.InputInfos(1000)), "[]")
}

// reportingInput reports what it is told to.
type reportingInput struct{ records int64 }

func (reportingInput) RDD(c *rdd.Context, _ dstream.Time) (*rdd.RDD[int], error) {
	return rdd.Empty[int](c), nil
}
func (in reportingInput) Report(dstream.Time) (int64, string, bool) { return in.records, "", true }

func TestNegativeRecordsAreRefused(t *testing.T) {
	d := newDriver(t, setup{})
	collect(dstream.NewInput(d.graph, "reporting", "Reporting stream", reportingInput{-1}))
	d.start()
	if err := d.step(); !errors.Is(err, dstream.ErrNegativeRecords) {
		t.Errorf("got %v, want ErrNegativeRecords", err)
	}
}

func TestSlice(t *testing.T) {
	d := newDriver(t, setup{})
	s := input(d, []int{1}, nil, []int{3}, []int{4})
	w := dstream.Window(s, seconds(2), seconds(2))
	collect(w)
	if _, err := dstream.Slice(s, 0, 1000); !errors.Is(err, dstream.ErrNotInitialized) {
		t.Errorf("before Start: %v, want ErrNotInitialized", err)
	}
	d.start()
	for _, c := range []struct {
		from, to dstream.Time
		want     int
	}{{1000, 4000, 3}, {0, 1000, 1}, {-5000, 999, 0}, {2000, 2999, 0}, {1500, 3500, 2}, {4000, 1000, 0}} {
		got, err := dstream.Slice(s, c.from, c.to)
		if err != nil || len(got) != c.want {
			t.Errorf("Slice(%s, %s): %d RDDs, %v, want %d", c.from, c.to, len(got), err, c.want)
		}
	}
	got, err := dstream.Slice(w, 3999, 5999) // moved back to 2000 and 4000
	if err != nil || len(got) != 2 {
		t.Fatalf("%d RDDs, %v, want 2", len(got), err)
	}
	rows, err := got[1].Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, textOf(rows, true), "3 4")
}

func TestForgottenBatchesLeaveNothingOnExecutors(t *testing.T) {
	d := newDriver(t, setup{parallelism: 2})
	s := dstream.ReduceByKey(input(d, letters("ab"), letters("bc")), add).Cache()
	collect(dstream.GroupByKey(s))
	collect(dstream.Window(s, seconds(2), 0))
	d.run(6)
	d.graph.Forget(sec(60))
	settle(d)
	if outputs, persisted := d.cluster.Blocks(); outputs != 0 || persisted != 0 {
		t.Errorf("%d map outputs and %d partitions are left", outputs, persisted)
	}
}

// settle waits until the scheduler has dropped what it was told to.
func settle(d *driver) {
	d.t.Helper()
	if _, err := rdd.Parallelize(d.rdds, []int{1}, 1).Collect(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
}

func TestCheckpointsOfForgottenBatchesAreRemoved(t *testing.T) {
	d := newDriver(t, setup{parallelism: 2})
	s := runningSum(input(d, words("ab", "bc")...))
	if err := s.Checkpoint(seconds(2)); err != nil {
		t.Fatal(err)
	}
	out := collect(s)
	d.run(40)
	entries, err := os.ReadDir(d.rdds.Options().CheckpointDir)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(entries); n < 1 || n > 4 {
		t.Errorf("%d checkpoints, want those of the batches that are remembered and one", n)
	}
	equal(t, textOf(out.rows[sec(40)], true), "a:1 b:2 c:1")
}

// A child that reads every other batch makes the state stream compute the batches between, which must be
// forgotten like those that were asked for.
func TestStateBetweenTheBatchesAskedForIsForgotten(t *testing.T) {
	d := newDriver(t, setup{parallelism: 2})
	s := runningSum(input(d, words("ab", "bc", "c")...))
	if err := s.Checkpoint(seconds(2)); err != nil {
		t.Fatal(err)
	}
	collect(dstream.Window(s, seconds(1), seconds(3)))
	d.run(60)
	settle(d)
	if n := len(s.Remembered()); n > 12 {
		t.Errorf("%d batches are remembered", n)
	}
	if _, persisted := d.cluster.Blocks(); persisted > 24 {
		t.Errorf("%d partitions are kept", persisted)
	}
}
