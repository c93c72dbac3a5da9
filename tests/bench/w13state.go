package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
	"github.com/leat-io/leat/tests/bench/workload"
)

// runningKeys is the number of keys of the running reduce, and of pairs in each of its batches.
const runningKeys = 1000

// runningBatches is how many batches a running reduce has.
func (s *suite) runningBatches() int {
	switch {
	case s.size >= workload.M:
		return 1000
	case s.size >= workload.S:
		return 100
	}
	return 20
}

// measureRunning measures a reduce whose every batch depends on the one before, with checkpoints that cut
// its lineage every so many batches, and without.
func measureRunning(ctx context.Context, s *suite, r row) error {
	r.records, r.rounds = s.runningBatches(), 1
	for _, every := range []int{5, 10, 50, 0} {
		r.variant = fmt.Sprintf("running reduce, checkpoint every %d batches", every)
		if every == 0 {
			r.variant = "running reduce, no checkpoint"
		}
		if err := runRunning(ctx, s, r, every); err != nil {
			return fmt.Errorf("%s: %w", r.variant, err)
		}
	}
	return nil
}

// running is the state of a running reduce.
type running struct {
	e      *engine
	source *workload.Pairs
	p      *rdd.HashPartitioner[int64]
	state  *rdd.RDD[sumPair]
	sums   table64 // the recount
}

func runRunning(ctx context.Context, s *suite, r row, every int) (err error) {
	cores := s.most()
	e, err := newEngineOn(local.Options{Slots: cores}, scheduler.Options{}, rdd.Options{Cores: cores, CheckpointDir: s.dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.close()) }()
	source, err := workload.NewPairs(workload.DefaultSeed, workload.PairsOptions{Keys: runningKeys})
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(cores)
	run := &running{e: e, source: source, p: rdd.Hash[int64](2), sums: newTable64(runningKeys)}
	tenth := max(1, r.records/10)
	var first, last timing
	before := liveHeap()
	for b := range r.records {
		wall, cpu := time.Now(), cpuTime()
		if err := run.batch(ctx, b, every); err != nil {
			return fmt.Errorf("batch %d: %w", b, err)
		}
		t := timing{cpu: cpuTime() - cpu, wall: time.Since(wall)}
		switch {
		case b < tenth:
			first.cpu += t.cpu
		case b >= r.records-tenth:
			last.cpu += t.cpu
		}
	}
	grown := (float64(liveHeap()) - float64(before)) / float64(r.records)
	if err := run.check(ctx); err != nil {
		return err
	}
	r.cores, r.peer = cores, "the first tenth of batches"
	r.cost = float64(last.cpu) / float64(tenth)
	r.ratio = same(float64(last.cpu) / float64(max(first.cpu, 1)))
	r.note = fmt.Sprintf("of the last tenth; %.0f bytes more a batch", grown)
	s.table.add(r)
	return nil
}

// liveHeap returns the bytes in use after a collection.
func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// batch adds the pairs of batch b to the state.
func (r *running) batch(ctx context.Context, b, every int) error {
	pairs, err := r.source.Append(nil, b*runningKeys, (b+1)*runningKeys)
	if err != nil {
		return err
	}
	rows := make([]sumPair, len(pairs))
	for i, p := range pairs {
		rows[i] = sumPair{Key: p.Key, Value: p.Value}
		r.sums.put(p.Key, p.Value, add)
	}
	scope := lineage.Scope{Batch: int64(b + 1), Stream: 1}
	c := r.e.rdds.In(scope, "bench", 0)
	next := rdd.PartitionBy(rdd.FromBlocks(c, [][]sumPair{rows[:len(rows)/2], rows[len(rows)/2:]}), rdd.Partitioner[int64](r.p))
	if r.state != nil {
		next = rdd.UnionAll(c, r.state.In(c), next)
	}
	next = rdd.ReduceByKey(next, add, rdd.PartitionedBy(r.p)).Cache()
	if every > 0 && (b+1)%every == 0 {
		if err := next.Checkpoint(); err != nil {
			return err
		}
	}
	if _, err := next.Count(ctx); err != nil {
		return err
	}
	if r.state != nil {
		// Nobody reads the batch before any more: its state, and what its shuffle wrote.
		r.e.rdds.Forget(lineage.Scope{Batch: int64(b), Stream: 1})
	}
	r.state = next
	return nil
}

// check compares the state with the recount.
func (r *running) check(ctx context.Context) error {
	pairs, err := r.state.Collect(ctx)
	if err != nil {
		return err
	}
	var got, want keySums
	for _, p := range pairs {
		got = got.with(p.Key, p.Value)
	}
	for key, sum := range r.sums {
		if sum != absent {
			want = want.with(int64(key), sum)
		}
	}
	return sameSums(got, want)
}
