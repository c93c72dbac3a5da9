package rdd

import "sync/atomic"

// A TableSize is how many keys an operation by key had in a partition when it ran last. Operations that are run again and again on
// much the same keys, as those of a stream's batches, share one, so that each makes its tables with room for them instead of
// letting them grow. It says nothing of what the answer is. The zero value knows nothing yet.
type TableSize struct{ keys atomic.Int64 }

// SizedBy lets an operation read from s how large its tables will become, and write it there.
func SizedBy(s *TableSize) KeyOption { return func(o *keyOptions) { o.size = s } }

// sizedFrom is how many keys a table gets by growing before room is made for as many as the last one had: partitions that turn
// out small cost no room.
const sizedFrom = 1 << 10

// note keeps how many keys there were.
func (s *TableSize) note(keys int) {
	if s != nil {
		s.keys.Store(int64(keys))
	}
}

// more is how many keys a table that has some is likely to get, 0 where there is no telling yet.
func (s *TableSize) more(have int) int {
	if s == nil || have < sizedFrom {
		return 0
	}
	return int(max(s.keys.Load()-int64(have), 0))
}

// makeRoom gives the table of f, once, the room that it will probably need, if there is memory for it.
func (f *folding[I, K, C]) makeRoom() {
	more := f.size.more(f.table.Len())
	if f.sized || more == 0 {
		return
	}
	f.sized = true
	if f.budget.fits(f.table.Memory(more)) {
		f.table.Grow(more)
	}
}
