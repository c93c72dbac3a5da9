package peer

// chunkOf returns a chunk size that is above 0: size, or 1024.
func chunkOf(size int) int {
	if size <= 0 {
		return 1024
	}
	return size
}

// ChunkChain returns what FusedChain returns. Each stage is a loop of its own that reads one slice
// and fills the next, which is what a framework can do when stages work on chunks.
//
// Shape: chunks of size records; 1024 if size is not above 0.
// Cost: two buffers of one chunk and one of two, reused.
func ChunkChain(xs []int64, size int) (keySum int64, passed int) {
	size = chunkOf(size)
	mapped := make([]int64, size)
	kept := make([]int64, size)
	keys := make([]int64, 2*size)
	for len(xs) > 0 {
		chunk := xs[:min(size, len(xs))]
		xs = xs[len(chunk):]

		out := mapped[:len(chunk)]
		for i, x := range chunk {
			out[i] = x>>3 ^ x
		}
		n := 0
		for _, y := range out {
			if y&3 != 0 {
				kept[n] = y
				n++
			}
		}
		passed += n
		pairs := keys[:2*n]
		for i, y := range kept[:n] {
			pairs[2*i] = y & 16383
			pairs[2*i+1] = y >> 20 & 16383
		}
		for _, k := range pairs {
			keySum += k
		}
	}
	return keySum, passed
}

// A ChainFuncs holds the functions of the narrow chain as a user would pass them to a framework.
type ChainFuncs struct {
	Map     func(int64) int64
	Keep    func(int64) bool
	FlatMap func(dst []int64, y int64) []int64 // appends to dst
}

// NarrowFuncs returns the functions of the narrow chain.
func NarrowFuncs() ChainFuncs {
	return ChainFuncs{
		Map:  func(x int64) int64 { return x>>3 ^ x },
		Keep: func(y int64) bool { return y&3 != 0 },
		FlatMap: func(dst []int64, y int64) []int64 {
			return append(dst, y&16383, y>>20&16383)
		},
	}
}

// CallChain returns what ChunkChain returns, with a call of a function value for each record and
// stage: chunks between stages, and functions that know nothing of chunks.
//
// Shape: chunks of size records; 1024 if size is not above 0. All of f is set.
func CallChain(xs []int64, size int, f ChainFuncs) (keySum int64, passed int) {
	size = chunkOf(size)
	mapped := make([]int64, size)
	kept := make([]int64, size)
	keys := make([]int64, 0, 2*size)
	for len(xs) > 0 {
		chunk := xs[:min(size, len(xs))]
		xs = xs[len(chunk):]

		out := mapped[:len(chunk)]
		for i, x := range chunk {
			out[i] = f.Map(x)
		}
		n := 0
		for _, y := range out {
			if f.Keep(y) {
				kept[n] = y
				n++
			}
		}
		passed += n
		keys = keys[:0]
		for _, y := range kept[:n] {
			keys = f.FlatMap(keys, y)
		}
		for _, k := range keys {
			keySum += k
		}
	}
	return keySum, passed
}
