package rdd

import "testing"

// BenchmarkSpill is BenchmarkWide with a MiB for all operators of a task together.
func BenchmarkSpill(b *testing.B) {
	few := widePairs(50_000)
	for _, x := range wideOperators(few, widePairs(1<<40)) {
		b.Run(x.name, func(b *testing.B) {
			for b.Loop() {
				r := newInlineRunner(false)
				r.Memory = &inlineMemory{floor: budgetFloor, refuse: func(held, more int64) bool { return held+more > 1<<20 }}
				if _, err := x.count(newTestContext(b, r, Options{})); err != nil {
					b.Fatal(err)
				}
			}
			perRecord(b, len(few))
		})
	}
}
