package rdd

import (
	"fmt"

	"github.com/leat-io/leat/lineage"
)

// Sliding returns every run of size consecutive records of the whole RDD, in order, also those that lie across partitions.
//
//	partitions   [a b] [c] [d e]
//	of size 3    [abc bcd] [cde] []
//
// Shape: a run is in the partition of its first record; no runs where there are fewer than size records. Each run is a slice
// of its receiver's own. Same partitions; no partitioner.
// Cost: narrow, no job: a partition reads on into the next one for size-1 records, so that the head of each is computed twice
// unless r is persisted. size records are copied for each run.
// Errors: a size below 1 is ErrArgument.
func Sliding[T any](r *RDD[T], size int) *RDD[[]T] {
	if size < 1 {
		return broken[[]T](r.ctx, "sliding", fmt.Errorf("%w: runs of %d records", ErrArgument, size)).preferring(r.err)
	}
	child := newNode[[]T](r.ctx, "sliding")
	child.inherit(r.err)
	child.count = r.NumPartitions
	parent, self := r.node, &child.base
	child.setDeps([]lineage.Dep{{Parent: r.Node(), Narrow: func(part int) []int {
		n, err := parent.NumPartitions()
		if err != nil {
			return nil
		}
		// Reading goes on for size-1 records: in so many partitions at most, further ones where these are empty.
		reads := []int{part}
		for next := part + 1; next < n && next-part < size; next++ {
			reads = append(reads, next)
		}
		return reads
	}}})
	child.compute = func(t *task, part int, out sink[[]T]) error {
		n, err := self.NumPartitions()
		if err != nil {
			return err
		}
		w := runs[T]{size: size, clone: parent.clone, out: out}
		if err := parent.push(t, part, w.add); err != nil {
			return err
		}
		// What is left starts runs that need records of the partitions behind.
		starts := len(w.tail)
		for next := part + 1; next < n && starts > 0 && len(w.tail) < starts+size-1; next++ {
			err := parent.some(t, next, func(chunk []T) error {
				want := starts + size - 1 - len(w.tail)
				w.tail = append(w.tail, chunk[:min(want, len(chunk))]...)
				if len(chunk) >= want {
					return errStop
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return w.emit(w.tail)
	}
	return child
}

// runs cuts records into overlapping runs.
type runs[T any] struct {
	size  int
	clone func(T) T
	out   sink[[]T]
	tail  []T // the last size-1 records, whose runs are not full yet
}

// add pushes the runs that the chunk completes.
func (w *runs[T]) add(chunk []T) error {
	w.tail = append(w.tail, chunk...)
	if err := w.emit(w.tail); err != nil {
		return err
	}
	keep := min(len(w.tail), w.size-1)
	n := copy(w.tail, w.tail[len(w.tail)-keep:])
	clear(w.tail[n:]) // lets go of what records refer to
	w.tail = w.tail[:n]
	return nil
}

// maxRunRoom bounds how many records the runs of one chunk take together.
const maxRunRoom = 64 * chunkSize

// emit pushes the full runs of rows.
func (w *runs[T]) emit(rows []T) error {
	most := max(1, min(chunkSize, maxRunRoom/w.size))
	for len(rows) >= w.size {
		n := min(most, len(rows)-w.size+1)
		room := make([]T, 0, n*w.size)
		chunk := make([][]T, n)
		for i := range n {
			from := len(room)
			for _, x := range rows[i : i+w.size] {
				if w.clone != nil {
					x = w.clone(x) // every run is its receiver's to change
				}
				room = append(room, x)
			}
			chunk[i] = room[from:len(room):len(room)]
		}
		if err := w.out(chunk); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}
