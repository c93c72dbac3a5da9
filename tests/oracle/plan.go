package oracle

import (
	"errors"
	"fmt"
	"strings"
)

// A Plan is a pipeline with its input.
type Plan struct {
	Seed   uint64
	Stream bool
	// Big is set for a plan over RDDs with tens of thousands of rows.
	Big bool
	// Batches is how many batches there are; a pipeline over RDDs has one.
	Batches int
	// Interval is the batch interval in milliseconds, Zero the time before the first batch.
	Interval, Zero int64
	Sources        []Source
	Steps          []Step
	// Outputs are the indexes of the steps whose result is compared.
	Outputs []int
}

// A Source is an input: one batch of rows after the other, from index 1. An RDD's rows are batch 1.
type Source struct {
	Batches []Batch
	// Blocks gives the rows as blocks of random lengths instead of equal partitions.
	Blocks bool
}

// A Batch is what a stream holds at one batch time.
type Batch struct {
	Present bool
	Rows    []Row
}

var errPlan = errors.New("steps do not fit together")

// settle derives what is known of each step, and reports whether the steps fit together.
func (p *Plan) settle() error {
	for i := range p.Steps {
		if err := p.settleStep(i); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	for _, o := range p.Outputs {
		if o < 0 || o >= len(p.Steps) {
			return errPlan
		}
	}
	if len(p.Outputs) == 0 {
		return errPlan
	}
	return nil
}

func (p *Plan) settleStep(i int) error {
	s := &p.Steps[i]
	if p.Stream && s.op.family == batchOnly || !p.Stream && s.op.family == streamOnly || len(s.In) != s.op.inputs {
		return errPlan
	}
	s.slide, s.absent, s.ordered, s.ranged = 1, false, true, s.op.ranged
	ranges := 0
	for n, in := range s.In {
		of := p.step(in)
		if n > 0 && of.slide != s.slide {
			return errPlan
		}
		s.slide = of.slide
		s.absent = s.absent || of.absent
		s.ordered = s.ordered && of.ordered
		s.ranged = s.ranged || of.ranged
		if of.ranged {
			ranges++
		}
	}
	if s.op.wantsOrder && !s.ordered || s.op.wantsOrder && ranges > 1 {
		return errPlan
	}
	transformed := p.Stream && s.op.stream == nil
	if s.absent && (s.op.needsAll || transformed) {
		return errPlan
	}
	s.ordered = s.ordered && s.op.ordered && ranges < 2 || s.op.sorts
	if s.op.spans {
		s.slide *= s.Slide
	}
	if s.op.fills {
		s.absent = false
	}
	return nil
}

// step returns what is known of an input, which may be a source.
func (p *Plan) step(in int) Step {
	if in >= 0 {
		return p.Steps[in]
	}
	s := Step{slide: 1, ordered: true}
	for _, b := range p.Sources[^in].Batches[1:] {
		s.absent = s.absent || !b.Present
	}
	return s
}

// recordwise reports whether batches may be joined before the pipeline or after it.
func (p *Plan) recordwise() bool {
	for _, s := range p.Steps {
		if !s.op.distinct {
			return false
		}
	}
	return true
}

// String prints the plan: its sources with their rows, its steps, its outputs.
func (p *Plan) String() string {
	var b strings.Builder
	kind := "RDD"
	if p.Stream {
		kind = fmt.Sprintf("stream of %d batches, interval %d ms, zero %d", p.Batches, p.Interval, p.Zero)
	}
	fmt.Fprintf(&b, "seed %d: %s\n", p.Seed, kind)
	for i, s := range p.Sources {
		fmt.Fprintf(&b, "  source%d blocks=%v\n", i, s.Blocks)
		for t, batch := range s.Batches[1:] {
			if !batch.Present {
				fmt.Fprintf(&b, "    %d absent\n", t+1)
				continue
			}
			fmt.Fprintf(&b, "    %d %d rows %v\n", t+1, len(batch.Rows), excerpt(batch.Rows, 0))
		}
	}
	for i, s := range p.Steps {
		fmt.Fprintf(&b, "  %d = %v\n", i, s)
	}
	fmt.Fprintf(&b, "  outputs %v\n", p.Outputs)
	return b.String()
}
