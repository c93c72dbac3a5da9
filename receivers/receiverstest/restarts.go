package receiverstest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/leat-io/leat/receivers"
)

// errOnce is what the block store of a check fails with, once.
var errOnce = errors.New("refused once by the test's block store")

// again ends a receiver with the sink's refusal of a record, starts it again, and lets its context end it.
func again[T any](ctx context.Context, source Source[T], settle func()) error {
	at := len(source.Want) / 2
	first := Sink[T]{Before: func(_ context.Context, taken int) error {
		if taken >= at {
			return errRefused
		}
		return nil
	}}
	r := start(ctx, source, &first)
	select {
	case <-r.ended:
		r.cancel()
	case <-time.After(patience):
		return errors.Join(errors.New("no return from Receive after the sink refused a record"), r.stop())
	}
	var second Sink[T]
	want := source.Want[:1]
	if source.Resumes {
		want = source.Want[len(first.Records()):]
	}
	r = start(ctx, source, &second)
	if err := r.await(ctx, func(ctx context.Context) error { return second.Wait(ctx, len(want)) }); err != nil {
		return errors.Join(fmt.Errorf("started again: wait for %d records, got %v: %w", len(want), second.Records(), err), r.stop())
	}
	if err := r.stop(); err != nil {
		return fmt.Errorf("started again: %w", err)
	}
	if !source.Resumes {
		return nil
	}
	if err := prefix(want, second.Records(), len(want)); err != nil {
		return fmt.Errorf("started again: %w", err)
	}
	return nil
}

// supervised runs the receiver as a program does: through a supervisor, with blocks so small that the receiver has to wait
// for room, and a block store that refuses a block once.
func supervised[T any](ctx context.Context, source Source[T], settle func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var refused atomic.Bool
	blocks := Blocks[T]{Before: func(context.Context, receivers.Block[T]) error {
		if refused.CompareAndSwap(false, true) {
			return errOnce
		}
		return nil
	}}
	enough := make(chan struct{})
	var reached atomic.Bool
	counting := &counting[T]{Receiver: source.Receiver, enough: func(n int64) {
		if n >= int64(len(source.Want)) && reached.CompareAndSwap(false, true) {
			close(enough)
		}
	}}
	sup, err := receivers.NewSupervisor(0, receivers.Receiver[T](counting), &blocks, receivers.Options{
		RestartDelay: time.Millisecond,
		Generator:    receivers.GeneratorOptions{BlockInterval: time.Millisecond, MaxBlockRecords: 3, RetryDelay: time.Millisecond},
	})
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- sup.Run(ctx) }()
	var late error
	select {
	case <-enough:
	case <-time.After(patience):
		late = fmt.Errorf("%d records stored within %v, want %d at least", counting.taken.Load(), patience, len(source.Want))
	}
	cancel()
	select {
	case err = <-ended:
	case <-time.After(patience):
		return errors.Join(late, fmt.Errorf("no return from the supervisor within %v of the end of its context", patience))
	}
	if err = errors.Join(late, err); err != nil {
		return err
	}
	stored := blocks.Records()
	if n := counting.taken.Load(); int64(len(stored)) != n {
		return fmt.Errorf("%d records are in blocks, the sink took %d", len(stored), n)
	}
	return prefix(source.Want, stored, len(source.Want))
}

// counting is a receiver that counts the records the sink took.
type counting[T any] struct {
	receivers.Receiver[T]
	taken  atomic.Int64
	enough func(n int64)
}

// Receive hands the receiver a sink that counts. The refused block of the store is an error to a receiver that stores
// whole blocks: it returns it and is started again.
func (c *counting[T]) Receive(ctx context.Context, sink receivers.Sink[T]) error {
	return c.Receiver.Receive(ctx, &countingSink[T]{sink, c})
}

type countingSink[T any] struct {
	receivers.Sink[T]
	c *counting[T]
}

func (s *countingSink[T]) took(n int) { s.c.enough(s.c.taken.Add(int64(n))) }

func (s *countingSink[T]) Store(ctx context.Context, record T) error {
	err := s.Sink.Store(ctx, record)
	if err == nil {
		s.took(1)
	}
	return err
}

func (s *countingSink[T]) StoreEach(ctx context.Context, records []T) (int, error) {
	taken, err := receivers.StoreEach(ctx, s.Sink, records)
	s.took(taken)
	return taken, err
}

func (s *countingSink[T]) StoreBlock(ctx context.Context, records []T) error {
	n := len(records)
	err := s.Sink.StoreBlock(ctx, records)
	if err == nil {
		s.took(n)
	}
	return err
}
