package rdd

import (
	"context"

	"github.com/leat-io/leat/rdd/keyed"
)

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
