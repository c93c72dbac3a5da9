package oracle

import (
	"fmt"
	"math/rand/v2"
)

// tooMany is how many rows a step may have in one batch.
const tooMany = 2500

// tooManyOfBig is the same for a big plan.
const tooManyOfBig = 100_000

// Generate returns the plan of a seed: over RDDs for even seeds, over streams for odd ones.
func Generate(seed uint64) *Plan {
	return generate(seed, seed%2 == 1, func(operation) bool { return true })
}

// GenerateStream returns the plan of a seed over streams.
func GenerateStream(seed uint64) *Plan {
	return generate(seed, true, func(operation) bool { return true })
}

// GenerateRecordwise returns a stream whose operations treat every record by itself, so that it
// makes no difference how records are cut into batches.
func GenerateRecordwise(seed uint64) *Plan {
	return generate(seed, true, func(o operation) bool { return o.distinct })
}

// generate returns a plan of the operations that allow passes.
func generate(seed uint64, stream bool, allow func(operation) bool) *Plan {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x5eed))}
	g.plan = &Plan{Seed: seed, Stream: stream, Batches: 1, Interval: 1000}
	if stream {
		g.plan.Batches = 3 + g.IntN(10)
		if g.IntN(12) == 0 {
			g.plan.Batches = 50 // long enough to forget, and to write checkpoints, many times
		}
		g.plan.Interval = []int64{500, 1000, 2000, 5000}[g.IntN(4)]
		g.plan.Zero = []int64{0, 1_700_000_000_000, 123}[g.IntN(3)]
	}
	g.plan.Big = !stream && g.IntN(bigOnes) == 0
	for range 1 + g.IntN(2) {
		g.source()
	}
	for _, o := range operations() {
		if allow(o) && (stream && o.family != batchOnly || !stream && o.family != streamOnly) {
			g.ops = append(g.ops, o)
		}
	}
	for range 1 + g.IntN(6) {
		g.step()
	}
	last := len(g.plan.Steps) - 1
	g.plan.Outputs = []int{last}
	for i := range last {
		if g.IntN(5) == 0 {
			g.plan.Outputs = append(g.plan.Outputs, i)
		}
	}
	if err := g.plan.settle(); err != nil {
		panic(fmt.Sprintf("generated plan: %v\n%v", err, g.plan)) // a mistake of this package
	}
	return g.plan
}

// bigOnes is how many plans over RDDs there are for a big one.
const bigOnes = 50

type generator struct {
	*rand.Rand
	plan *Plan
	ops  []operation
	eval evaluation
}

// source adds an input.
func (g *generator) source() {
	s := Source{Batches: make([]Batch, g.plan.Batches+1), Blocks: g.IntN(2) == 0}
	gaps := g.plan.Stream && g.IntN(4) == 0
	most := []int{3, 12, 60}[g.IntN(3)]
	if g.plan.Batches > 20 {
		most = 8
	}
	for i := 1; i < len(s.Batches); i++ {
		if gaps && g.IntN(3) == 0 {
			continue
		}
		s.Batches[i].Present = true
		if g.plan.Big {
			s.Batches[i].Rows = g.manyRows()
			continue
		}
		for range g.IntN(most + 1) {
			s.Batches[i].Rows = append(s.Batches[i].Rows, g.row())
		}
	}
	g.plan.Sources = append(g.plan.Sources, s)
}

func (g *generator) row() Row {
	keys := []string{"a", "b", "c", "d", "e", "f", "", "grüße", "a key that is longer than what fits inline", "\x00\xff"}
	return Row{Key: keys[min(g.IntN(len(keys)), g.IntN(len(keys)))], Value: g.Int64N(40) - 10}
}

// manyRows returns 20,000 to 60,000 rows, a few for each key, some keys long.
func (g *generator) manyRows() []Row {
	n := 20_000 + g.IntN(40_001)
	keys := 2000 + g.IntN(20_000)
	all := make([]Row, n)
	for i := range all {
		k := g.IntN(keys)
		all[i] = Row{Key: fmt.Sprint("key ", k), Value: g.Int64N(100_000) - 1000}
		if k%10 == 0 {
			all[i].Key += " and what makes it too long to fit inline"
		}
	}
	return all
}

// step adds a step that fits and does not grow too much.
func (g *generator) step() {
	p := g.plan
	most := tooMany
	if p.Big {
		most = tooManyOfBig
	}
	for {
		s := Step{op: g.ops[g.IntN(len(g.ops))], Arg: g.Int64N(60), Parts: []int{0, 0, 0, 1, 2, 3, 8}[g.IntN(7)]}
		for range s.op.inputs {
			s.In = append(s.In, g.input())
		}
		if s.op.spans {
			s.Window, s.Slide = 1+g.IntN(5), 1+g.IntN(2)*g.IntN(4)
		}
		if s.op.wide {
			rows := 0
			for _, b := range g.eval.batches(p, s.In[0]) {
				rows = max(rows, len(b.Rows))
			}
			s.settleWidth(rows, p.Stream)
		}
		if p.Stream && g.IntN(3) == 0 {
			s.Every = 1 + g.IntN(4)
		}
		p.Steps = append(p.Steps, s)
		if p.settleStep(len(p.Steps)-1) == nil && g.eval.step(p, len(p.Steps)-1, most) {
			return
		}
		p.Steps = p.Steps[:len(p.Steps)-1]
	}
}

// input chooses a source or, more likely, one of the last steps.
func (g *generator) input() int {
	n := len(g.plan.Steps)
	if n == 0 || g.IntN(4) == 0 {
		return ^g.IntN(len(g.plan.Sources))
	}
	return max(g.IntN(n), g.IntN(n))
}
