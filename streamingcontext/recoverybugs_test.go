package streamingcontext_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

// committed returns the rows of a folder of the files sink, each behind its batch's number.
func committed(t *testing.T, dir string) (rows []string) {
	t.Helper()
	for row, err := range files.Read(dir, files.ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, fmt.Sprint(row.Batch, " ", string(row.Line)))
	}
	slices.Sort(rows)
	return rows
}

// saving is a program that writes two rows a batch to the files sink, and waits at the batches in stuck.
func saving(out string, stuck func(dstream.Time) bool) func(*streamingcontext.Context) error {
	return func(ssc *streamingcontext.Context) error {
		rows := each(ssc, "x", "y")
		dstream.SaveTo(rows, "rows", files.Text(out))
		dstream.ForeachRDD(rows, func(ctx context.Context, _ *rdd.RDD[string], at dstream.Time) error {
			if stuck(at) {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		})
		return nil
	}
}

// A process that ends between the writing of the files and the decision leaves files that no reader of the sink sees, and that the next
// process replaces. A batch that is run again though it is committed is not shown twice.
// Shows FS-01, FS-10.
func TestABatchIsShownOnce_FS01_FS10(t *testing.T) {
	out := t.TempDir()
	hold := true
	s := survive(t, saving(out, func(at dstream.Time) bool { return hold && at == 3000 }))
	s.start()
	s.advance(2)
	s.clock.Advance(1000)
	for len(glob(t, out, "*/*/data/*2/part-*")) == 0 { // written, and not decided
	}
	s.killed()
	want := []string{"0 x", "0 y", "1 x", "1 y"}
	if diff := cmp.Diff(want, committed(t, out)); diff != "" {
		t.Errorf("before recovery (-want +got):\n%s", diff)
	}
	hold = false
	s.start()
	s.settled()
	want = append(want, "2 x", "2 y")
	for range 3 { // each run again of the last batch
		if diff := cmp.Diff(want, committed(t, out)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		s.killed()
		s.start()
	}
}

func glob(t *testing.T, dir, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// Files that were in the folder before are neither hidden nor taken for output: the sink writes below a folder of the application's, and
// its reader reads what is committed.
// Shows FS-02.
func TestOtherFilesInTheFolderOfASink_FS02(t *testing.T) {
	out := t.TempDir()
	before := filepath.Join(out, "part-00000.txt")
	if err := os.WriteFile(before, []byte("before\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := survive(t, saving(out, func(dstream.Time) bool { return false }))
	s.start()
	s.advance(1)
	if data, err := os.ReadFile(before); err != nil || string(data) != "before\n" {
		t.Errorf("%q, %v", data, err)
	}
	if diff := cmp.Diff([]string{"0 x", "0 y"}, committed(t, out)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A sink that has batches of an application whose driver log is gone, or older, is not written to.
// Shows FS-04.
func TestASinkWithoutItsLog_FS04(t *testing.T) {
	out := t.TempDir()
	s := survive(t, saving(out, func(dstream.Time) bool { return false }))
	s.start()
	s.advance(2)
	s.stop()
	older := t.TempDir()
	if err := os.CopyFS(older, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	s.start()
	s.advance(3)
	s.stop()
	for name, dir := range map[string]string{"gone": t.TempDir(), "older": older} {
		s.dir = dir
		if err := s.try(); !errors.Is(err, streamingcontext.ErrSinkAhead) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := committed(t, out); len(got) != 10 {
		t.Errorf("rows %q", got)
	}
}

// A stop flushes nothing: a window that is half full when the process ends is whole in the next one, once.
// Shows C-05.
func TestAStopFlushesNothing_C05(t *testing.T) {
	for _, graceful := range []bool{false, true} {
		t.Run(fmt.Sprintf("graceful %t", graceful), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { stopHalfWay(t, graceful) })
		})
	}
}

func stopHalfWay(t *testing.T, graceful bool) {
	out := new(seen)
	s := survive(t, func(ssc *streamingcontext.Context) error {
		watch(out, dstream.Window(ones(ssc, nil), 6*time.Second, 6*time.Second), false)
		return nil
	})
	s.start()
	s.advance(2)
	if graceful {
		stopped := make(chan error, 1)
		go func() { stopped <- s.ssc.Stop(t.Context(), streamingcontext.StopOptions{Graceful: true}) }()
		for synctest.Wait(); len(stopped) == 0; synctest.Wait() { // it waits for a tick
			s.clock.Advance(1000)
		}
		if err := <-stopped; err != nil || s.clock.Now() >= 6000 {
			t.Errorf("stopped at %d: %v", s.clock.Now(), err)
		}
	} else {
		s.stop()
	}
	out.want(t)
	s.start()
	for s.clock.Now() < 7000 {
		s.advance(1)
	}
	out.want(t, "6 [1 2 3 4 5 6]")
	s.stop()
}

// The last piece of an input that ends is committed with its batch: nothing further is waited for.
// Shows C-06.
func TestTheLastPieceIsCommitted_C06(t *testing.T) {
	out := t.TempDir()
	s := survive(t, func(ssc *streamingcontext.Context) error {
		rows := dstream.NewInput(ssc.Graph(), "pieces", "Pieces", dstream.Input[string](eternal[string]{rows: func(n int64) []string {
			return make([]string, []int{0, 10, 10, 5, 0}[min(n, 4)])
		}}))
		dstream.SaveTo(rows, "rows", files.Text(out))
		return nil
	})
	s.start()
	s.advance(3)
	if got := committed(t, out); len(got) != 25 {
		t.Errorf("%d rows", len(got))
	}
}

// A process that only makes up for what was missed runs the batch that was under way and all that came since.
// Shows C-07.
func TestWhatCameMeanwhileIsRun_C07(t *testing.T) {
	out, hold := new(seen), true
	began := make(chan struct{}, 1)
	s := survive(t, func(ssc *streamingcontext.Context) error {
		dstream.ForeachRDD(ones(ssc, nil), func(ctx context.Context, r *rdd.RDD[int64], at dstream.Time) error {
			if hold && at == 3000 {
				began <- struct{}{}
				<-ctx.Done()
				return ctx.Err()
			}
			rows, err := r.Collect(ctx)
			out.add(fmt.Sprint(rows))
			return err
		})
		return nil
	})
	s.start()
	s.advance(2)
	s.clock.Advance(1000)
	<-began
	s.stop()
	out.take()
	hold = false
	s.clock.Set(5000)
	s.start()
	s.settled()
	out.want(t, "[3]", "[4]", "[5]")
}

// A state that has no value yet has none after recovery, through empty batches, and ids and times of batches have no gap.
// Shows C-13.
func TestNoValueStaysNone_C13(t *testing.T) {
	out := new(seen)
	s := survive(t, func(ssc *streamingcontext.Context) error {
		none := each[rdd.Pair[string, int64]](ssc)
		totals := dstream.UpdateStateByKey(none, total)
		watch(out, totals, true)
		watch(out, dstream.Reduce(each[int64](ssc), add), true)
		return totals.Checkpoint(time.Second)
	})
	for life := range 3 {
		s.start()
		s.advance(2)
		s.killed()
		want := []string{}
		for n := max(1, 2*life); n <= 2*life+2; n++ {
			want = append(want, fmt.Sprint(n, " []"), fmt.Sprint(n, " []"))
		}
		out.want(t, want...)
	}
	info, err := streamingcontext.Restarts(s.dir)
	if err != nil || len(info) != 1 || info[0].Last != 6000 || len(info[0].Pending) > 0 {
		t.Errorf("%+v, %v", info, err)
	}
}

// A start and a stop with no wait between them, many times on one folder, lose nothing and leave the folder free.
// Shows T-03.
func TestStartAndStopOnOneFolder_T03(t *testing.T) {
	out := new(seen)
	s := survive(t, runningCount(out))
	for range 30 {
		s.start()
		s.clock.Advance(1000)
		s.stop()
	}
	s.start()
	s.advance(1)
	lines := out.take()
	if last := lines[len(lines)-1]; last != "31 [(a,31)]" {
		t.Errorf("the last batch is %q", last)
	}
}

// Batches that were set aside are run again by the next process, with RepeatLast, while what they need is known; those that go well then
// are not run once more.
func TestBatchesSetAsideAreRunAgain(t *testing.T) {
	out, fails := new(seen), true
	s := survive(t, func(ssc *streamingcontext.Context) error {
		dstream.ForeachRDD(ones(ssc, nil), func(_ context.Context, _ *rdd.RDD[int64], at dstream.Time) error {
			out.add(at.String())
			if fails && (at == 2000 || at == 3000) {
				return errors.New("no luck")
			}
			return nil
		})
		return nil
	})
	s.configure = func(o *streamingcontext.Options) { o.OnFailure.Then = streamingcontext.SetAside }
	aside := func(want ...dstream.Time) {
		t.Helper()
		info, err := streamingcontext.Restarts(s.dir)
		if err != nil || !slices.Equal(info[0].SetAside, want) || info[0].Last != dstream.Time(s.clock.Now()) {
			t.Errorf("%+v, %v: want %v", info, err, want)
		}
	}
	s.start()
	s.advance(15) // checkpoints do not forget them
	aside(2000, 3000)
	s.killed()
	out.take()
	s.start()
	s.advance(1)
	out.want(t, "2000 ms", "3000 ms", "15000 ms", "16000 ms")
	aside(2000, 3000) // they failed again
	s.killed()
	fails = false
	s.start()
	s.advance(1)
	out.want(t, "2000 ms", "3000 ms", "16000 ms", "17000 ms")
	aside()
	s.killed()
	s.start()
	s.advance(1)
	out.want(t, "17000 ms", "18000 ms")
	// Without RepeatLast none is.
	fails = true
	had := s.configure
	s = survive(t, s.declare)
	s.configure = func(o *streamingcontext.Options) { had(o); o.RepeatLast = false }
	s.start()
	s.advance(3)
	aside()
	s.killed()
	out.take()
	s.start()
	s.advance(1)
	out.want(t, "4000 ms")
}
