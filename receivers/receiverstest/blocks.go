package receiverstest

import (
	"context"
	"slices"
	"sync"

	"github.com/leat-io/leat/receivers"
)

// Blocks keeps the blocks it is given in memory. The zero value is ready.
type Blocks[T any] struct {
	// Before is called before a block is kept; an error is returned to the caller and the block is not kept. It may
	// wait. Nil does nothing. Set it before the first Put.
	Before func(ctx context.Context, block receivers.Block[T]) error

	mu     sync.Mutex // guards blocks
	blocks []receivers.Block[T]
}

// Put keeps block.
func (b *Blocks[T]) Put(ctx context.Context, block receivers.Block[T]) error {
	if b.Before != nil {
		if err := b.Before(ctx, block); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.blocks = append(b.blocks, block)
	return nil
}

// All returns the blocks kept so far, in the order they came.
func (b *Blocks[T]) All() []receivers.Block[T] {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.blocks)
}

// Records returns the records of the blocks kept so far, in order.
func (b *Blocks[T]) Records() []T {
	var records []T
	for _, block := range b.All() {
		records = append(records, block.Records...)
	}
	return records
}
