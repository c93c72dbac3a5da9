package oracle

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// broken is a filter that loses the rows of the longest key, in RDDs only.
func broken() operation {
	return operation{name: "broken", inputs: 1, ordered: true, eval: same,
		batch: func(b *builder, s Step, in ...rows) (rows, error) {
			return in[0].Filter(func(r Row) bool { b.tick(); return len(r.Key) < 20 }), nil
		}}
}

func TestAnOperatorThatLosesRowsIsFoundAndShrinksToItself(t *testing.T) {
	var f *Failure
	for seed := uint64(2); f == nil; seed += 2 {
		p := Generate(seed)
		if p.Steps[0].In[0] != ^0 || len(p.Steps) < 4 {
			continue
		}
		// The broken step takes the place of the first one's input.
		first := Step{op: broken(), In: []int{^0}}
		p.Steps = append([]Step{first}, p.Steps...)
		for i := range p.Steps[1:] {
			for n, in := range p.Steps[i+1].In {
				if in >= 0 {
					p.Steps[i+1].In[n]++
				}
			}
		}
		p.Steps[1].In[0] = 0
		for i := range p.Outputs {
			p.Outputs[i]++
		}
		p.Outputs = append(p.Outputs, 0)
		if err := p.settle(); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), p); err != nil && !errors.As(err, &f) {
			t.Fatal(err)
		}
	}
	f = Shrink(t.Context(), f, time.Now().Add(time.Minute))
	if len(f.Plan.Steps) != 1 || f.Plan.Steps[0].op.name != "broken" {
		t.Errorf("shrunk to %v, want the broken step alone", f.Plan)
	}
	if n := len(f.Plan.Sources[0].Batches[1].Rows); n != 1 {
		t.Errorf("%d rows are left, want the one that is lost", n)
	}
	if want := (Config{Parts: 1, Executors: 1, Slots: 1, When: f.Config.When, Work: f.Config.Work}); f.Config != want {
		t.Errorf("config %v, want %v", f.Config, want)
	}
}

func TestDifferencesAreSeen(t *testing.T) {
	for seed := uint64(2); ; seed++ {
		p := Generate(seed)
		want := Expect(p)
		last := want[p.Outputs[0]]
		at := len(last) - 1
		if len(last[at].Rows) == 0 {
			continue
		}
		config := Configs(seed)[0]
		if _, err := Check(t.Context(), p, want, config); err != nil {
			t.Fatal(err)
		}
		last[at].Rows = slices.Clone(last[at].Rows) // they may be those of the source
		last[at].Rows[0].Value++
		if _, err := Check(t.Context(), p, want, config); err == nil {
			t.Errorf("seed %d: a changed row makes no difference", seed)
		}
		if seed > 20 {
			return
		}
	}
}

func TestASeedMakesTheSamePlan(t *testing.T) {
	for seed := range uint64(50) {
		if a, b := Generate(seed).String(), Generate(seed).String(); a != b {
			t.Fatalf("seed %d makes\n%s and\n%s", seed, a, b)
		}
	}
}
