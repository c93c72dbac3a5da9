package oracle

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd"
)

// checkRDDs compares the outputs of a plan over RDDs, in a FAIR scheduler all at once, and that nothing is left
// on the executors once the RDDs are forgotten.
func (b *builder) checkRDDs(want [][]Batch) error {
	steps, err := b.rdds()
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	errs := make([]error, len(b.plan.Outputs)+1)
	for i, o := range b.plan.Outputs {
		check := func(b *builder) {
			if err := b.checkRDD(b.plan.Steps[o], steps[o], want[o][1].Rows); err != nil {
				errs[i] = fmt.Errorf("output %d: %w", o, err)
			}
		}
		if !b.config.Fair {
			check(b)
			continue
		}
		running.Go(func() { check(b.pooled(i)) })
	}
	if b.config.Fair {
		running.Go(func() {
			other := b.pooled(len(b.plan.Outputs))
			o := b.plan.Outputs[0]
			n, err := steps[o].Count(other.ctx)
			if err == nil && n != int64(len(want[o][1].Rows)) {
				err = fmt.Errorf("output %d: %d rows counted, want %d", o, n, len(want[o][1].Rows))
			}
			errs[len(b.plan.Outputs)] = err
		})
	}
	running.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	b.destroy()
	b.c.Forget(lineage.Scope{})
	return b.empties(0)
}

// pooled is the builder with a pool for its jobs.
func (b *builder) pooled(i int) *builder {
	in := *b
	in.ctx = rdd.WithPool(b.ctx, pools[i%len(pools)])
	return &in
}

// patience is how long executors may take to forget: attempts that nobody needs any more may still run.
const patience = 10 * time.Second

// empties waits until the executors hold no map outputs, as many partitions as are allowed at most, and no memory
// for tasks, and none for blocks where none are allowed.
func (b *builder) empties(allowed int) error {
	// What was dropped has passed the scheduler's loop once a later job has.
	if _, err := rdd.Range(b.c, 0, 1, 1, 1).Count(b.ctx); err != nil {
		return err
	}
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	over := time.NewTimer(patience)
	defer over.Stop()
	for {
		outputs, kept := b.faults.cluster.Blocks()
		reserved, stored := b.faults.cluster.Memory()
		if outputs == 0 && kept <= allowed && reserved == 0 && (stored == 0 || allowed > 0) {
			return nil
		}
		select {
		case <-look.C:
		case <-over.C:
			return fmt.Errorf("all is forgotten, but executors hold %d map outputs and %d partitions in %d bytes, %d partitions are allowed; tasks have %d bytes",
				outputs, kept, stored, allowed, reserved)
		case <-b.ctx.Done():
			return b.ctx.Err()
		}
	}
}

func (b *builder) checkRDD(s Step, r rows, want []Row) error {
	got, err := b.twice(r)
	if err != nil {
		return err
	}
	if err := differ(got, want, s.ordered); err != nil {
		return err
	}
	for _, a := range chosenActions(b.plan, s, b.config) {
		have, should, err := a.check(b, r, got)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		if err := differ(have, should, true); err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
	}
	return nil
}

// chosenActions are one or two actions for an output, others in other configs.
func chosenActions(p *Plan, s Step, c Config) []action {
	all := actions()
	n := uint64(len(all))
	at := p.Seed/2 + uint64(s.Arg) + uint64(5*c.Parts)
	if p.Seed/2%2 == 0 {
		return []action{all[at%n]}
	}
	return []action{all[at%n], all[(at+n/2)%n]}
}

// twice collects an RDD and compares with a second collection, which is computed again where nothing
// was kept: it has the same rows in the same order.
func (b *builder) twice(r rows) ([]Row, error) {
	first, err := r.Collect(b.ctx)
	if err != nil {
		return nil, err
	}
	if b.plan.Seed%3 == 0 {
		r.Unpersist()
	}
	again, err := r.Collect(b.ctx)
	if err != nil {
		return nil, fmt.Errorf("collected again: %w", err)
	}
	if err := differ(again, first, true); err != nil {
		return nil, fmt.Errorf("collected again: %w", err)
	}
	return first, nil
}
