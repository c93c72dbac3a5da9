package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

// What W8 measures.
const (
	w8Checkpoints = 60                     // of each way
	w8Paced       = 100 * time.Millisecond // the interval that batches have in the paced measurement
)

// w8Ways are the ways to write state.
var w8Ways = []struct {
	name  string
	whole bool
	every int // batches between checkpoints
}{
	{"whole, every batch", true, 1},
	{"changes, every batch", false, 1},
	{"whole, every 10 batches", true, 10},
	{"changes, every 10 batches", false, 10},
}

// measureCheckpoints measures W8: what checkpoints of keyed state cost a stream of which a batch touches one key in a hundred.
func measureCheckpoints(ctx context.Context, s *suite) error {
	keys := s.size.Records()
	in, err := newStateInput(keys, keys/100, s.cores[0])
	if err != nil {
		return err
	}
	var all []checkpointed
	for _, way := range w8Ways {
		c, err := measureWay(ctx, s, in, way.whole, way.every)
		if err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
		all = append(all, c)
	}
	plain := all[2].plain
	for i, way := range w8Ways {
		c, whole := all[i], all[i/2*2]
		r := row{workload: "W8", size: s.size, cores: s.cores[0], records: 1, rounds: len(c.stalls), peer: "whole"}
		r.variant, r.cost, r.ratio = way.name+", worst stall", float64(c.stall(plain, 1)), same(float64(whole.stall(plain, 0.5))/float64(max(c.stall(plain, 1), 1)))
		r.note = fmt.Sprintf("wall; median %v; a batch without %v; ratio is the median of whole ones over it", c.stall(plain, 0.5).Round(10*time.Microsecond), plain.Round(10*time.Microsecond))
		if !way.whole && way.every == 1 {
			r.floor = atLeast(10, 20)
		}
		s.table.add(r)
		r.floor, r.variant, r.cost, r.ratio = floor{}, way.name+", bytes", c.bytes, same(whole.bytes/c.bytes)
		r.note = "bytes where others have ns, of a checkpoint on the average; ratio is whole/row"
		if !way.whole && way.every == 1 {
			r.floor = atLeast(20, 30)
		}
		s.table.add(r)
		busy := float64(plain*time.Duration(way.every)) / float64(plain*time.Duration(way.every)+c.stall(plain, 0.5))
		r.floor, r.variant, r.peer, r.cost, r.ratio = floor{}, way.name+", throughput back to back", "none", float64(plain+c.stall(plain, 0.5)/time.Duration(way.every)), same(busy)
		r.note = ""
		s.table.add(r)
		r.floor, r.variant, r.cost, r.ratio = atLeast(0.9, 0.95), way.name+", throughput paced", float64(c.paced), same(c.pace)
		if way.whole {
			r.floor = floor{}
		}
		r.note = fmt.Sprintf("a batch every %v; ns of the slowest", w8Paced)
		s.table.add(r)
	}
	return nil
}

// checkpointed is what batches with checkpoints took.
type checkpointed struct {
	stalls []time.Duration // of batches with a checkpoint, sorted
	plain  time.Duration   // the median of the others, 0 if there are none
	bytes  float64         // of a checkpoint on the average
	paced  time.Duration   // the slowest batch where batches come at an interval
	pace   float64         // then, how much of what batches without checkpoints would get done was
}

// stall is how much longer than a plain batch one with a checkpoint took, at a percentile.
func (c checkpointed) stall(plain time.Duration, p float64) time.Duration {
	return percentile(c.stalls, p) - plain
}

// measureWay runs batches whose state is written whole or not, and checks it in the end.
func measureWay(ctx context.Context, s *suite, in stateInput, whole bool, every int) (c checkpointed, err error) {
	dir, err := os.MkdirTemp(s.dir, "w8-*")
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	x, err := newCheckpointed(in, s.cores[0], dir, whole, every)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, x.close()) }()
	for range 3 * every { // the first is whole in any case
		if err := x.batch(ctx); err != nil {
			return c, err
		}
	}
	before, err := bytesBelow(dir)
	if err != nil {
		return c, err
	}
	var plain []time.Duration
	for range w8Checkpoints * every {
		began := time.Now()
		if err := x.batch(ctx); err != nil {
			return c, err
		}
		if took := time.Since(began); (x.pump.last()+1)%every == 0 {
			c.stalls = append(c.stalls, took)
		} else {
			plain = append(plain, took)
		}
	}
	after, err := bytesBelow(dir)
	if err != nil {
		return c, err
	}
	c.bytes = float64(after-before) / w8Checkpoints
	slices.Sort(c.stalls)
	slices.Sort(plain)
	c.plain = percentile(plain, 0.5)
	next := time.NewTicker(w8Paced) // a batch that takes longer has the next one come late
	defer next.Stop()
	start := time.Now()
	for range w8Checkpoints {
		<-next.C
		began := time.Now()
		if err := x.batch(ctx); err != nil {
			return c, err
		}
		c.paced = max(c.paced, time.Since(began))
	}
	c.pace = float64(w8Checkpoints*w8Paced) / float64(time.Since(start))
	return c, x.checkState(ctx)
}

// newCheckpointed returns a stream with state whose checkpoints are durable.
func newCheckpointed(in stateInput, cores int, dir string, whole bool, every int) (*stated, error) {
	e, err := newEngineOn(local.Options{Slots: cores}, scheduler.Options{}, rdd.Options{
		DefaultParallelism: cores, Cores: cores, CheckpointDir: dir, CheckpointAllMarked: true, DurableCheckpoints: true,
	})
	if err != nil {
		return nil, err
	}
	x := &stated{name: updateTouched.name, in: in, pump: &pump{engine: e}}
	g, err := dstream.NewGraph(e.rdds, batchInterval)
	if err != nil {
		return nil, errors.Join(err, e.close())
	}
	x.graph = g
	g.KeepCheckpoints(true)
	g.FullCheckpoints(whole)
	pairs := dstream.NewInput(g, "feed", "Touches", dstream.Input[sumPair](in.feed))
	states := dstream.UpdateStateByKey(pairs, countTouches, dstream.InitialState(rdd.FromBlocks(e.rdds, in.initial)), dstream.TouchedOnly())
	if err := errors.Join(x.updated(states, every), g.Start(0)); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return x, nil
}

// bytesBelow returns how many bytes files below a folder have.
func bytesBelow(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
