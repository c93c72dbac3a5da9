package receivers

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// attemptSink is the sink of one call of Receive. It closes when the call returns: a goroutine that a receiver leaves
// behind would otherwise store records beside those of the next call, and double them.
type attemptSink[T any] struct {
	sup    *Supervisor[T]
	closed atomic.Bool

	mu   sync.Mutex // guards made, and closed while made changes
	made []*Generator[T]
}

// close refuses what comes from now on and returns the generators that were made through the sink.
func (s *attemptSink[T]) close() []*Generator[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed.Store(true)
	return s.made
}

// Store adds record to the block being gathered.
func (s *attemptSink[T]) Store(ctx context.Context, record T) error {
	if s.closed.Load() {
		return ErrSinkClosed
	}
	return s.sup.gen.Store(ctx, record)
}

// StoreBlock stores records as one block.
func (s *attemptSink[T]) StoreBlock(ctx context.Context, records []T) error {
	if s.closed.Load() {
		return ErrSinkClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(records) == 0 {
		return nil
	}
	block := Block[T]{Stream: s.sup.stream, ID: s.sup.ids.next(s.sup.clock.Now()), Records: records}
	if err := s.sup.blocks.Put(ctx, block); err != nil {
		return fmt.Errorf("store block %d of stream %d: %w", block.ID, block.Stream, err)
	}
	if dropping(s.sup.blocks) {
		return fmt.Errorf("store block %d of stream %d: %w", block.ID, block.Stream, ErrDropped)
	}
	return nil
}

// ReportError passes err to the listener.
func (s *attemptSink[T]) ReportError(err error) {
	if err == nil {
		return
	}
	s.sup.opts.Listener.error(s.sup.stream, err)
	s.sup.opts.Logger.Warn("receiver reported an error", "stream", s.sup.stream, "err", err)
}
