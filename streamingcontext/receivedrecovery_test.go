package streamingcontext_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers/queue"
	"github.com/leat-io/leat/streamingcontext"
)

// receiving is a program that sees what its receiver is handed.
type receiving struct {
	*survivor
	out   *seen
	h     *handed
	stuck dstream.Time // a batch that does not end
	began chan struct{}
}

func receive(t *testing.T) *receiving {
	r := &receiving{out: new(seen), began: make(chan struct{}, 1)}
	r.survivor = survive(t, func(ssc *streamingcontext.Context) error {
		r.h = newHanded()
		dstream.ForeachRDD(streamingcontext.Receive[int](ssc, r.h), func(ctx context.Context, of *rdd.RDD[int], at dstream.Time) error {
			if at == r.stuck {
				r.began <- struct{}{}
				<-ctx.Done()
				return ctx.Err()
			}
			rows, err := of.CollectPartitions(ctx)
			if err == nil && len(rows) > 0 {
				r.out.add(fmt.Sprint(int64(at)/1000, " ", rows))
			}
			return err
		})
		return nil
	})
	return r
}

// What was acknowledged and is in no batch when the process ends is in the first batch of the next one, in order, once; those of a
// batch that had begun are run again with it, from the log.
// Shows R9, C-01, C-02.
func TestBlocksOutliveTheProcess_R9_C01_C02(t *testing.T) {
	for name, end := range map[string]func(*receiving){"killed": func(r *receiving) { r.killed() }, "stopped": func(r *receiving) { r.stop() }} {
		t.Run(name, func(t *testing.T) {
			r := receive(t)
			r.start()
			r.h.store(t, 1)
			r.advance(1)
			r.out.want(t, "1 [[1]]")
			r.stuck = 2000
			r.h.store(t, 2, 3)
			r.h.store(t, 4)
			r.clock.Advance(1000)
			<-r.began
			r.h.store(t, 5)
			r.h.store(t, 6, 7)
			end(r)
			r.stuck = 0
			r.start()
			r.h.store(t, 8)
			r.advance(1)
			r.out.want(t, "2 [[2 3] [4]]", "3 [[5] [6 7] [8]]")
			r.advance(1)
			// And once more: what a batch had is in none again.
			end(r)
			r.start()
			r.advance(1)
			r.out.want(t)
		})
	}
}

// A kill between the begin of a batch and its end, again and again, changes nothing in what the batch has.
// Shows C-02.
func TestABatchKeepsItsBlocks_C02(t *testing.T) {
	r := receive(t)
	r.start()
	r.stuck = 1000
	r.h.store(t, 1, 2)
	r.clock.Advance(1000)
	<-r.began
	for range 3 {
		r.killed()
		r.start()
		<-r.began
		r.h.store(t, 3)
	}
	r.killed()
	r.stuck = 0
	r.start()
	r.advance(1)
	r.out.want(t, "1 [[1 2]]", "2 [[3] [3] [3]]")
}

// A log whose last block was cut short has all blocks before it.
// Shows L2, C-12.
func TestATornReceivedLog_L2_C12(t *testing.T) {
	r := receive(t)
	r.start()
	r.h.store(t, 1)
	r.h.store(t, 2)
	r.h.store(t, 3)
	r.killed()
	entries, err := os.ReadDir(filepath.Join(r.dir, "received"))
	if err != nil {
		t.Fatal(err)
	}
	torn := false
	for _, e := range entries {
		path := filepath.Join(r.dir, "received", e.Name())
		if info, err := e.Info(); err == nil && info.Size() > 100 {
			if err := os.Truncate(path, info.Size()-2); err != nil {
				t.Fatal(err)
			}
			torn = true
		}
	}
	if !torn {
		t.Fatalf("nothing to tear in %v", entries)
	}
	r.start()
	r.advance(1)
	r.out.want(t, "1 [[1] [2]]")
}

// A context that is not made on the folder knows nothing of its blocks.
// Shows R10.
func TestBlocksWithoutRecovery_R10(t *testing.T) {
	r := receive(t)
	r.start()
	r.h.store(t, 1)
	r.stop()
	clock := new(streamingcontext.ManualClock)
	ssc := streamingcontext.New(streamingcontext.Options{Interval: r.ssc.Interval(), Clock: clock})
	if err := errors.Join(r.declare(ssc), ssc.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	clock.Advance(1000)
	if err := errors.Join(ssc.Settled(t.Context(), 1000), ssc.Stop(t.Context(), streamingcontext.StopOptions{})); err != nil {
		t.Fatal(err)
	}
	r.out.want(t)
	r.start()
	r.advance(1)
	r.out.want(t, "1 [[1]]")
}

// Blocks of batches that no recovery asks for go, those of the last batch and those that wait stay, also over a restart and behind many
// batches.
// Shows R11, FS-09.
func TestBlocksAreCleaned_R11_FS09(t *testing.T) {
	r := receive(t)
	r.start()
	for i := range 25 { // a checkpoint comes every ten
		r.h.store(t, i)
		r.advance(1)
	}
	if got := slices.Max(streamingcontext.HeldBatches(r.ssc)); got > 3 {
		t.Errorf("%d batches are in memory", got)
	}
	r.h.store(t, 25)
	r.out.take()
	r.killed()
	r.start()
	r.advance(1)
	r.out.want(t, "25 [[24]]", "26 [[25]]")
}

// A program that does not have a stream any more is refused, and the blocks stay for the one that has it.
// Shows C-03.
func TestAStreamThatIsGone_C03(t *testing.T) {
	r := receive(t)
	r.start()
	r.h.store(t, 1)
	r.stop()
	had := r.declare
	r.declare = func(ssc *streamingcontext.Context) error {
		watch(r.out, each(ssc, 1), true)
		return nil
	}
	if changed, ok := errors.AsType[*dstream.ChangedError](r.try()); !ok || changed.Node != 1 {
		t.Errorf("another stream: %v", changed)
	}
	r.declare = func(ssc *streamingcontext.Context) error {
		watch(r.out, each(ssc, 1), true)
		return had(ssc)
	}
	if changed, ok := errors.AsType[*dstream.ChangedError](r.try()); !ok || !strings.Contains(changed.Error(), "eternal") {
		t.Errorf("one more stream: %v", changed)
	}
	r.declare = had
	r.start()
	r.advance(1)
	r.out.want(t, "1 [[1]]")
}

// A queue cannot give the RDD of a batch that was under way again: the start says so. Batches that had none go on.
// Shows I4.
func TestAQueueAndRecovery_I4(t *testing.T) {
	for _, filled := range []bool{true, false} {
		t.Run(fmt.Sprintf("filled=%t", filled), func(t *testing.T) {
			var q *queue.Queue[*rdd.RDD[int]]
			out, began, stuck := new(seen), make(chan struct{}, 1), true
			s := survive(t, func(ssc *streamingcontext.Context) error {
				q = new(queue.Queue[*rdd.RDD[int]])
				dstream.ForeachRDD(streamingcontext.QueueStream(ssc, q), func(ctx context.Context, _ *rdd.RDD[int], at dstream.Time) error {
					if stuck {
						began <- struct{}{}
						<-ctx.Done()
						return ctx.Err()
					}
					out.add(at.String())
					return nil
				})
				return nil
			})
			s.start()
			if filled {
				q.Push(rdd.Parallelize(s.ssc.RDDs(), []int{1}, 1))
			}
			s.clock.Advance(1000)
			<-began
			s.stop()
			stuck = false
			err := s.try()
			if filled {
				if !errors.Is(err, streamingcontext.ErrNotReplayable) || !errors.Is(err, streamingcontext.ErrQueueNotRecoverable) {
					t.Errorf("got %v", err)
				}
				wantState(t, s.ssc, streamingcontext.Stopped)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			s.advance(1)
			out.want(t, "1000 ms", "2000 ms")
		})
	}
}
