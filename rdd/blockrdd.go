package rdd

import (
	"context"
	"errors"
	"fmt"
)

// A BlockSource keeps blocks of records by id, such as what a receiver stored.
//
// Block is called by tasks, from any goroutine, once for each reading of a partition; a block that is not there is an error.
// The rows stay the source's and are copied on their way out. Hosts is called by whoever places tasks and must not block; nil is
// fine.
type BlockSource[T any] interface {
	Block(ctx context.Context, id string) ([]T, error)
	Hosts(id string) []string
}

// BlockRDD returns the RDD whose partition i is the block ids[i] of a source. FromBlocks is for blocks at hand.
//
// Shape: one partition a block, which prefers the hosts the source names; no partitioner.
// Cost: a block is read when a task needs it.
// Errors: an error or panic of Block fails the task, as a *UserError naming this call and the partition: a block has no lineage
// that it could be computed from.
func BlockRDD[T any](c *Context, source BlockSource[T], ids []string) *RDD[T] {
	if source == nil {
		return broken[T](c, "blockRDD", errNoSource)
	}
	own := append([]string(nil), ids...)
	r := newNode[T](c, "blockRDD")
	r.count = fixed(len(own))
	r.near = func(part int) []string { return source.Hosts(own[part]) }
	self, clone := &r.base, r.clone
	r.compute = func(t *task, part int, out sink[T]) error {
		rows, err := readBlock(&place{node: self, part: part}, t.ctx, source, own[part])
		if err != nil {
			return err
		}
		return pushRows(t, rows, clone, out)
	}
	return r
}

var errNoSource = errors.New("block source is nil")

func readBlock[T any](at *place, ctx context.Context, source BlockSource[T], id string) (rows []T, err error) {
	defer func() {
		if v := recover(); v != nil {
			rows, err = nil, at.panicked(-1, v)
		}
	}()
	if rows, err = source.Block(ctx, id); err != nil {
		return nil, at.failed(-1, fmt.Errorf("read block %s: %w", id, err))
	}
	return rows, nil
}
