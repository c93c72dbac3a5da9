package oracle

// evaluation holds the batches of the steps so far.
type evaluation struct{ steps [][]Batch }

// Expect returns the batches of every step of a plan, evaluated over slices on this goroutine.
func Expect(p *Plan) [][]Batch {
	var e evaluation
	for i := range p.Steps {
		e.step(p, i, 0)
	}
	return e.steps
}

// step evaluates step i, which is the next one. It reports false, and leaves the step out, if a batch
// of it has more rows than most; 0 sets no limit.
func (e *evaluation) step(p *Plan, i, most int) bool {
	s := p.Steps[i]
	in := make([][]Batch, len(s.In))
	for n, from := range s.In {
		in[n] = e.batches(p, from)
	}
	if most > 0 && s.op.grows != nil {
		for t := range in[0] {
			if s.op.grows(at(in, t)...) > most {
				return false // not even worth trying
			}
		}
	}
	var out []Batch
	if s.op.history != nil {
		out = s.op.history(s, in[0], p.step(s.In[0]).slide)
	} else {
		out = batchwise(s, in)
	}
	if most > 0 && largest(out) > most {
		return false
	}
	e.steps = append(e.steps, out)
	return true
}

// batches returns those of an input, which may be a source.
func (e *evaluation) batches(p *Plan, in int) []Batch {
	if in < 0 {
		return p.Sources[^in].Batches
	}
	return e.steps[in]
}

// batchwise applies an operation to each batch in which all inputs are present.
func batchwise(s Step, in [][]Batch) []Batch {
	out := make([]Batch, len(in[0]))
	for t := range out {
		now := at(in, t)
		out[t].Present = true
		for n := range in {
			out[t].Present = out[t].Present && in[n][t].Present
		}
		if out[t].Present {
			out[t].Rows = s.op.eval(s, now...)
		}
	}
	return out
}

func largest(batches []Batch) int {
	n := 0
	for _, b := range batches {
		n = max(n, len(b.Rows))
	}
	return n
}

// at returns the rows of a batch of each input.
func at(in [][]Batch, t int) [][]Row {
	now := make([][]Row, len(in))
	for n := range in {
		now[n] = in[n][t].Rows
	}
	return now
}
