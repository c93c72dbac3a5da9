package rdd

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/leat-io/leat/lineage"
)

// SortOption is an option of the sorts.
type SortOption func(*sortOptions)

type sortOptions struct {
	desc    bool
	n       int
	hasN    bool
	natural bool // keys are compared by Compare
}

// Descending sorts from the largest key down.
func Descending() SortOption { return func(o *sortOptions) { o.desc = true } }

// SortPartitions asks for n partitions of the result; there may be fewer where keys repeat.
func SortPartitions(n int) SortOption { return func(o *sortOptions) { o.n, o.hasN = n, true } }

// SortBy returns the records in the order of their keys.
//
// Shape: partition i's keys all come before those of partition i+1; at most as many partitions as
// asked for, by default the parent's count; no partitioner.
// Order: ascending, NaN last, or the opposite with Descending; records with equal keys stay in the
// order of the map partitions and their rows.
// Cost: one job, at once, that samples keys (none for a single partition), a shuffle of every record,
// a sort of each partition; one for which there is no memory is sorted in runs that are merged from scratch
// files.
// Errors: what the sampling job returns.
func SortBy[T any, K cmp.Ordered](ctx context.Context, r *RDD[T], key func(T) K, opts ...SortOption) (*RDD[T], error) {
	return SortByFunc(ctx, r, key, Compare[K], append(slices.Clip(opts), naturally)...)
}

// SortByFunc is SortBy with an order of its own: compare returns a negative number where a comes
// before b, a positive one where it comes after, 0 for equal keys.
func SortByFunc[T, K any](ctx context.Context, r *RDD[T], key func(T) K, compare func(a, b K) int, opts ...SortOption) (*RDD[T], error) {
	sorted, _, err := sortBy(ctx, "sortBy", r, key, compare, opts)
	return sorted, err
}

// SortByKey is SortBy over the keys of pairs; the result has the range partitioner it was sorted
// with.
func SortByKey[K cmp.Ordered, V any](ctx context.Context, r *RDD[Pair[K, V]], opts ...SortOption) (*RDD[Pair[K, V]], error) {
	sorted, err := SortByKeyFunc(ctx, r, Compare[K], append(slices.Clip(opts), naturally)...)
	if err == nil {
		sorted.partitioner.(*RangePartitioner[K]).natural = true // so that a checkpoint can save it
	}
	return sorted, err
}

// SortByKeyFunc is SortByKey with an order of its own, as SortByFunc.
func SortByKeyFunc[K, V any](ctx context.Context, r *RDD[Pair[K, V]], compare func(a, b K) int, opts ...SortOption) (*RDD[Pair[K, V]], error) {
	sorted, p, err := sortBy(ctx, "sortByKey", r, func(x Pair[K, V]) K { return x.Key }, compare, opts)
	if err != nil {
		return nil, err
	}
	return sorted.keep(p), nil
}

func sortBy[T, K any](ctx context.Context, op string, r *RDD[T], key func(T) K, compare func(a, b K) int, opts []SortOption) (*RDD[T], *RangePartitioner[K], error) {
	var o sortOptions
	for _, opt := range opts {
		opt(&o)
	}
	fail := func(err error) (*RDD[T], *RangePartitioner[K], error) {
		return nil, nil, broken[T](r.ctx, op, err).preferring(r.err).err
	}
	if key == nil || compare == nil {
		return fail(ErrNilFunction)
	}
	if o.n < 0 || o.n > MaxPartitions {
		return fail(fmt.Errorf("%w: %d partitions", ErrArgument, o.n))
	}
	n := o.n
	if !o.hasN {
		var err error
		if n, err = r.NumPartitions(); err != nil {
			return fail(err)
		}
	}
	p, err := rangeOver(ctx, r, key, n, compare, o.desc)
	if err != nil {
		return nil, nil, err
	}
	child := newNode[T](r.ctx, op)
	child.count = fixed(p.NumPartitions())
	dep := rowShuffle(&child.base, 0, r.node, p.NumPartitions(), func(x *T) (int, error) {
		return p.PartitionFor(key(*x)), nil
	})
	child.setDeps([]lineage.Dep{dep})
	child.compute = func(t *task, part int, out sink[T]) error {
		runs := newSortRuns(t, &place{node: &child.base, part: part}, &child.node.rows.columns, key, compare, o.desc)
		runs.natural = o.natural
		defer runs.close()
		if err := fetchRows(t, dep.Shuffle, part, r.clone, runs.take); err != nil {
			return err
		}
		return runs.push(out)
	}
	return child, p, nil
}

// sortKey is the key of a row and where the row is. Sorting keys moves less than sorting rows, and
// the positions make the order of equal keys that of the rows.
type sortKey[K any] struct {
	key K
	row int
}

// sortedKeys returns the keys of the rows in the order they sort by.
func sortedKeys[T, K any](at *place, rows []T, key func(T) K, compare func(a, b K) int, desc bool) (keys []sortKey[K], err error) {
	i := 0
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(i, v)
		}
	}()
	keys = make([]sortKey[K], len(rows))
	for i = range rows {
		keys[i] = sortKey[K]{key: key(rows[i]), row: i}
	}
	i = -1 // which of two rows compare fails at cannot be said
	slices.SortFunc(keys, func(a, b sortKey[K]) int {
		x, y := a.key, b.key
		if desc {
			x, y = y, x
		}
		if order := compare(x, y); order != 0 {
			return order
		}
		return a.row - b.row
	})
	return keys, nil
}

// pushSorted pushes rows in the order of their sorted keys.
func pushSorted[T, K any](t *task, rows []T, keys []sortKey[K], out sink[T]) error {
	buf := make([]T, 0, min(len(rows), chunkSize))
	for from := 0; from < len(keys); from += chunkSize {
		if err := context.Cause(t.ctx); err != nil {
			return err
		}
		buf = buf[:0]
		for _, k := range keys[from:min(from+chunkSize, len(keys))] {
			buf = append(buf, rows[k.row])
		}
		if err := out(buf); err != nil {
			return err
		}
	}
	return nil
}
