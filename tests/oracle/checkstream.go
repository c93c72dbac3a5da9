package oracle

import (
	"context"
	"fmt"
	"time"

	"github.com/leat-io/leat/dstream"
)

// checkStream runs all batches of a plan over streams and compares every output of each. What a
// streaming context does by the clock is done here one after the other.
func (b *builder) checkStream(want [][]Batch) error {
	var err error
	b.graph, err = dstream.NewGraph(b.c, time.Duration(b.plan.Interval)*time.Millisecond)
	if err != nil {
		return err
	}
	got, err := b.declare()
	if err != nil {
		return err
	}
	if err := b.graph.Start(dstream.Time(b.plan.Zero)); err != nil {
		return err
	}
	if err := b.batches(); err != nil {
		return err
	}
	for i, o := range b.plan.Outputs {
		s := b.plan.Steps[o]
		for t := 1; t <= b.plan.Batches; t++ {
			should := want[o][t]
			if have := got[i][t]; have.Present != should.Present {
				return fmt.Errorf("output %d, batch %d: present is %v, want %v", o, t, have.Present, should.Present)
			}
			if err := differ(got[i][t].Rows, should.Rows, s.ordered); err != nil {
				return fmt.Errorf("output %d, batch %d: %w", o, t, err)
			}
		}
	}
	return b.nothingLeft()
}

// declare declares the streams and their outputs, which fill the batches that are returned.
func (b *builder) declare() ([][]Batch, error) {
	streams, err := b.streams()
	if err != nil {
		return nil, err
	}
	got := make([][]Batch, len(b.plan.Outputs))
	for i, o := range b.plan.Outputs {
		got[i] = make([]Batch, b.plan.Batches+1)
		dstream.ForeachRDD(streams[o], func(ctx context.Context, r rows, t dstream.Time) error {
			all, err := b.twice(r)
			if err != nil {
				return err
			}
			now := &got[i][b.batchOf(t)]
			if now.Present {
				return differ(all, now.Rows, true)
			}
			*now = Batch{Present: true, Rows: all}
			return nil
		})
	}
	return got, nil
}

// batches generates every batch, and runs each as many batches behind as the config says.
func (b *builder) batches() error {
	var waiting [][]dstream.Job
	var last []dstream.Job // to run again
	for batch := 1; batch <= b.plan.Batches+b.config.Lag; batch++ {
		if batch <= b.plan.Batches {
			jobs, err := b.graph.Generate(b.timeOf(batch))
			if err != nil {
				return fmt.Errorf("batch %d: %w", batch, err)
			}
			waiting = append(waiting, jobs)
		}
		due := batch - b.config.Lag
		if due < 1 {
			continue
		}
		if err := b.run(due, waiting[0]); err != nil {
			return err
		}
		if b.config.Again {
			if err := b.run(due-1, last); err != nil {
				return fmt.Errorf("again, after batch %d: %w", due, err)
			}
			last = waiting[0]
			b.forget(due - 1)
		} else {
			b.forget(due)
		}
		waiting = waiting[1:]
	}
	b.forget(b.plan.Batches)
	return nil
}

// run runs the jobs of a batch.
func (b *builder) run(batch int, jobs []dstream.Job) error {
	for _, job := range jobs {
		if err := job.Run(b.ctx); err != nil {
			return fmt.Errorf("batch %d, %s: %w", batch, job.Site, err)
		}
	}
	return nil
}

// forget tells the graph that a batch is over.
func (b *builder) forget(batch int) {
	b.graph.ForgetOutputs(b.timeOf(batch))
	b.graph.Forget(b.timeOf(batch))
}

// nothingLeft forgets all batches and checks that the executors did so too, but for what windows keep
// of their last panes until the context ends.
func (b *builder) nothingLeft() error {
	b.graph.Forget(b.timeOf(1000 * (b.plan.Batches + 1)))
	// The newest state of a step stays for the next batch, whenever that comes. It goes with the context.
	kept := b.graph.Scopes(nil)
	if len(kept) > len(b.plan.Steps) {
		return fmt.Errorf("all is forgotten, but streams hold RDDs of %d scopes: %v", len(kept), kept)
	}
	b.c.Forget(kept...)
	b.destroy()
	allowed := 0
	for _, s := range b.plan.Steps {
		allowed += s.op.tables * s.Window * max(s.Parts, b.config.Parts)
	}
	return b.empties(allowed)
}
