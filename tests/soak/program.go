package main

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

// The program's sizes.
const (
	window = 6  // batches
	keys   = 97 // different ones
	rows   = 24 // of a batch
	limit  = 50 // a key goes when its running count reaches it
)

type pair = rdd.Pair[int, int]

// rowsOf returns the records of batch k. They can be made again at any time.
func rowsOf(k int) []int {
	if k%11 == 0 {
		return nil // an idle batch
	}
	out := make([]int, rows)
	for i := range out {
		out[i] = (k*7 + i*i) % keys
	}
	return out
}

// input is the stream of rowsOf.
type input struct{}

func (input) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[int], error) {
	return rdd.Parallelize(c, rowsOf(int(t/1000)), 2), nil
}

// A program is the context under test, with the answers of its last batch.
type program struct {
	ssc    *streamingcontext.Context
	clock  *streamingcontext.ManualClock
	faults *faults

	mu            sync.Mutex // guards the fields below
	counts, state []pair
}

// newProgram declares the program. Nothing runs yet.
func newProgram(dir string, seed uint64) *program {
	p := &program{clock: &streamingcontext.ManualClock{}}
	p.ssc = streamingcontext.New(streamingcontext.Options{
		App: "soak", Interval: time.Second, Clock: p.clock,
		EngineOptions: streamingcontext.EngineOptions{
			Executors: 2, Cores: 1, DefaultParallelism: 2, MaxFailures: 10,
			Dir: filepath.Join(dir, "blocks"), CheckpointDir: filepath.Join(dir, "checkpoints"),
		},
	})
	p.faults = &faults{cluster: p.ssc.Engine().Cluster(), rng: rand.New(rand.NewPCG(seed, 0x50a))}
	in := dstream.NewInput(p.ssc.Graph(), "soak", "Soak stream", input{})
	ones := dstream.Map(in, func(key int) pair {
		p.faults.called()
		return pair{Key: key, Value: 1}
	})
	add, subtract := func(a, b int) int { return a + b }, func(a, b int) int { return a - b }
	keep(dstream.ReduceByKeyAndWindow(ones, add, subtract, window*time.Second, time.Second), p, &p.counts)
	running := func(values []int, old rdd.Option[int]) rdd.Option[int] {
		n := old.Value
		for _, v := range values {
			n += v
		}
		return rdd.Option[int]{Value: n, OK: n < limit}
	}
	keep(dstream.UpdateStateByKey(ones, running, dstream.TouchedOnly()), p, &p.state)
	return p
}

// keep declares an output that keeps the rows of the last batch.
func keep(s *dstream.DStream[pair], p *program, into *[]pair) {
	dstream.ForeachRDD(s, func(ctx context.Context, r *rdd.RDD[pair], _ dstream.Time) error {
		got, err := r.Collect(ctx)
		p.mu.Lock()
		defer p.mu.Unlock()
		*into = got
		return err
	})
}

// batch makes batch k and waits for it.
func (p *program) batch(ctx context.Context, k int) error {
	p.clock.Set(int64(k) * 1000)
	if err := p.ssc.Settled(ctx, dstream.Time(k*1000)); err != nil {
		return err
	}
	return p.ssc.Err()
}

// A harm is a kind of fault.
type harm int32

// The harms.
const (
	none harm = iota
	lose
	damage
	fail
	harms
)

// faults do harm, at most once in a batch.
type faults struct {
	done    [harms]int
	rng     *rand.Rand
	cluster cluster
	next    atomic.Int32 // the harm that the next call of the program's function does
}

// cluster is what is harmed.
type cluster interface {
	Executors() []executorID
	Kill(executorID) bool
	Add() executorID
	Damage(*rand.Rand) bool
}

// plan chooses what goes wrong in the batch to come, in one of so many.
func (f *faults) plan(every int) {
	f.next.Store(int32(none))
	if every == 0 || f.rng.IntN(every) != 0 {
		return
	}
	h := 1 + harm(f.rng.IntN(int(harms)-1))
	if h == damage {
		if f.cluster.Damage(f.rng) {
			f.done[damage]++
		}
		return
	}
	f.next.Store(int32(h))
	f.done[h]++
}

// called is called for every record, in tasks.
func (f *faults) called() {
	h := f.next.Load()
	if h == int32(none) || !f.next.CompareAndSwap(h, int32(none)) {
		return
	}
	switch harm(h) {
	case lose:
		if there := f.cluster.Executors(); len(there) > 0 {
			f.cluster.Add()
			f.cluster.Kill(there[0])
		}
	case fail:
		panic("a fault of the program")
	}
}

// folders makes the folders of a program anew.
func folders(dir string) error {
	for _, name := range []string{"blocks", "checkpoints"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return err
		}
	}
	return nil
}
