package workload

// A ChainAnswer is what the narrow chain must find.
type ChainAnswer struct {
	Xor    int64 // all x, combined with XOR: whether the input was read whole
	Passed int   // how many y the filter lets through
	KeySum int64 // the sum of all keys, two for each y that passed, when nothing is reduced
	Sums   ChainSums
}

// ChainSums is what the sums by key of the narrow chain look like.
type ChainSums struct {
	Keys    int   // how many keys there are
	Key0    int64 // the sum of key 0
	Key1    int64 // the sum of key 1
	Largest int64 // the smallest key with the largest sum
	Max     int64 // that sum
}

// SummarizeChain returns what sums look like, sums[k] being the sum of key k and 0 if there is none.
func SummarizeChain(sums []int64) ChainSums {
	var a ChainSums
	for k, sum := range sums {
		if sum == 0 {
			continue
		}
		a.Keys++
		if sum > a.Max {
			a.Largest, a.Max = int64(k), sum
		}
		switch k {
		case 0:
			a.Key0 = sum
		case 1:
			a.Key1 = sum
		}
	}
	return a
}

// ChainWant returns the answer of the narrow chain over the first size integers of DefaultSeed, or
// false if it is not known.
//
// Source: M is part of the definition, but for KeySum; the others were counted by a plain loop.
func ChainWant(size Size) (ChainAnswer, bool) {
	switch size {
	case XS:
		return ChainAnswer{
			Xor: 0x6e0169ad5949a453, Passed: 750, KeySum: 12_426_432,
			Sums: ChainSums{Keys: 1_439, Key0: 0, Key1: 0, Largest: 9_179, Max: 3},
		}, true
	case S:
		return ChainAnswer{
			Xor: 0x71f35bc0f091e3e8, Passed: 74_802, KeySum: 1_220_822_806,
			Sums: ChainSums{Keys: 16_345, Key0: 4, Key1: 9, Largest: 2_810, Max: 26},
		}, true
	case M:
		return ChainAnswer{
			Xor: 0x001fef3f6c99bd16, Passed: 749_569, KeySum: 12_274_206_706,
			Sums: ChainSums{Keys: 16_384, Key0: 40, Key1: 99, Largest: 950, Max: 147},
		}, true
	case L:
		return ChainAnswer{
			Xor: 0x65f1872a9bd71d78, Passed: 7_500_023, KeySum: 122_880_709_739,
			Sums: ChainSums{Keys: 16_384, Key0: 445, Key1: 1_031, Largest: 1_690, Max: 1_179},
		}, true
	}
	return ChainAnswer{}, false
}
