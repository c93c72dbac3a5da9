package streamingcontext_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

// A program comes back after 100,000 intervals. What was in windows is shown as if it had been there, what came meanwhile
// comes in the newest batch, and the batches between are not made.
func TestMissedBatchesAreMadeAsOne(t *testing.T) {
	f, out := folder{t, t.TempDir()}, &seen{}
	var batches atomic.Int64
	s := survive(t, func(ssc *streamingcontext.Context) error {
		sums := parsed(ssc.TextFiles(f.dir, streamingcontext.IncludeExisting()))
		watch(out, dstream.Map(sums, func(p rdd.Pair[string, int64]) int64 { return p.Value }), false)
		watch(out, dstream.ReduceByKeyAndWindow(sums, add64, sub64, 3*time.Second, 0, dstream.KeepWindowed(func(p rdd.Pair[string, int64]) bool { return p.Value != 0 })), false)
		watch(out, dstream.ReduceByKeyAndWindow(sums, add64, nil, 4*time.Second, 4*time.Second), false)
		watch(out, dstream.UpdateStateByKey(sums, total), false)
		return nil
	})
	s.configure = func(o *streamingcontext.Options) {
		o.RepeatLast, o.Missed = false, streamingcontext.MissedCoalesce
		o.Listeners = []streamingcontext.Listener{{BatchCompleted: func(streamingcontext.BatchInfo) { batches.Add(1) }}}
	}
	numbers(f, 1, 5)
	s.start()
	s.advance(5)
	out.take()
	s.killed()
	numbers(f, 100_001, 100_002)
	numbers(f, 50_000, 50_000)
	s.clock.Set(100_007_000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	batches.Store(0)
	began := time.Now()
	s.start()
	s.settled()
	took := time.Since(began)
	runtime.GC()
	runtime.ReadMemStats(&after)
	// The last window of four seconds with a record ends at 8, those of three at 7.
	var want []string
	for _, b := range []struct {
		at        int
		rows      string
		sum, wide string
		total     int
	}{{6, "", "(sum,9)", "", 15}, {7, "", "(sum,5)", "", 15}, {8, "", "", "(sum,5)", 15}, {9, "", "", "", 15},
		{100_007, "50000 100001 100002", "(sum,250003)", "", 250_018}} {
		want = append(want, fmt.Sprintf("%d [%s]", b.at, b.rows), fmt.Sprintf("%d [%s]", b.at, b.sum))
		if b.at%4 == 0 {
			want = append(want, fmt.Sprintf("%d [%s]", b.at, b.wide))
		}
		want = append(want, fmt.Sprintf("%d [(sum,%d)]", b.at, b.total))
	}
	out.want(t, want...)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); took > 20*time.Second || grown > 32<<20 || batches.Load() > 6 {
		t.Errorf("the start took %v, %d batches and %d bytes", took, batches.Load(), grown)
	}
	s.advance(1)
	out.want(t, "100008 []", "100008 [(sum,250003)]", "100008 [(sum,250003)]", "100008 [(sum,250018)]")
	// It dies again, before any checkpoint knows of what was left out or after one.
	for range 2 {
		s.killed()
		s.start()
		s.settled()
		s.advance(6)
		s.stop()
		out.take()
	}
	s.killed()
	s.start()
	s.settled()
	numbers(f, 100_021, 100_021)
	s.clock.Set(100_021_000)
	s.settled()
	lines := out.take()
	if last := lines[len(lines)-1]; last != "100021 [(sum,350039)]" {
		t.Errorf("in the end %q", last)
	}
}

// Without the policy each time has a batch, and files are given to that of their time.
func TestMissedBatchesAreMadeOneByOne(t *testing.T) {
	f, out := folder{t, t.TempDir()}, &seen{}
	s := survive(t, func(ssc *streamingcontext.Context) error {
		watch(out, ssc.TextFiles(f.dir, streamingcontext.IncludeExisting()), false)
		return nil
	})
	s.configure = func(o *streamingcontext.Options) { o.RepeatLast = false }
	s.start()
	s.advance(1)
	s.killed()
	numbers(f, 3, 3)
	s.clock.Set(5000)
	s.start()
	s.settled()
	out.want(t, "1 []", "2 []", "3 [3]", "4 []", "5 []")
}

func TestMissedCoalesceRefusesAnInputByTime(t *testing.T) {
	s := survive(t, func(ssc *streamingcontext.Context) error {
		discard(each(ssc, 1))
		return nil
	})
	s.configure = func(o *streamingcontext.Options) { o.Missed = streamingcontext.MissedCoalesce }
	wantErr(t, "an input by time", s.try(), dstream.ErrInputByTime)
}

// The start of an input of files is that of the first process, also when that dies before its first batch.
func TestStartOfAFileInputOutlivesAProcessWithoutABatch_D5(t *testing.T) {
	f, out := folder{t, t.TempDir()}, &seen{}
	s := survive(t, func(ssc *streamingcontext.Context) error {
		watch(out, ssc.TextFiles(f.dir), false)
		return nil
	})
	s.clock.Set(10_000)
	numbers(f, 9, 9) // before the start
	s.start()
	s.killed()
	numbers(f, 13, 13) // between the two starts
	s.clock.Set(15_000)
	s.start()
	s.settled()
	numbers(f, 16, 16)
	s.advance(1)
	out.want(t, "11 []", "12 []", "13 [13]", "14 []", "15 []", "16 [16]")
}

// hoarder is an input that remembers much.
type hoarder struct {
	eternal[int]
	remembers []byte
	loaded    *[]byte
}

func (h hoarder) Save() ([]byte, error)               { return h.remembers, nil }
func (h hoarder) Load(saved []byte) error             { *h.loaded = saved; return nil }
func (h hoarder) Record(dstream.Time) ([]byte, error) { return []byte("x"), nil }
func (h hoarder) Replay(dstream.Time, []byte) error   { return nil }

// What inputs remember before the first batch may be long, and stays as long as the program.
func TestInputsThatRememberMuchBeforeTheFirstBatch(t *testing.T) {
	for _, size := range []int{10, 300_000} {
		remembers, loaded := make([]byte, size), []byte(nil)
		s := survive(t, func(ssc *streamingcontext.Context) error {
			in := hoarder{eternal[int]{rows: func(int64) []int { return []int{1} }}, remembers, &loaded}
			discard(dstream.NewInput(ssc.Graph(), "hoarder", "Hoarder", dstream.Input[int](in)))
			return nil
		})
		s.start()
		s.killed()
		s.start()
		if len(loaded) != size {
			t.Errorf("%d bytes of %d come back", len(loaded), size)
		}
		s.advance(12) // over a checkpoint, which cleans up
		s.killed()
		s.start()
		s.advance(1)
	}
}
