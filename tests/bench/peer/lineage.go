package peer

import "github.com/leat-io/leat/tests/bench/workload"

// StepLoop returns the XOR of xs after steps steps: one loop in another.
func StepLoop(xs []uint64, steps int) uint64 {
	var xor uint64
	for _, x := range xs {
		for range steps {
			x = workload.LineageStep(x)
		}
		xor ^= x
	}
	return xor
}

// StepCalls returns what StepLoop returns. Each step is a loop of its own over a chunk and calls a
// function for each record: the least that steps cost which know nothing of each other.
//
// Shape: chunks of size records; 1024 if size is not above 0.
func StepCalls(xs []uint64, size int, steps []func(uint64) uint64) uint64 {
	size = chunkOf(size)
	in, out := make([]uint64, size), make([]uint64, size)
	var xor uint64
	for len(xs) > 0 {
		n := copy(in, xs)
		xs = xs[n:]
		for _, step := range steps {
			to := out[:n]
			for i, x := range in[:n] {
				to[i] = step(x)
			}
			in, out = out, in
		}
		for _, x := range in[:n] {
			xor ^= x
		}
	}
	return xor
}
