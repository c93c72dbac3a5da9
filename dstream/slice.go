package dstream

import (
	"fmt"

	"github.com/leat-io/leat/rdd"
)

// Slice returns the stream's RDDs from batch from to batch to, both included, absent ones left out. Ends
// between two batches are moved back to the earlier one. RDDs of times that have not been generated
// yet are made now, and kept.
//
// Errors: ErrNotInitialized before the context has started; ErrInBatch inside a function of Transform, which runs while
// RDDs are made; a *GenerationError.
func Slice[T any](s *DStream[T], from, to Time) ([]*rdd.RDD[T], error) {
	if s.node.err != nil {
		return nil, s.node.err
	}
	if inUserCode() {
		return nil, fmt.Errorf("slice of %s: %w", s.op, ErrInBatch)
	}
	g := s.graph
	g.generating.Lock()
	defer g.generating.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.started {
		return nil, ErrNotInitialized
	}
	from, to = from.Floor(ms(s.slide), g.zero), to.Floor(ms(s.slide), g.zero)
	return s.between(max(from, g.zero), to)
}
