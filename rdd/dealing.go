package rdd

import (
	"github.com/leat-io/leat/rdd/keyed"
)

// placing says which bucket each row of a chunk goes to. to has the length of the chunk.
type placing[T any] func(at *place, chunk []T, to []uint32) error

// dealing is the rows of a map task on their way into buckets. They are kept as they come, with the number of
// their bucket; the buckets are made when it is known how large they are.
type dealing[T any] struct {
	rows  rowBuffer[T]
	to    rowBuffer[uint32]
	sizes []int
	buf   []uint32
}

func newDealing[T any](buckets int) *dealing[T] { return &dealing[T]{sizes: make([]int, buckets)} }

// add takes in a chunk.
func (d *dealing[T]) add(at *place, chunk []T, place placing[T]) error {
	d.buf = room(d.buf, len(chunk))
	if err := place(at, chunk, d.buf); err != nil {
		return err
	}
	for _, b := range d.buf {
		d.sizes[b]++
	}
	d.rows.add(chunk)
	d.to.add(d.buf)
	at.seen += int64(len(chunk))
	return nil
}

// take returns the rows of each bucket, nil where it has none, in the order they came, and empties the dealing.
func (d *dealing[T]) take() [][]T {
	buckets := make([][]T, len(d.sizes))
	for b, n := range d.sizes {
		if n > 0 {
			buckets[b] = make([]T, 0, n)
		}
	}
	// Both buffers were filled by the same calls, but their pieces need not end together.
	to := d.to.take()
	d.rows.each(func(rows []T) {
		for i, b := range to[:len(rows)] {
			bucket := buckets[b]
			n := len(bucket)
			bucket = bucket[:n+1]
			bucket[n] = rows[i]
			buckets[b] = bucket
		}
		to = to[len(rows):]
	})
	d.rows = rowBuffer[T]{}
	clear(d.sizes)
	return buckets
}

// placeEach is the placing that asks a function of one row. Partitioners and the keys of sorts are functions
// of the program: their panics are caught here.
func placeEach[T any](bucketOf func(*T) (int, error)) placing[T] {
	return func(at *place, chunk []T, to []uint32) (err error) {
		i := 0
		defer func() {
			if v := recover(); v != nil {
				err = at.panicked(i, v)
			}
		}()
		for j := range chunk {
			i = j
			b, err := bucketOf(&chunk[j])
			if err != nil {
				return at.failed(j, err)
			}
			to[j] = uint32(b)
		}
		return nil
	}
}

// placeHashed is the placing of pairs by the hash of their keys, nil where keys have to be looked at one by one.
func placeHashed[K comparable, V any](h *keyed.Hasher[K], p Partitioner[K]) placing[Pair[K, V]] {
	if hash, ok := p.(*HashPartitioner[K]); !ok || hash.n == 0 || h.Dynamic() {
		return nil
	}
	n := p.NumPartitions()
	return func(_ *place, chunk []Pair[K, V], to []uint32) error {
		keyed.PlacePairs(h, chunk, n, to)
		return nil
	}
}
