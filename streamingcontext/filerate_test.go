package streamingcontext_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

// 20,000 records are there in files of a hundred at the start, and the job takes 1000 a second. With back-pressure batches take
// what they can, the rest waits where it is; without it they come all at once.
func TestBackpressureReachesFiles(t *testing.T) {
	for _, on := range []bool{true, false} {
		t.Run(fmt.Sprint(on), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const files, lines = 200, 100
				f := folder{t, t.TempDir()}
				var batches []streamingcontext.BatchInfo // the listener's, read after the stop
				var overloads []streamingcontext.OverloadInfo
				b := streamingcontext.Backpressure{Enabled: on}
				if on {
					b.InitialRate = 500
				}
				ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, StopTimeout: time.Hour, Backpressure: b,
					FileRemember: 5 * time.Second, EngineOptions: streamingcontext.EngineOptions{Cores: 2},
					Listeners: []streamingcontext.Listener{{
						BatchCompleted: func(b streamingcontext.BatchInfo) { batches = append(batches, b) },
						Overloaded:     func(o streamingcontext.OverloadInfo) { overloads = append(overloads, o) },
					}}})
				seen, done := map[string]int{}, int64(0)
				in := ssc.TextFiles(f.dir)
				dstream.ForeachRDD(in, func(ctx context.Context, r *rdd.RDD[string], _ dstream.Time) error {
					rows, err := r.Collect(ctx)
					for _, row := range rows {
						seen[row]++
					}
					if done += int64(len(rows)); len(rows) > 0 {
						<-time.After(time.Duration(len(rows)) * time.Millisecond)
					}
					return err
				})
				discard(in) // a second reader does not count twice
				if err := ssc.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				now := time.Now().UnixMilli()
				for i := range files {
					var text strings.Builder
					for j := range lines {
						fmt.Fprintf(&text, "%d-%d\n", i, j)
					}
					f.write(fmt.Sprintf("%03d", i), now+1+int64(i), text.String())
				}
				pass(60 * time.Second)
				stop(t, ssc)
				var counted, most int64
				var worst time.Duration
				var left []int64
				for _, b := range batches {
					counted, most = counted+b.Records(), max(most, b.Records())
					d, _ := b.SchedulingDelay()
					worst = max(worst, d)
					n, _ := b.Waiting()
					left = append(left, n)
				}
				if done != files*lines || len(seen) != files*lines {
					t.Errorf("%d records, %d different ones, of %d", done, len(seen), files*lines)
				}
				if !on {
					if counted != 0 || worst < 15*time.Second || slices.Max(left) != 0 {
						t.Errorf("without back-pressure: %d records are counted, a batch waited %v, %d files at most", counted, worst, slices.Max(left))
					}
					return
				}
				if counted != done || most > 1500 || worst > 3*time.Second {
					t.Errorf("%d records counted of %d, %d in one batch, a batch waited %v", counted, done, most, worst)
				}
				if first := batches[0]; first.Records() != lines || left[0] != files-1 {
					t.Errorf("the first batch has %d records, %d files wait", first.Records(), left[0])
				}
				if !slices.IsSortedFunc(left, func(a, b int64) int { return int(b - a) }) || left[len(left)-1] != 0 {
					t.Errorf("files that wait: %v", left)
				}
				if slices.Index(left, 0) > 35 {
					t.Errorf("the files took until batch %d", slices.Index(left, 0))
				}
				for _, o := range overloads {
					if o.Held == 0 && o.Phase == streamingcontext.OverloadBegun {
						t.Errorf("overload without files that wait: %v", o)
					}
				}
			})
		})
	}
}

// What a limit leaves waits longer than files are remembered, and over the ends of processes; each file is in one batch.
func TestFilesThatWaitOutliveTheProcess(t *testing.T) {
	for name, limit := range map[string]streamingcontext.FileOption{
		"files": streamingcontext.MaxFilesPerBatch(2), "bytes": streamingcontext.MaxBytesPerBatch(4),
	} {
		t.Run(name, func(t *testing.T) {
			f, out := folder{t, t.TempDir()}, &seen{}
			s := survive(t, func(ssc *streamingcontext.Context) error {
				watch(out, ssc.TextFiles(f.dir, streamingcontext.IncludeExisting(), limit), false)
				return nil
			})
			s.configure = func(o *streamingcontext.Options) { o.RepeatLast, o.FileRemember = false, 3*time.Second }
			var want []string
			for i := range int64(60) {
				f.write(fmt.Sprintf("%02d", i), 1+i, string(rune('0'+i))+"\n") // two bytes each
				if i%2 == 0 {
					want = append(want, fmt.Sprintf("%d [%c %c]", i/2+1, rune('0'+i), rune('0'+i+1)))
				}
			}
			for _, n := range []int{1, 4, 13, 3, 9} {
				s.start()
				s.advance(n)
				s.killed()
			}
			out.want(t, want...)
		})
	}
}
