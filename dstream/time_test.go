package dstream_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
)

const ms = time.Millisecond

func TestFloor_T1(t *testing.T) {
	for zero, want := range map[dstream.Time]dstream.Time{0: 2400, 150: 2550, 370: 2770} {
		if got := dstream.Time(2770).Floor(400*ms, zero); got != want {
			t.Errorf("zero %s: got %s, want %s", zero, got, want)
		}
	}
}

func TestUntilAndTo_T2(t *testing.T) {
	type times = []dstream.Time
	from, step := dstream.Time(500), 120*ms
	for _, c := range []struct {
		name      string
		got, want times
	}{
		{"until 740", from.Until(740, step), times{500, 620}},
		{"to 740", from.To(740, step), times{500, 620, 740}},
		{"to 800", from.To(800, step), times{500, 620, 740}},
		{"until 500", from.Until(500, step), nil},
		{"to 500", from.To(500, step), times{500}},
	} {
		if diff := cmp.Diff(c.got, c.want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", c.name, diff)
		}
	}
}

func TestMultipleOf_T3(t *testing.T) {
	if !dstream.MultipleOf(900*ms, 300*ms) || dstream.MultipleOf(900*ms, 400*ms) || !dstream.MultipleOf(0, 400*ms) {
		t.Error("900 is a multiple of 300, not of 400, and 0 of anything")
	}
}

func TestFirstBatch_T4(t *testing.T) {
	for _, c := range []struct{ now, interval, first dstream.Time }{
		{0, 1000, 1000}, {999, 1000, 1000}, {1000, 1000, 2000}, {12345, 500, 12500},
	} {
		if got := c.now.Next(time.Duration(c.interval)*ms, 0); got != c.first {
			t.Errorf("clock %s, interval %s: got %s, want %s", c.now, c.interval, got, c.first)
		}
	}
}

func TestFirstBatchAfterRestart_T5(t *testing.T) {
	for _, c := range []struct{ now, zero, want dstream.Time }{
		{4499, 500, 4500}, {4500, 500, 5500}, {8500, 0, 9000}, {8000, 0, 9000},
	} {
		if got := c.now.Next(time.Second, c.zero); got != c.want {
			t.Errorf("at %s, zero %s: got %s, want %s", c.now, c.zero, got, c.want)
		}
	}
}

func TestValidTimesCountFromZero_T6(t *testing.T) {
	d := newDriver(t, setup{parallelism: 1})
	s := dstream.Window(input(d, []int{1}), 3*time.Second, 3*time.Second)
	collect(s)
	if err := d.graph.Start(2000); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[dstream.Time]int{5000: 1, 8000: 1, 2000: 0, 3000: 0, 6000: 0, -1000: 0} {
		jobs, err := d.graph.Generate(at)
		if err != nil {
			t.Fatal(err)
		}
		if len(jobs) != want {
			t.Errorf("%s: %d jobs, want %d", at, len(jobs), want)
		}
	}
}

func TestAutomaticCheckpointInterval_T9(t *testing.T) {
	for slide, want := range map[time.Duration]time.Duration{
		100 * ms: 10_000 * ms, 300 * ms: 10_200 * ms, 1000 * ms: 10_000 * ms, 3000 * ms: 12_000 * ms,
		7000 * ms: 14_000 * ms, 10_000 * ms: 10_000 * ms, 11_000 * ms: 11_000 * ms, 30_000 * ms: 30_000 * ms,
	} {
		t.Run(fmt.Sprint(slide), func(t *testing.T) {
			d := newDriver(t, setup{interval: slide})
			s := runningSum(input(d, words("a")...))
			collect(s)
			d.start()
			if got := s.Info().Checkpoint; got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestIntervalsAreWholeMilliseconds(t *testing.T) {
	for _, d := range []time.Duration{0, -time.Second, time.Microsecond, ms + 1} {
		if _, err := dstream.NewGraph(nil, d); !errors.Is(err, dstream.ErrBadDuration) {
			t.Errorf("%v: got %v, want ErrBadDuration", d, err)
		}
	}
}
