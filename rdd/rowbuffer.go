package rdd

// The pieces of a rowBuffer, in rows.
const (
	firstPiece = chunkSize
	lastPiece  = 1 << 16
)

// rowBuffer collects rows of which nobody knows how many there will be. They lie in pieces that double in
// size, so that none is moved before the end, when one slice of the right size is made: a slice that
// grows by itself moves each row four times on its way and leaves as much behind.
type rowBuffer[T any] struct {
	full [][]T
	last []T
	n    int
}

// add appends copies of the rows.
func (b *rowBuffer[T]) add(rows []T) {
	b.n += len(rows)
	for {
		k := min(len(rows), cap(b.last)-len(b.last))
		b.last = append(b.last, rows[:k]...)
		if rows = rows[k:]; len(rows) == 0 {
			return
		}
		size := firstPiece
		if b.last != nil {
			b.full = append(b.full, b.last)
			size = max(min(2*cap(b.last), lastPiece), firstPiece)
		}
		b.last = make([]T, 0, size)
	}
}

// each calls f with the pieces in order.
func (b *rowBuffer[T]) each(f func(rows []T)) {
	for _, piece := range b.full {
		f(piece)
	}
	if len(b.last) > 0 {
		f(b.last)
	}
}

// take returns all rows in one slice, nil if there are none, and empties the buffer.
func (b *rowBuffer[T]) take() []T {
	if b.n == 0 {
		return nil
	}
	var all []T
	if len(b.full) == 0 && len(b.last) == cap(b.last) {
		all = b.last
	} else {
		all = make([]T, 0, b.n)
		b.each(func(rows []T) { all = append(all, rows...) })
	}
	*b = rowBuffer[T]{}
	return all
}

// doubled returns rows with room for n more. What grows by itself grows by a quarter, once it is long, and
// moves each row four times on its way; this moves it once.
func doubled[T any](rows []T, n int) []T {
	if cap(rows)-len(rows) >= n {
		return rows
	}
	return append(make([]T, 0, max(2*cap(rows), len(rows)+n)), rows...)
}
