package receiverstest

import (
	"context"
	"slices"
	"sync"
)

// Sink keeps the records it is given in memory. The zero value takes everything.
type Sink[T any] struct {
	// Before is called before records are taken, with the number of records taken so far; an error is returned to the
	// receiver and the records are not taken. It may wait, which is push-back. Nil does nothing. Set it before the
	// first Store.
	Before func(ctx context.Context, taken int) error

	mu      sync.Mutex // guards the fields below
	records []T
	calls   int
	errs    []error
	changed chan struct{} // closed by the next change; nil while nobody waits
}

// Store takes one record.
func (s *Sink[T]) Store(ctx context.Context, record T) error { return s.take(ctx, record) }

// StoreEach takes records one by one.
func (s *Sink[T]) StoreEach(ctx context.Context, records []T) (taken int, err error) {
	for i, record := range records {
		if err := s.take(ctx, record); err != nil {
			return i, err
		}
	}
	return len(records), nil
}

// StoreBlock takes records.
func (s *Sink[T]) StoreBlock(ctx context.Context, records []T) error { return s.take(ctx, records...) }

func (s *Sink[T]) take(ctx context.Context, records ...T) error {
	s.mu.Lock()
	s.calls++
	taken := len(s.records)
	s.notify()
	s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.Before != nil {
		if err := s.Before(ctx, taken); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = append(s.records, records...)
	s.notify()
	return nil
}

// ReportError keeps err.
func (s *Sink[T]) ReportError(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, err)
	s.notify()
}

// Records returns the records taken so far, in the order they came.
func (s *Sink[T]) Records() []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.records)
}

// Errors returns the errors reported so far.
func (s *Sink[T]) Errors() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.errs)
}

// Calls returns how often records were offered so far, taken or not.
func (s *Sink[T]) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// Wait returns once n records are taken, or ctx's error if ctx ends before that.
func (s *Sink[T]) Wait(ctx context.Context, n int) error {
	return s.wait(ctx, func() bool { return len(s.records) >= n })
}

// WaitCalls returns once records were offered n times, or ctx's error if ctx ends before that.
func (s *Sink[T]) WaitCalls(ctx context.Context, n int) error {
	return s.wait(ctx, func() bool { return s.calls >= n })
}

func (s *Sink[T]) wait(ctx context.Context, reached func() bool) error {
	for {
		s.mu.Lock()
		if reached() {
			s.mu.Unlock()
			return nil
		}
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

func (s *Sink[T]) notify() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}
