package rdd

import (
	"context"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/keyed"
)

// pushBlocks pushes what the map tasks wrote for one partition, merged. A block has each key once, so a
// single one is what is wanted as it is, and a table is only made when a second one comes.
func (f *folder[T, K, C]) pushBlocks(t *task, s *lineage.Shuffle, part int, out sink[Pair[K, C]]) error {
	at := place{node: f.node, part: part}
	// What comes out of a block is copied, also where it is merge's second argument: merge may return
	// that one, and change it the next time, while the block is read again by others.
	merge, clone := f.merge, codec.CloneFunc[C]()
	if clone != nil {
		merge = func(a, b C) C { return f.merge(a, clone(b)) }
	}
	var first *keyed.Block[K, C]
	var table *keyed.Table[K, C]
	add := func(block *keyed.Block[K, C]) error {
		err := mergeBlock(&at, table, block, merge, clone)
		at.seen += int64(block.Rows())
		return err
	}
	err := t.env.Fetch(t.ctx, s, part, func(_ int, b lineage.Block) error {
		block := b.(*keyed.Block[K, C])
		if table == nil {
			if first == nil {
				first = block
				return nil
			}
			table = keyed.New[K, C](f.hasher, max(first.Rows(), block.Rows()))
			if err := add(first); err != nil {
				return err
			}
		}
		return add(block)
	})
	switch {
	case err != nil:
		return err
	case table != nil:
		return pushTable(t, table, out)
	}
	return pushBlock(t, &at, first, clone, out)
}

// pushBlock pushes a block's pairs in order, with values of their own.
func pushBlock[K comparable, C any](t *task, at *place, block *keyed.Block[K, C], clone func(C) C, out sink[Pair[K, C]]) error {
	var buf []Pair[K, C]
	for from := 0; from < block.Rows(); from += chunkSize {
		if err := context.Cause(t.ctx); err != nil {
			return err
		}
		buf = block.Pairs(buf[:0], from, min(from+chunkSize, block.Rows()))
		if clone != nil {
			for i := range buf {
				buf[i].Value = clone(buf[i].Value)
			}
		}
		at.seen += int64(len(buf))
		if err := out(buf); err != nil {
			return err
		}
	}
	return nil
}
