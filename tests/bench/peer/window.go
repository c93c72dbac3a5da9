package peer

import "github.com/leat-io/leat/tests/bench/workload"

// SumMap returns the sum of the values of each key in batches: a window recomputed from all its
// records.
func SumMap(batches [][]workload.Pair) map[int64]int64 {
	sums := make(map[int64]int64)
	for _, batch := range batches {
		for _, p := range batch {
			sums[p.Key] += p.Value
		}
	}
	return sums
}

// MaxMap returns the largest value of each key in batches.
func MaxMap(batches [][]workload.Pair) map[int64]int64 {
	largest := make(map[int64]int64)
	for _, batch := range batches {
		for _, p := range batch {
			if old, ok := largest[p.Key]; !ok || p.Value > old {
				largest[p.Key] = p.Value
			}
		}
	}
	return largest
}

// A Cell is what a dense table holds for a key. A key with no records is not in the window.
type Cell struct {
	Value   int64 // the sum or the largest value
	Records int64 // how many records it was made from
}

// SumDense returns what SumMap returns, as a table with a cell for each of keys keys.
//
// Shape: every key in 0 to keys-1.
func SumDense(batches [][]workload.Pair, keys int) []Cell {
	s := NewSums(keys)
	for _, batch := range batches {
		s.Add(batch)
	}
	return s.Cells()
}

// MaxDense returns what MaxMap returns, as a table with a cell for each of keys keys.
//
// Shape: every key in 0 to keys-1.
func MaxDense(batches [][]workload.Pair, keys int) []Cell {
	cells := make([]Cell, keys)
	for _, batch := range batches {
		for _, p := range batch {
			c := &cells[p.Key]
			if c.Records == 0 || p.Value > c.Value {
				c.Value = p.Value
			}
			c.Records++
		}
	}
	return cells
}

// Sums is a window of sums that slides: batches that enter are added and batches that leave are
// taken out again, so a slide costs two batches however long the window is.
type Sums struct{ cells []Cell }

// NewSums returns an empty window over keys 0 to keys-1.
func NewSums(keys int) *Sums { return &Sums{cells: make([]Cell, max(keys, 0))} }

// Add adds batch to the window.
//
// Shape: every key in the range of the window.
func (s *Sums) Add(batch []workload.Pair) {
	for _, p := range batch {
		c := &s.cells[p.Key]
		c.Value += p.Value
		c.Records++
	}
}

// Remove takes batch, which was added before, out of the window.
func (s *Sums) Remove(batch []workload.Pair) {
	for _, p := range batch {
		c := &s.cells[p.Key]
		c.Value -= p.Value
		c.Records--
	}
}

// Cells returns the table of the window as it is now. It belongs to the window: it changes with it.
func (s *Sums) Cells() []Cell { return s.cells }
