package dstream

import (
	"time"

	"github.com/leat-io/leat/rdd"
)

// Window returns, every slide, the records of the last window: those of the parent's batches in
// (t-window, t].
//
//	batch      1     2     3     4     5
//	parent     a     b     c     d     e
//	window 3   a     ab    abc   bcd   cde     (slide 1)
//
// Shape: the partitions of the batches one behind the other, oldest first; where all batches share a
// partitioner, its partitions, so that an operation by key needs no shuffle. Never absent: an RDD
// without records where there is nothing.
// Time: window and slide are multiples of s's slide, slide is s's where it is 0; valid at zero + k·slide.
// Cost: nothing of its own; the parent's batches are persisted while a window still needs them.
// Errors: Start reports a *DurationError naming this call's file and line.
// Source: Zaharia et al., "Discretized Streams", SOSP 2013, section "D-Stream API".
func Window[T any](s *DStream[T], window, slide time.Duration) *DStream[T] {
	w, err := spanOf(s.node, window, slide)
	child := newStream[T](s.graph, "window", err, s.node)
	child.windowOver(w, s.node)
	child.levelOf = s.node
	child.compute = func(t Time) (*rdd.RDD[T], error) {
		batches, err := s.between(w.first(t, s.slide), t)
		if err != nil {
			return nil, err
		}
		return rdd.UnionAll(child.rddsAt(t), batches...), nil
	}
	return child
}

// span is a window and how far apart its evaluations are.
type span struct{ window, slide millis }

// first is the first batch of the window that ends with batch t, over a parent with the given slide.
func (w span) first(t Time, parentSlide millis) Time { return t - Time(w.window) + Time(parentSlide) }

// spanOf checks a window and a slide against the parent's slide.
func spanOf(parent *node, window, slide time.Duration) (span, error) {
	if parent.err != nil {
		return span{parent.slide, parent.slide}, nil
	}
	ok := span{parent.slide, parent.slide} // what a broken stream goes on with
	w, err := toMillis(window)
	if err != nil || w%parent.slide != 0 {
		return ok, &DurationError{What: "window", Value: window.Milliseconds(), Unit: parent.slide, Err: ErrBadWindow}
	}
	if slide == 0 {
		return span{w, parent.slide}, nil
	}
	s, err := toMillis(slide)
	if err != nil || s%parent.slide != 0 {
		return ok, &DurationError{What: "slide", Value: slide.Milliseconds(), Unit: parent.slide, Err: ErrBadSlide}
	}
	return span{w, s}, nil
}

// windowOver makes n a stream that looks back a window over its parent, whose batches are persisted
// for it.
func (n *node) windowOver(w span, parent *node) {
	n.slide = w.slide
	n.extra = w.window
	n.graph.mu.Lock()
	defer n.graph.mu.Unlock()
	if n.graph.started || parent.err != nil {
		return
	}
	level := rdd.MemoryOnlySer()
	for parent.levelOf != nil {
		parent = parent.levelOf
	}
	parent.level = &level
}
