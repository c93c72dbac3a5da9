package receivers

import (
	"context"
	"fmt"
)

// Store adds one record to the current block. It waits for the rate limit and while the block is full.
//
// Errors: ctx's error; [ErrNotActive] before Start and from the first Stop on. The record was not taken then.
func (g *Generator[T]) Store(ctx context.Context, record T) error {
	if err := g.lock(ctx, 1); err != nil {
		return err
	}
	g.add(record)
	g.mu.Unlock()
	return nil
}

// StoreThen is Store that calls added once the record is in the block, before any other record can be added. So calls
// of added have the order of the records, and come before [BlockListener.Cut] of their block.
func (g *Generator[T]) StoreThen(ctx context.Context, record T, added func()) error {
	if err := g.lock(ctx, 1); err != nil {
		return err
	}
	defer g.mu.Unlock()
	g.add(record)
	added()
	return nil
}

// StoreAllThen adds records so that all of them are in the same block and next to each other, and calls added once, as
// StoreThen does. More records than fit in a block get a block of their own. The slice is copied.
func (g *Generator[T]) StoreAllThen(ctx context.Context, records []T, added func()) error {
	if err := g.lock(ctx, len(records)); err != nil {
		return err
	}
	defer g.mu.Unlock()
	if len(records) > 0 {
		g.add(records...)
	}
	added()
	return nil
}

// lock returns with g.mu held, the generator active and room for n records, or returns an error.
func (g *Generator[T]) lock(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if g.limit.limited() {
		if err := g.limit.wait(ctx, n, g.active); err != nil {
			return err
		}
	}
	g.mu.Lock()
	for g.state == Active && len(g.buffer) > 0 && len(g.buffer)+n > g.opts.MaxBlockRecords {
		room := g.room
		g.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-room:
		}
		g.mu.Lock()
	}
	if g.state != Active {
		g.mu.Unlock()
		return g.notActive()
	}
	return nil
}

// active returns nil if records are taken: nobody is to wait for the rate of a generator that has stopped.
func (g *Generator[T]) active() error {
	if g.State() != Active {
		return g.notActive()
	}
	return nil
}

func (g *Generator[T]) notActive() error {
	return fmt.Errorf("store record of stream %d: %w", g.stream, ErrNotActive)
}

// add appends records to the buffer. The buffer of a busy stream starts at the size of its last block.
func (g *Generator[T]) add(records ...T) {
	if g.buffer == nil {
		g.buffer = make([]T, 0, max(len(records), g.lastCount))
	}
	g.buffer = append(g.buffer, records...)
}
