package streamingcontext_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

// ones is a stream of a batch of the numbers 1, 2, ...: the batch's own number.
func ones(ssc *streamingcontext.Context, asked *seen) *dstream.DStream[int64] {
	return dstream.NewInput(ssc.Graph(), "ones", "Ones",
		dstream.Input[int64](eternal[int64]{rows: func(n int64) []int64 { return []int64{n} }, asked: asked}))
}

// runningCount is a program with a running count that is written every second batch.
func runningCount(out *seen) func(*streamingcontext.Context) error {
	return func(ssc *streamingcontext.Context) error {
		totals := dstream.UpdateStateByKey(dstream.CountByValue(each(ssc, "a")), total)
		watch(out, totals, true)
		return totals.Checkpoint(2 * time.Second)
	}
}

// Of checkpoints there is one, which the driver log names; those before it go, whichever was written last.
// Shows F1, F2, F3, F4.
func TestTheCheckpointThatCounts_F1_F2_F3_F4(t *testing.T) {
	out := new(seen)
	s := survive(t, runningCount(out))
	s.start()
	folder := filepath.Join(s.dir, "checkpoints")
	// What is none: a folder with the name of one, and a file in a folder with such a name.
	strange := []string{"checkpoint-1000000", "checkpoint-01/x"}
	for _, err := range []error{os.MkdirAll(filepath.Join(folder, strange[0]), 0o755), os.MkdirAll(filepath.Join(folder, "checkpoint-01"), 0o755),
		os.WriteFile(filepath.Join(folder, strange[1]), []byte("x"), 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var times []dstream.Time
	for range 6 {
		s.advance(1)
		all, err := streamingcontext.Checkpoints(s.dir)
		if err != nil || len(all) > 1 {
			t.Fatalf("checkpoints %+v, %v", all, err)
		}
		for _, c := range all {
			if !c.Counts || c.Damage != "" || c.Pending != nil && c.Time > c.Pending[0] {
				t.Errorf("checkpoint %+v", c)
			}
			times = append(times, c.Time)
		}
	}
	if !slices.IsSorted(times) || len(times) < 4 || times[len(times)-1] < 6000 {
		t.Errorf("checkpoints of batches %v", times)
	}
	s.killed()
	out.take()
	s.start()
	s.advance(1)
	out.want(t, "6 [(a,6)]", "7 [(a,7)]")
	for _, name := range strange {
		if _, err := os.Stat(filepath.Join(s.dir, "checkpoints", name)); err != nil {
			t.Errorf("what is no checkpoint: %v", err)
		}
	}
}

// The batches that were under way are run again, then come those whose time has passed, then those of the timer.
// Shows F5, F6.
func TestBatchesThatAreRunAgain_F5_F6(t *testing.T) {
	out := new(seen)
	block := true
	s := survive(t, func(ssc *streamingcontext.Context) error {
		dstream.ForeachRDD(ones(ssc, nil), func(ctx context.Context, _ *rdd.RDD[int64], at dstream.Time) error {
			if block && at == 4000 {
				out.add("stuck")
				<-ctx.Done()
				return ctx.Err()
			}
			out.add(at.String())
			return nil
		})
		return nil
	})
	s.start()
	s.advance(3)
	s.clock.Advance(1000)
	s.clock.Advance(1000)
	for {
		info, err := streamingcontext.Restarts(s.dir)
		if err != nil {
			t.Fatal(err)
		}
		if info[0].Last == 5000 {
			if diff := cmp.Diff([]dstream.Time{4000, 5000}, info[0].Pending); diff != "" {
				t.Errorf("pending (-want +got):\n%s", diff)
			}
			break
		}
	}
	s.stop()
	out.take()
	block = false
	s.clock = new(streamingcontext.ManualClock)
	s.clock.Set(8500)
	s.start()
	s.settled()
	out.want(t, "4000 ms", "5000 ms", "6000 ms", "7000 ms", "8000 ms")
	s.clock.Set(8999)
	s.settled()
	out.want(t)
	s.clock.Set(9000)
	s.settled()
	out.want(t, "9000 ms")
	// Nothing is pending: the last batch alone is run again, and not without RepeatLast.
	for repeat, want := range map[bool][]string{true: {"9000 ms", "10000 ms"}, false: {"10000 ms"}} {
		copied := *s
		copied.killed()
		copied.configure = func(o *streamingcontext.Options) { o.RepeatLast = repeat }
		copied.clock = new(streamingcontext.ManualClock)
		copied.clock.Set(9200)
		copied.start()
		copied.clock.Set(10_000)
		copied.settled()
		copied.stop()
		out.want(t, want...)
	}
}

// Windows and state over a stop give what they give without one; the last batch comes once more.
// Shows F7, F8, F9, F10.
func TestResultsOverAStop_F7_F8_F9_F10(t *testing.T) {
	texts := func(ssc *streamingcontext.Context) *dstream.DStream[string] {
		return dstream.NewInput(ssc.Graph(), "texts", "Texts", dstream.Input[string](eternal[string]{rows: func(n int64) []string {
			return [][]string{{"a", "a", "b"}, {"c", "c"}, {}}[(n-1)%3]
		}}))
	}
	for name, c := range map[string]struct {
		declare func(ssc *streamingcontext.Context, out *seen) error
		stop    int
	}{
		"F7": {func(ssc *streamingcontext.Context, out *seen) error {
			watch(out, dstream.CountByValue(texts(ssc)), true)
			return nil
		}, 3},
		"F8": {func(ssc *streamingcontext.Context, out *seen) error {
			w := dstream.ReduceByKeyAndWindow(dstream.CountByValue(each(ssc, "a")), add, sub, 4*time.Second, 0)
			watch(out, w, true)
			return w.Checkpoint(2 * time.Second)
		}, 7},
		"F9": {func(ssc *streamingcontext.Context, out *seen) error { return runningCount(out)(ssc) }, 7},
		"F10": {func(ssc *streamingcontext.Context, out *seen) error {
			spec := dstream.NewStateSpec(func(_ string, n rdd.Option[int64], s *dstream.State[int64]) int64 {
				old := s.Option().Value
				_ = s.Update(old + n.Value)
				return old + n.Value
			})
			m := dstream.MapWithState(dstream.CountByValue(texts(ssc)), spec)
			watch(out, m.StateSnapshots(), true)
			return m.Checkpoint(2 * time.Second)
		}, 7},
	} {
		t.Run(name, func(t *testing.T) {
			out := new(seen)
			declare := func(ssc *streamingcontext.Context) error { return c.declare(ssc, out) }
			s := survive(t, declare)
			s.start()
			s.advance(10)
			want := out.take()
			s.stop()
			s = survive(t, declare)
			s.start()
			s.advance(c.stop)
			s.stop()
			out.want(t, want[:c.stop]...)
			s.start()
			s.advance(10 - c.stop)
			out.want(t, want[c.stop-1:]...)
			if name == "F8" && strings.Count(strings.Join(want, ","), "(a,4)") != 7 {
				t.Errorf("windows %q", want)
			}
		})
	}
}

// Which RDDs of a state that is written every second batch are in files, while the batches go on and after recovery; two states, one
// made from the other, are both written with their batch.
// Shows F12, F13.
func TestFilesOfState_F12_F13(t *testing.T) {
	s := survive(t, runningCount(new(seen)))
	written := func() (times []dstream.Time) {
		for _, stream := range s.ssc.Graph().Checkpoint() {
			for _, f := range stream.Files {
				if err := rdd.VerifyCheckpoint(filepath.Join(s.dir, "state", filepath.FromSlash(f.Dir)), f.Digest); err != nil {
					t.Error(err)
				}
				times = append(times, f.Time)
			}
		}
		return times
	}
	s.start()
	for _, step := range []struct {
		batches int
		want    []dstream.Time
	}{{2, []dstream.Time{2000}}, {2, []dstream.Time{2000, 4000}}, {1, []dstream.Time{2000, 4000}}, {1, []dstream.Time{4000, 6000}}} {
		s.advance(step.batches)
		if got := written(); !slices.Equal(got, step.want) {
			t.Errorf("at %d ms: files of batches %v, want %v", s.clock.Now(), got, step.want)
		}
	}
	s.killed()
	s.start()
	if got := written(); !slices.Equal(got, []dstream.Time{4000, 6000}) {
		t.Errorf("after recovery: files of batches %v", got)
	}

	s = survive(t, func(ssc *streamingcontext.Context) error {
		first := dstream.UpdateStateByKey(dstream.CountByValue(each(ssc, "a")), total)
		second := dstream.UpdateStateByKey(first, total)
		watch(new(seen), second, true)
		return errors.Join(first.Checkpoint(time.Second), second.Checkpoint(time.Second))
	})
	s.start()
	s.advance(1)
	if got := written(); !slices.Equal(got, []dstream.Time{1000, 1000}) {
		t.Errorf("two states: files of batches %v", got)
	}
}

// replayed is an eternal input that counts how often it is told what it gave.
type replayed struct {
	eternal[int64]
	told *seen
}

func (in replayed) Record(dstream.Time) ([]byte, error) { return []byte("x"), nil }
func (in replayed) Replay(at dstream.Time, _ []byte) error {
	in.told.add(at.String())
	return nil
}

// Three outputs of a stream have its input told once what it gave.
// Shows F14.
func TestAnInputIsToldOnce_F14(t *testing.T) {
	told := new(seen)
	s := survive(t, func(ssc *streamingcontext.Context) error {
		in := replayed{eternal[int64]{rows: func(n int64) []int64 { return []int64{n} }}, told}
		m := dstream.Map(dstream.NewInput(ssc.Graph(), "replayed", "Replayed", dstream.Input[int64](in)), func(n int64) int64 { return -n })
		for range 3 {
			watch(new(seen), m, true)
		}
		return nil
	})
	s.start()
	s.advance(2)
	s.stop()
	told.want(t)
	s.start()
	told.want(t, "1000 ms", "2000 ms")
}

// A checkpoint that is damaged or gone is refused by name, and so is a damaged driver log. A folder that is not there is made.
// Shows F15, C-09.
func TestDamagedCheckpoints_F15_C09(t *testing.T) {
	out := new(seen)
	for name, c := range map[string]struct {
		damage func(dir, file string) error
		want   error
	}{
		"flipped": {func(dir, file string) error {
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			data[len(data)/2] ^= 4
			return os.WriteFile(file, data, 0o644)
		}, streamingcontext.ErrDamaged},
		"emptied": {func(_, file string) error { return os.Truncate(file, 0) }, streamingcontext.ErrDamaged},
		"removed": {func(_, file string) error { return os.Remove(file) }, fs.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			s := survive(t, runningCount(out))
			s.start()
			s.advance(5)
			s.stop()
			all, err := streamingcontext.Checkpoints(s.dir)
			if err != nil || len(all) != 1 {
				t.Fatal(all, err)
			}
			if err := c.damage(s.dir, filepath.Join(s.dir, all[0].File)); err != nil {
				t.Fatal(err)
			}
			if err := s.try(); !errors.Is(err, c.want) || !strings.Contains(err.Error(), filepath.Base(all[0].File)) {
				t.Errorf("got %v", err)
			}
			if _, err := streamingcontext.VerifyCheckpoint(s.dir); !errors.Is(err, c.want) {
				t.Errorf("verify: %v", err)
			}
		})
	}
	s := survive(t, runningCount(out))
	s.dir = filepath.Join(s.dir, "not", "there")
	s.start()
}

// Options are those of the new process; what the batches depend on may not differ.
// Shows F16.
func TestOptionsOfTheNewProcess_F16(t *testing.T) {
	out := new(seen)
	s := survive(t, runningCount(out))
	s.start()
	s.advance(3)
	s.stop()
	out.take()
	s.configure = func(o *streamingcontext.Options) { o.Interval = 2 * time.Second }
	if changed, ok := errors.AsType[*dstream.ChangedError](s.try()); !ok {
		t.Errorf("another interval: %v", changed)
	}
	s.configure = func(o *streamingcontext.Options) { o.ConcurrentJobs = 3 }
	s.start()
	s.advance(1)
	lines := out.take()
	slices.Sort(lines) // batches run side by side
	if want := []string{"3 [(a,3)]", "4 [(a,4)]"}; !slices.Equal(lines, want) {
		t.Errorf("saw %q, want %q", lines, want)
	}
}

// A batch that is run again saves to the folder that its first run has written.
// Shows F17.
func TestSavingABatchAgain_F17(t *testing.T) {
	saved := t.TempDir()
	s := survive(t, func(ssc *streamingcontext.Context) error {
		dstream.SaveAsTextFiles(each(ssc, "a", "b"), filepath.Join(saved, "out"), "txt")
		return nil
	})
	s.start()
	s.advance(2)
	s.stop()
	folder := filepath.Join(saved, "out-2000.txt")
	if err := os.WriteFile(filepath.Join(folder, "part-00009"), []byte("of a run that was cut short\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.start()
	s.advance(1)
	entries, err := os.ReadDir(saved)
	if err != nil || len(entries) != 3 {
		t.Errorf("folders %v, %v", entries, err)
	}
	if _, err := os.Stat(filepath.Join(folder, "part-00009")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what the first run has left: %v", err)
	}
}
