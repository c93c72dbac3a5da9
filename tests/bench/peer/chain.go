package peer

// FusedChain returns the sum of all keys of the narrow chain and how many records passed its
// filter: map, filter and flatMap in the body of one loop.
func FusedChain(xs []int64) (keySum int64, passed int) {
	for _, x := range xs {
		y := x>>3 ^ x
		if y&3 == 0 {
			continue
		}
		passed++
		keySum += y & 16383
		keySum += y >> 20 & 16383
	}
	return keySum, passed
}

// FusedDense returns the sums by key of the narrow chain, in a slice that has a place for every
// key. Only a program that knows the range of the keys can do this.
func FusedDense(xs []int64) []int64 {
	sums := make([]int64, 16384)
	for _, x := range xs {
		y := x>>3 ^ x
		if y&3 == 0 {
			continue
		}
		sums[y&16383]++
		sums[y>>20&16383]++
	}
	return sums
}

// FusedMaps returns the sums by key of the narrow chain, key k in map k modulo reducers.
//
// Shape: fewer than 1 reducers are taken as 1.
func FusedMaps(xs []int64, reducers int) []map[int64]int64 {
	n := int64(max(reducers, 1))
	sums := make([]map[int64]int64, n)
	for r := range sums {
		sums[r] = make(map[int64]int64)
	}
	for _, x := range xs {
		y := x>>3 ^ x
		if y&3 == 0 {
			continue
		}
		a, b := y&16383, y>>20&16383
		sums[a%n][a]++
		sums[b%n][b]++
	}
	return sums
}

// FusedIncrements returns the sum, modulo 2^64, of all x after stages additions of 1: the narrow
// chain with nothing in it but map stages, to find the cost of one.
func FusedIncrements(xs []int64, stages int) int64 {
	var sum int64
	for _, x := range xs {
		for range stages {
			x++
		}
		sum += x
	}
	return sum
}
