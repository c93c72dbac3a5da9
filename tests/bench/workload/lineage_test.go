package workload_test

import (
	"fmt"
	"testing"

	"github.com/leat-io/leat/tests/bench/workload"
)

func TestLineageWant(t *testing.T) {
	l := workload.NewLineage(workload.DefaultSeed)
	for _, steps := range []int{1, 16, 256} {
		want, ok := workload.LineageWant(steps)
		if !ok {
			t.Fatalf("%d steps: no answer known", steps)
		}
		if got := l.Xor(workload.LineageRecords, steps); got != want {
			t.Errorf("%d steps: got %016x, want %016x", steps, got, want)
		}
	}
	if _, ok := workload.LineageWant(3); ok {
		t.Error("3 steps: got an answer")
	}
}

// The steps one after the other give what Xor makes of all of them at once.
func TestLineageXor(t *testing.T) {
	l := workload.NewLineage(workload.DefaultSeed)
	for _, steps := range append(workload.LineageLengths(), 0) {
		var want uint64
		for i := range workload.XS.Records() {
			x := l.V(i)
			for range steps {
				x = workload.LineageStep(x)
			}
			want ^= x
		}
		if got := l.Xor(workload.XS.Records(), steps); got != want {
			t.Errorf("%d steps: got %016x, want %016x", steps, got, want)
		}
	}
}

func ExampleLineage() {
	l := workload.NewLineage(workload.DefaultSeed)
	fmt.Printf("%016x\n", l.Xor(workload.LineageRecords, 16))
	// Output:
	// 784bbc32938351f1
}
