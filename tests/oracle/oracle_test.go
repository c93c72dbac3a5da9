package oracle

import (
	"errors"
	"flag"
	"testing"
	"time"
)

var (
	count   = flag.Int("oracle.n", 500, "random pipelines to run")
	streams = flag.Int("oracle.streams", 1000, "random pipelines over streams to run besides")
	first   = flag.Uint64("oracle.seed", 1, "seed of the first pipeline; the others follow")
)

func TestRandomPipelinesEqualThePlainEvaluator(t *testing.T) {
	t.Parallel()
	runAll(t, *count, "oracle.n", Generate)
}

// Windows, state and joins, over inputs that are cut into batches at random.
func TestRandomStreamsEqualThePlainEvaluator(t *testing.T) {
	t.Parallel()
	runAll(t, *streams, "oracle.streams", GenerateStream)
}

// runAll runs n plans, which is what a flag says, and checks that their faults came to pass.
func runAll(t *testing.T, n int, name string, generate func(seed uint64) *Plan) {
	failures := 0
	var all Work
	for i := range uint64(n) {
		done, err := Run(t.Context(), generate(*first+i))
		all = all.add(done)
		if err == nil {
			continue
		}
		report(t, err, name, *first+i)
		if failures++; failures == 3 {
			t.Fatal("enough failures")
		}
	}
	t.Logf("%d pipelines: %+v", n, all)
	if n < 500 {
		return // too few to say
	}
	if err := all.short(int64(n) / 20); err != nil {
		t.Errorf("the configs do not do what they are for: %v", err)
	}
}

// report prints a failure and what it shrinks to.
func report(t *testing.T, err error, name string, seed uint64) {
	t.Helper()
	t.Errorf("seed %d (run this test again with -%s 1 -oracle.seed %d): %v", seed, name, seed, err)
	var f *Failure
	if errors.As(err, &f) {
		t.Errorf("seed %d shrinks to: %v", seed, Shrink(t.Context(), f, time.Now().Add(20*time.Second)))
	}
}

func TestEveryOperationIsGenerated(t *testing.T) {
	times := map[string]int{}
	for seed := range uint64(*count) {
		for _, s := range Generate(*first + seed).Steps {
			times[s.op.name]++
		}
	}
	if *count < 500 {
		return // too few to hold all
	}
	for _, o := range operations() {
		if times[o.name] < 3 {
			t.Errorf("%s is in %d of %d pipelines", o.name, times[o.name], *count)
		}
	}
}

func TestEveryActionIsChosen(t *testing.T) {
	chosen := map[string]bool{}
	for seed := range uint64(500) {
		p := Generate(1 + seed)
		for _, o := range p.Outputs {
			for _, c := range Configs(p.Seed) {
				for _, a := range chosenActions(p, p.Steps[o], c) {
					chosen[a.name] = true
				}
			}
		}
	}
	for _, a := range actions() {
		if !chosen[a.name] {
			t.Errorf("%s is never chosen", a.name)
		}
	}
}
