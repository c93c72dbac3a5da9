package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler/driverlog/memlog"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/tests/bench/peer"
	"github.com/leat-io/leat/tests/bench/workload"
)

// emptyTasks is the number of tasks of an empty batch: its input has as many blocks, without records.
const emptyTasks = 4

// stream is a streaming context with a clock that stands still, an input without data, and an output
// that counts it. Its decisions go to a log in memory.
type stream struct {
	context *streamingcontext.Context
	log     *memlog.Log
	clock   *streamingcontext.ManualClock
	now     dstream.Time
	batches int // how many have reached the output
	records int64
}

func newStream(ctx context.Context, cores int) (*stream, error) {
	log, err := memlog.New(memlog.Options{})
	if err != nil {
		return nil, err
	}
	s := &stream{log: log, clock: &streamingcontext.ManualClock{}}
	s.context = streamingcontext.New(streamingcontext.Options{
		App: "bench", Interval: batchInterval, Clock: s.clock, Log: log,
		EngineOptions: streamingcontext.EngineOptions{Cores: cores},
	})
	empty := newFeed([][]int64{nil}, emptyTasks)
	input := dstream.NewInput(s.context.Graph(), "feed", "Nothing", dstream.Input[int64](empty))
	dstream.ForeachRDD(input, func(ctx context.Context, r *rdd.RDD[int64], _ dstream.Time) error {
		n, err := r.Count(ctx)
		s.batches++
		s.records += n
		return err
	})
	if err := s.context.Start(ctx); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return s, nil
}

// batch makes one batch due and waits until it is over.
func (s *stream) batch(ctx context.Context) error {
	s.now += dstream.Time(batchInterval.Milliseconds())
	s.clock.Set(int64(s.now))
	return s.context.Settled(ctx, s.now)
}

// check says whether every batch has reached the output, once and empty.
func (s *stream) check() error {
	if s.batches != batchNumber(s.now)+1 || s.records != 0 {
		return fmt.Errorf("%d batches with %d records were seen, want %d without", s.batches, s.records, batchNumber(s.now)+1)
	}
	return s.context.Err()
}

func (s *stream) close(ctx context.Context) error {
	return errors.Join(s.context.Stop(ctx, streamingcontext.StopOptions{}), s.log.Close())
}

// measureEmptyBatch measures batches that come back to back.
func measureEmptyBatch(ctx context.Context, s *suite, r row, cores int) (err error) {
	runtime.GOMAXPROCS(cores)
	st, err := newStream(ctx, cores)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.close(ctx)) }()
	passes := s.overheadBatches()
	times := make([]time.Duration, 0, passes)
	var p50, p99 []float64
	job := workload.Overhead{Stages: 1, Tasks: emptyTasks}
	m, err := interleave(ctx, s.rounds, s.minRound,
		subject{
			name: "empty batch", procs: cores, passes: passes,
			work: func(ctx context.Context) error {
				begin := time.Now()
				err := st.batch(ctx)
				times = append(times, time.Since(begin))
				return err
			},
			check: func() error {
				slices.Sort(times)
				p50 = append(p50, float64(percentile(times, 0.5)))
				p99 = append(p99, float64(percentile(times, 0.99)))
				times = times[:0]
				return st.check()
			},
		},
		subject{
			name: "EmptyTasks", procs: cores, passes: passes,
			work:  func(context.Context) error { peer.EmptyTasks(job); return nil },
			check: func() error { return nil },
		})
	if err != nil {
		return err
	}
	r.variant, r.records = "empty batch, "+job.String()+", p50", 1
	row := compare(r, m[0], m[1], wallOf, within(200*time.Microsecond, 100*time.Microsecond))
	row.records, row.cost = passes, spreadOf(p50[1:]).median // the first is the warm-up
	row.note = fmt.Sprintf("wall; cpu %v; ratio of means", micros(m[0].cost(cpuOf)))
	s.table.add(row)
	r.variant, r.records, r.rounds = "empty batch, "+job.String()+", p99", passes, s.rounds
	r.cost = spreadOf(p99[1:]).median
	s.table.add(r)
	return nil
}

// measureLongRun runs very many batches and compares the last tenth with the first: what grows with
// the number of a batch would end every stream.
func measureLongRun(ctx context.Context, s *suite, r row, cores int) (err error) {
	runtime.GOMAXPROCS(cores)
	st, err := newStream(ctx, cores)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.close(ctx)) }()
	const slice = 100 // batches whose cost is taken together
	tenths := make([][]float64, 10)
	var early, late footprint
	n := s.longBatches()
	for tenth := range tenths {
		tenths[tenth] = make([]float64, 0, n/10/slice) // now, so that none of the growth is ours
	}
	for tenth := range tenths {
		for range n / 10 / slice {
			begin := cpuTime()
			for range slice {
				if err := st.batch(ctx); err != nil {
					return err
				}
			}
			tenths[tenth] = append(tenths[tenth], float64(cpuTime()-begin)/slice)
		}
		late = footprintNow()
		if tenth == 0 {
			early = late
		}
	}
	if err := st.check(); err != nil {
		return fmt.Errorf("wrong answer: %w", err)
	}
	first, last := spreadOf(tenths[0]), spreadOf(tenths[9])
	r.records, r.rounds, r.cores = n, 1, cores
	r.variant, r.peer, r.floor = "long run, last tenth of batches", "first tenth", atMost(1.1, 1.05)
	r.cost = last.median
	r.ratio = spread{last.median / first.median, last.least / first.least, last.most / first.most}
	r.note = fmt.Sprintf("medians, minima and maxima of %d batches each", slice)
	s.table.add(r)
	r.variant, r.peer, r.cost = "long run, heap at the end", "heap after a tenth", 0
	r.ratio = same(float64(late.heap) / float64(early.heap))
	r.note = fmt.Sprintf("%d KB, %d KB", late.heap>>10, early.heap>>10)
	s.table.add(r)
	r.variant, r.peer, r.floor = "long run, goroutines at the end", "after a tenth", atMost(1, 1)
	r.ratio = same(float64(late.goroutines) / float64(early.goroutines))
	r.note = fmt.Sprintf("%d, %d", late.goroutines, early.goroutines)
	s.table.add(r)
	return nil
}

// same is a spread of one number.
func same(x float64) spread { return spread{x, x, x} }

// footprint is what a program holds on to.
type footprint struct {
	heap       uint64 // bytes that are alive
	goroutines int
}

func footprintNow() footprint {
	// Two, since finalizers and pools let go of some things at the second only.
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return footprint{heap: m.HeapAlloc, goroutines: runtime.NumGoroutine()}
}
