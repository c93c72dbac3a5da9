package receiverstest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"
)

// patience is how long a check waits for something that should happen at once. Inside a bubble it takes no time.
const patience = 10 * time.Second

var (
	errRefused  = errors.New("refused by the test's sink")
	errTooShort = errors.New("source of the test: want at least four records in Want")
)

// check is one rule. settle returns when the receiver has come to rest, where that can be told.
type check[T any] struct {
	name string
	run  func(ctx context.Context, source Source[T], settle func()) error
}

func checks[T any]() []check[T] {
	return []check[T]{
		{"stores each record once and in order", inOrder[T]},
		{"returns when its context ends", returnsOnEnd[T]},
		{"returns when its context has already ended", returnsAtOnce[T]},
		{"stops reading while the sink waits", pushBack[T]},
		{"returns the error of the sink", sinkError[T]},
		{"starts again after its end", again[T]},
		{"loses and doubles nothing under a supervisor", supervised[T]},
	}
}

func inOrder[T any](ctx context.Context, source Source[T], settle func()) error {
	if len(source.Want) < 4 {
		return errTooShort
	}
	var sink Sink[T]
	r := start(ctx, source, &sink)
	if err := r.await(ctx, func(ctx context.Context) error { return sink.Wait(ctx, len(source.Want)) }); err != nil {
		return errors.Join(fmt.Errorf("wait for %d records, got %v: %w", len(source.Want), sink.Records(), err), r.stop())
	}
	if err := r.stop(); err != nil {
		return err
	}
	return prefix(source.Want, sink.Records(), len(source.Want))
}

func returnsOnEnd[T any](ctx context.Context, source Source[T], settle func()) error {
	var sink Sink[T]
	r := start(ctx, source, &sink)
	if err := r.await(ctx, func(ctx context.Context) error { return sink.Wait(ctx, 1) }); err != nil {
		return errors.Join(fmt.Errorf("wait for the first record: %w", err), r.stop())
	}
	if err := r.stop(); err != nil {
		return err
	}
	calls := sink.Calls()
	settle()
	if more := sink.Calls() - calls; more > 0 {
		return fmt.Errorf("the sink was called %d times after Receive had returned", more)
	}
	return nil
}

func returnsAtOnce[T any](ctx context.Context, source Source[T], settle func()) error {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	var sink Sink[T]
	if err := start(ctx, source, &sink).stop(); err != nil {
		return err
	}
	if records := sink.Records(); len(records) > 0 {
		return fmt.Errorf("%d records stored with a context that had ended", len(records))
	}
	return nil
}

func pushBack[T any](ctx context.Context, source Source[T], settle func()) error {
	sink := Sink[T]{Before: func(ctx context.Context, _ int) error {
		<-ctx.Done()
		return ctx.Err()
	}}
	r := start(ctx, source, &sink)
	if err := r.await(ctx, func(ctx context.Context) error { return sink.WaitCalls(ctx, 1) }); err != nil {
		return errors.Join(fmt.Errorf("wait for the first record: %w", err), r.stop())
	}
	settle()
	var ahead error
	if source.Read != nil {
		if read := source.Read(); read > 1+source.Ahead {
			ahead = fmt.Errorf("the receiver took %d records from the source while the sink held the first; want at most %d", read, 1+source.Ahead)
		}
	}
	return errors.Join(ahead, r.stop())
}

func sinkError[T any](ctx context.Context, source Source[T], settle func()) error {
	at, refused := len(source.Want)/2, false
	sink := Sink[T]{Before: func(_ context.Context, taken int) error {
		// Refuse once: a receiver that carries on leaves a gap, which shows.
		if taken >= at && !refused {
			refused = true
			return errRefused
		}
		return nil
	}}
	r := start(ctx, source, &sink)
	var err error
	select {
	case err = <-r.ended:
		r.cancel()
	case <-time.After(patience):
		return errors.Join(errors.New("no return from Receive after the sink refused a record"), r.stop())
	}
	if !errors.Is(err, errRefused) {
		return fmt.Errorf("the sink refused a record; Receive returned %v, want an error that wraps %v", err, errRefused)
	}
	return prefix(source.Want, sink.Records(), at)
}

// run is a Receive in progress.
type run struct {
	ended  chan error // bounded: holds the one result of Receive
	cancel context.CancelFunc
}

func start[T any](ctx context.Context, source Source[T], sink *Sink[T]) *run {
	ctx, cancel := context.WithCancel(ctx)
	r := &run{ended: make(chan error, 1), cancel: cancel}
	// The result is the way to wait for it.
	go func() { r.ended <- source.Receiver.Receive(ctx, sink) }()
	return r
}

// await runs wait with a context that ends when the receiver runs out of patience.
func (r *run) await(ctx context.Context, wait func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return wait(ctx)
}

// stop ends the context of Receive and returns an error if Receive does not return then.
func (r *run) stop() error {
	r.cancel()
	select {
	case <-r.ended:
		return nil
	case <-time.After(patience):
		return fmt.Errorf("no return from Receive within %v of the end of its context", patience)
	}
}

// prefix compares the records that both have, and wants n at least.
func prefix[T any](want, got []T, n int) error {
	if len(got) < n {
		return fmt.Errorf("%d records stored, want %d at least: %v", len(got), n, got)
	}
	both := min(len(want), len(got))
	if !reflect.DeepEqual(got[:both], want[:both]) {
		return fmt.Errorf("stored %v, want %v", got[:both], want[:both])
	}
	return nil
}
