package oracle

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Shrink returns a smaller failure, the smallest found by the deadline: without losses if they do not
// matter, with fewer steps, outputs, batches, rows. What hangs is left as it is.
func Shrink(ctx context.Context, f *Failure, deadline time.Time) *Failure {
	var hang *HangError
	for !errors.As(f.Err, &hang) {
		smaller := shrinkOnce(ctx, f, deadline)
		if smaller == nil {
			break
		}
		f = smaller
	}
	return f
}

// shrinkOnce returns the first simpler variant that fails as well, nil if there is none.
func shrinkOnce(ctx context.Context, f *Failure, deadline time.Time) *Failure {
	for _, config := range simpler(f.Config) {
		if smaller := retry(ctx, f.Plan, config, deadline); smaller != nil {
			return smaller
		}
	}
	for _, plan := range smaller(f.Plan) {
		if smaller := retry(ctx, plan, f.Config, deadline); smaller != nil {
			return smaller
		}
	}
	return nil
}

// retry runs a variant, a few times where its failure may depend on timing.
func retry(ctx context.Context, p *Plan, config Config, deadline time.Time) *Failure {
	want := Expect(p)
	tries := 1
	if config.harms() || config.Executors*config.Slots > 1 {
		tries = 4
	}
	if config.harms() {
		if work, err := Check(ctx, p, want, config.calm()); err == nil {
			config.Work = work
		}
	}
	for range tries {
		if ctx.Err() != nil || time.Now().After(deadline) {
			return nil
		}
		if _, err := Check(ctx, p, want, config); err != nil {
			return &Failure{Plan: p, Config: config, Err: err}
		}
	}
	return nil
}

// simpler returns configs with one thing less.
func simpler(c Config) []Config {
	var all []Config
	with := func(change func(*Config)) {
		next := c
		change(&next)
		if next != c {
			all = append(all, next)
		}
	}
	with(func(c *Config) { *c = c.calm() })
	for _, n := range []func(c *Config) *int{
		func(c *Config) *int { return &c.Kills }, func(c *Config) *int { return &c.Spoils }, func(c *Config) *int { return &c.Meddles },
		func(c *Config) *int { return &c.Stalls }, func(c *Config) *int { return &c.Hangs },
	} {
		with(func(c *Config) { *n(c) = 0 })
		with(func(c *Config) { *n(c) = min(*n(c), 1) })
	}
	with(func(c *Config) { c.Memory = 0 })
	with(func(c *Config) { c.Fair, c.Local, c.Exclude = false, false, false })
	with(func(c *Config) {
		if !c.speculates() {
			c.Executors, c.Slots, c.Exclude = 1, 1, false
		}
	})
	with(func(c *Config) { c.Isolate = false })
	with(func(c *Config) { c.Lag = 0 })
	with(func(c *Config) { c.Again = false })
	with(func(c *Config) { c.Parts = 1 })
	with(func(c *Config) { c.Parts = min(c.Parts, 2) })
	with(func(c *Config) { c.Unset = false })
	return all
}

// smaller returns the plans that are one change smaller, those that fit together.
func smaller(p *Plan) []*Plan {
	var all []*Plan
	with := func(change func(*Plan)) {
		next := p.clone()
		change(next)
		if next.settle() == nil {
			all = append(all, next)
		}
	}
	for i := range p.Outputs {
		if len(p.Outputs) > 1 {
			with(func(n *Plan) { n.Outputs = slices.Delete(n.Outputs, i, i+1) })
			with(func(n *Plan) { n.Outputs = []int{p.Outputs[i]} })
		}
	}
	for i := range p.Steps {
		for _, instead := range p.Steps[i].In {
			with(func(n *Plan) { n.removeStep(i, instead) })
		}
	}
	if p.Stream && p.Batches > 1 {
		for t := 1; t <= p.Batches; t++ {
			with(func(n *Plan) { n.removeBatch(t) })
		}
	}
	for i, s := range p.Sources {
		for t, batch := range s.Batches {
			if n := len(batch.Rows); n > 1 {
				with(func(next *Plan) { next.Sources[i].Batches[t].Rows = batch.Rows[:n/2] })
				with(func(next *Plan) { next.Sources[i].Batches[t].Rows = batch.Rows[n/2:] })
			}
			for r := range min(len(batch.Rows), 8) {
				with(func(next *Plan) {
					rows := &next.Sources[i].Batches[t].Rows
					*rows = slices.Delete(slices.Clone(*rows), r, r+1)
				})
			}
		}
	}
	for i, s := range p.Steps {
		if s.Parts != 0 && s.op.name != "partitionBy" {
			with(func(n *Plan) { n.Steps[i].Parts = 0 })
		}
		if s.Every != 0 {
			with(func(n *Plan) { n.Steps[i].Every = 0 })
		}
		if s.Slide > 1 {
			with(func(n *Plan) { n.Steps[i].Slide = 1 })
		}
		if s.Window > 1 {
			with(func(n *Plan) { n.Steps[i].Window-- })
		}
	}
	return all
}

func (p *Plan) clone() *Plan {
	next := *p
	next.Outputs = slices.Clone(p.Outputs)
	next.Steps = slices.Clone(p.Steps)
	for i := range next.Steps {
		next.Steps[i].In = slices.Clone(p.Steps[i].In)
	}
	next.Sources = slices.Clone(p.Sources)
	for i := range next.Sources {
		next.Sources[i].Batches = slices.Clone(p.Sources[i].Batches)
	}
	return &next
}

// removeStep puts one of a step's inputs in its place.
func (p *Plan) removeStep(i, instead int) {
	moved := func(in int) int {
		switch {
		case in == i:
			in = instead
		case in > i:
			in--
		}
		return in
	}
	p.Steps = slices.Delete(p.Steps, i, i+1)
	for n := range p.Steps {
		for k, in := range p.Steps[n].In {
			p.Steps[n].In[k] = moved(in)
		}
	}
	outputs := p.Outputs[:0]
	for _, o := range p.Outputs {
		if o = moved(o); o >= 0 && !slices.Contains(outputs, o) {
			outputs = append(outputs, o)
		}
	}
	p.Outputs = outputs
}

func (p *Plan) removeBatch(t int) {
	p.Batches--
	for i := range p.Sources {
		p.Sources[i].Batches = slices.Delete(p.Sources[i].Batches, t, t+1)
	}
}
