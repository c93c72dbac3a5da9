package rdd

import (
	"context"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/keyed"
)

// folder runs a combiner inside a task.
type folder[T any, K comparable, C any] struct {
	node   *base
	hasher *keyed.Hasher[K]
	combiner[T, K, C]
	records *lazyCodec[T]
	pairs   *lazyCodec[Pair[K, C]]
	size    *TableSize
}

const (
	// combineSample is after how many records of a map partition it is decided whether combining goes on, and
	// combineKeys how many different keys end it. More records would be held in vain where keys do not repeat,
	// fewer would say little of them.
	combineSample = 1 << 16
	combineKeys   = combineSample / 4 * 3
)

// folding starts to fold records of a partition.
func (f *folder[T, K, C]) folding(t *task, at *place) *folding[T, K, C] {
	return newFolding(&foldingOf[T, K, C]{t: t, at: at, hasher: f.hasher, key: f.key, add: f.add, rows: f.records, pairs: f.pairs, size: f.size}, 0)
}

// checked returns the chunk, or an error if there is a key in it that cannot be one.
func (f *folder[T, K, C]) checked(at *place, chunk []T) error {
	if f.hasher.Dynamic() {
		for i := range chunk {
			if err := f.hasher.Check(f.key(&chunk[i])); err != nil {
				return at.failed(i, err)
			}
		}
	}
	return nil
}

// rows folds the records of a partition into a table, in memory.
func (f *folder[T, K, C]) rows(part int, push func(sink[T]) error) (*keyed.Table[K, C], error) {
	at := place{node: f.node, part: part}
	table := keyed.New[K, C](f.hasher, 0)
	err := push(func(chunk []T) error {
		if err := f.checked(&at, chunk); err != nil {
			return err
		}
		err := addChunk(&at, table, chunk, f.add)
		at.seen += int64(len(chunk))
		return err
	})
	return table, err
}

func addChunk[T any, K comparable, C any](at *place, table *keyed.Table[K, C], chunk []T, add func(*keyed.Table[K, C], []T)) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(table.Row(), v)
		}
	}()
	add(table, chunk)
	return nil
}

// push folds the records of a partition and pushes a pair for each key; whole may be nil, see asking.
func (f *folder[T, K, C]) push(t *task, part int, push func(sink[T]) error, whole func(lineage.Block) error, out sink[Pair[K, C]]) error {
	at := &place{node: f.node, part: part}
	fold := f.folding(t, at)
	defer fold.close()
	err := push(func(chunk []T) error {
		if err := f.checked(at, chunk); err != nil {
			return err
		}
		return fold.take(chunk, nil)
	})
	if err != nil {
		return err
	}
	return pushFolded(fold, whole, out)
}

// write folds the records of a map partition and puts a pair for each key in the bucket it goes to.
func (f *folder[T, K, C]) write(t *task, part int, push func(sink[T]) error, p Partitioner[K], out lineage.Buckets) error {
	at := &place{node: f.node, part: part}
	fold := f.folding(t, at)
	defer fold.close()
	fold.counting = f.create != nil
	buckets := newPairBuckets[K, C](t, at, f.hasher, p, out)
	defer buckets.budget.release()
	finish := func() error {
		return fold.finish(buckets.addTable, func(pairs []Pair[K, C], _ []int64) error { return buckets.add(pairs) })
	}
	single := false // each record is sent by itself
	var made []Pair[K, C]
	err := push(func(chunk []T) error {
		if err := f.checked(at, chunk); err != nil {
			return err
		}
		if left := combineSample - at.seen; fold.counting && int64(len(chunk)) >= left {
			if err := fold.take(chunk[:left], nil); err != nil {
				return err
			}
			chunk = chunk[left:]
			if fold.keys() > combineKeys {
				single = true
				if err := finish(); err != nil {
					return err
				}
			}
		}
		if !single {
			return fold.take(chunk, nil)
		}
		made = room(made, len(chunk))
		if err := f.createAll(at, chunk, made); err != nil {
			return err
		}
		at.seen += int64(len(chunk))
		return buckets.add(made)
	})
	if err != nil {
		return err
	}
	if !single {
		if err := finish(); err != nil {
			return err
		}
	}
	return buckets.flush()
}

// createAll makes a combiner of each record.
func (f *folder[T, K, C]) createAll(at *place, chunk []T, made []Pair[K, C]) (err error) {
	i := 0
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(i, v)
		}
	}()
	for i = range chunk {
		made[i] = Pair[K, C]{Key: f.key(&chunk[i]), Value: f.create(&chunk[i])}
	}
	return nil
}

// merged merges what the map tasks wrote for one partition and pushes a pair for each key; whole may be nil, see asking.
func (f *folder[T, K, C]) merged(t *task, s *lineage.Shuffle, part int, whole func(lineage.Block) error, out sink[Pair[K, C]]) error {
	at := &place{node: f.node, part: part}
	// What comes out of a block is copied, also where it is merge's second argument: merge may return
	// that one, and change it the next time, while the block is read again by others.
	merge, clone := f.merge, codec.CloneFunc[C]()
	if clone != nil {
		merge = func(a, b C) C { return f.merge(a, clone(b)) }
	}
	fold := newFolding(&foldingOf[Pair[K, C], K, C]{
		t: t, at: at, hasher: f.hasher, key: keyOf[K, C], rows: f.pairs, pairs: f.pairs,
		add: func(table *keyed.Table[K, C], rows []Pair[K, C]) { keyed.Reduce(table, rows, merge, clone) },
	}, 0)
	defer fold.close()
	var pairs []Pair[K, C]
	add := func(block *keyed.Block[K, C]) error {
		for from := 0; from < block.Rows(); from += mergeStep {
			to := min(from+mergeStep, block.Rows())
			if fold.over != nil {
				pairs = block.Pairs(pairs[:0], from, to)
				if err := fold.divide(pairs, nil); err != nil {
					return err
				}
				continue
			}
			if err := mergeBlock(at, fold.table, block.Slice(from, to), merge, clone); err != nil {
				return err
			}
			at.seen += int64(to - from)
			if err := fold.check(to - from); err != nil {
				return err
			}
		}
		return nil
	}
	// A single block with each key once is what is wanted as it is: it needs no table.
	var first *keyed.Block[K, C]
	blocks := 0
	err := t.env.Fetch(t.ctx, s, part, func(_ int, b lineage.Block) error {
		block := b.(*keyed.Block[K, C])
		t.env.Metrics().FetchedRows += int64(block.Rows())
		if blocks++; blocks == 1 && block.Distinct {
			first = block
			return nil
		}
		if first != nil {
			if err := add(first); err != nil {
				return err
			}
			first = nil
		}
		return add(block)
	})
	if err != nil {
		return err
	}
	switch {
	case first != nil && first.Packed != nil && whole != nil:
		return whole(first)
	case first != nil:
		return pushBlock(t, at, first, clone, out)
	}
	return pushFolded(fold, whole, out)
}

// mergeStep is how many entries of a block are merged before memory is asked for.
const mergeStep = 2048

func mergeBlock[K comparable, C any](at *place, table *keyed.Table[K, C], block *keyed.Block[K, C], merge func(C, C) C, clone func(C) C) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = at.panicked(table.Row(), v)
		}
	}()
	keyed.Merge(table, block, merge, clone)
	return nil
}

// pushFolded pushes what was folded, in the order of the keys' first rows, or hands it to whole, which may be nil, where it is one
// table.
func pushFolded[I any, K comparable, C any](fold *folding[I, K, C], whole func(lineage.Block) error, out sink[Pair[K, C]]) error {
	if whole != nil && fold.over == nil {
		defer fold.close()
		if fold.level == 0 {
			fold.size.note(fold.table.Len())
		}
		pairs := fold.table.Packed()
		pairs.Trim()
		return whole(&keyed.Block[K, C]{Packed: pairs, Distinct: true})
	}
	return fold.finish(func(table *keyed.Table[K, C]) error { return pushTable(fold.t, table, out) },
		func(pairs []Pair[K, C], _ []int64) error { return out(pairs) })
}

// pushTable pushes a table's pairs in the order of their first insertion.
func pushTable[K comparable, C any](t *task, table *keyed.Table[K, C], out sink[Pair[K, C]]) error {
	var buf []Pair[K, C]
	for from := 0; from < table.Len(); from += chunkSize {
		if err := context.Cause(t.ctx); err != nil {
			return err
		}
		buf = table.Pairs(buf[:0], from, min(from+chunkSize, table.Len()))
		if err := out(buf); err != nil {
			return err
		}
	}
	return nil
}
