package main

import (
	"context"
	"fmt"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// batchInterval is the length of a batch in stream time. Batches are run back to back, so it says
// nothing about how long one takes.
const batchInterval = time.Second

// feed is an input whose batches have been made before: batch b is batches[b mod len], in blocks.
type feed[T any] struct{ batches [][][]T }

// newFeed cuts each of batches into blocks of nearly the same length.
func newFeed[T any](batches [][]T, blocks int) feed[T] {
	f := feed[T]{}
	for _, b := range batches {
		cut := make([][]T, blocks)
		for i := range cut {
			cut[i] = b[i*len(b)/blocks : (i+1)*len(b)/blocks]
		}
		f.batches = append(f.batches, cut)
	}
	return f
}

// RDD returns the batch of t, the first of which is at one interval after zero.
func (f feed[T]) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[T], error) {
	return rdd.FromBlocks(c, f.batches[batchNumber(t)%len(f.batches)]), nil
}

// batchNumber is the number of the batch of t, from 0.
func batchNumber(t dstream.Time) int { return int(int64(t)/batchInterval.Milliseconds()) - 1 }

// pump drives the batches of a graph one after the other, on the caller's goroutine. It is what a
// streaming context does without the clock, the log and the listeners, so that a window's cost is
// measured alone.
type pump struct {
	engine *engine
	graph  *dstream.Graph
	now    dstream.Time
}

// newPump returns a pump over the graph that declare makes.
func newPump(cores int, checkpoints string, declare func(g *dstream.Graph)) (*pump, error) {
	e, err := newStreamEngine(cores, checkpoints)
	if err != nil {
		return nil, err
	}
	p := &pump{engine: e}
	if p.graph, err = dstream.NewGraph(e.rdds, batchInterval); err != nil {
		return nil, err
	}
	declare(p.graph)
	return p, p.graph.Start(0)
}

// batch runs the next batch.
func (p *pump) batch(ctx context.Context) error {
	p.now += dstream.Time(batchInterval.Milliseconds())
	jobs, err := p.graph.Generate(p.now)
	if err != nil {
		return err
	}
	for _, job := range jobs {
		if err := job.Run(ctx); err != nil {
			return fmt.Errorf("batch %d: %w", batchNumber(p.now), err)
		}
	}
	p.graph.ForgetOutputs(p.now)
	p.graph.Forget(p.now)
	return nil
}

// last is the number of the batch that was run last.
func (p *pump) last() int { return batchNumber(p.now) }

func (p *pump) close() error { return p.engine.close() }
