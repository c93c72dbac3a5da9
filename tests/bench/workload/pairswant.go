package workload

// A PairsAnswer is what a sum by key over all pairs must find.
type PairsAnswer struct {
	Sum      int64 // all values
	Distinct int   // different keys
	Key0     int64 // the sum of key 0; 0 if it does not occur
}

// PairsWant returns the answer for the first M pairs of DefaultSeed, or false if it is not known:
// it is for 100, 10,000 (or 0, which means the same) and 1,000,000 keys, without Steep and Hot.
//
// Source: the definition, but for Distinct of the smaller numbers of keys, which were counted by a
// plain loop.
func PairsWant(o PairsOptions) (PairsAnswer, bool) {
	if o.Hot || o.Zipf && o.Steep {
		return PairsAnswer{}, false
	}
	a := PairsAnswer{Sum: 499_637_432}
	switch o.keys() {
	case 100:
		a.Distinct, a.Key0 = 100, 4_962_690
		if o.Zipf {
			a.Key0 = 96_052_632
		}
	case 10_000:
		a.Distinct, a.Key0 = 10_000, 50_291
		if o.Zipf {
			a.Distinct, a.Key0 = 10_000, 51_050_037
		}
	case 1_000_000:
		a.Distinct, a.Key0 = 632_360, 0
		if o.Zipf {
			a.Distinct, a.Key0 = 217_270, 34_704_656
		}
	default:
		return PairsAnswer{}, false
	}
	return a, true
}

// A PairsWindowAnswer is what a windowed sum and a windowed maximum must find in one window.
type PairsWindowAnswer struct {
	First, Last int   // the batches it covers, both included
	Keys        int   // different keys
	Sum         int64 // all values
	Max         int64 // the sum of the largest value of each key
	Key0Sum     int64 // the sum of key 0
	Key0Max     int64 // the largest value of key 0
}

// PairsWindowWant returns the answer for 10,000 evenly spread keys in the window of 5 batches that
// ends with batch 9 of size M.
func PairsWindowWant() PairsWindowAnswer {
	return PairsWindowAnswer{
		First: 5, Last: 9, Keys: 10_000,
		Sum: 249_681_886, Max: 9_794_738,
		Key0Sum: 28_762, Key0Max: 995,
	}
}

// Window returns the batches, both included, that the window of length batches emitted at batch
// covers, and whether one is emitted there when it slides by slide batches.
//
// Shape: length and slide above 0.
func Window(batch, length, slide int) (first, last int, emitted bool) {
	return max(0, batch-length+1), batch, slide > 0 && (batch+1)%slide == 0
}
