package receivers

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Supervisor runs one receiver for as long as its stream lives.
//
//	start generator --> Receive --> returned, failed or panicked --> restart delay --+
//	                       ^                                                         |
//	                       +---------------------------------------------------------+
//	ctx ends --> Receive returns --> generator flushes --> Run returns
type Supervisor[T any] struct {
	stream   int32
	receiver Receiver[T]
	blocks   Blocks[T]
	opts     Options
	clock    Clock
	ids      *blockIDs
	gen      *Generator[T]
	started  atomic.Bool
	current  atomic.Pointer[attemptSink[T]] // of the last call of Receive, nil before the first
}

// NewSupervisor returns a supervisor that runs receiver for the stream and gives its blocks to blocks. It starts
// nothing.
//
// Errors: a joined [*OptionError] for each option that cannot be used.
func NewSupervisor[T any](stream int32, receiver Receiver[T], blocks Blocks[T], opts Options) (*Supervisor[T], error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	s := &Supervisor[T]{
		stream:   stream,
		receiver: receiver,
		blocks:   blocks,
		opts:     opts,
		clock:    opts.Clock,
		ids:      &blockIDs{last: opts.Generator.LastID},
	}
	generator := opts.Generator
	failed := generator.Listener.Failed
	generator.Listener.Failed = func(id BlockID, err error) {
		if failed != nil {
			failed(id, err)
		}
		s.opts.Listener.error(stream, err)
	}
	s.gen = newGenerator(stream, blocks, generator, s.ids)
	return s, nil
}

// Run runs the receiver until ctx ends and starts it again, after a delay, whenever it returns or panics before that;
// there is no limit on the number of starts. When ctx has ended it waits for the receiver, then for everything the
// receiver stored to be in blocks, then returns. It may be called once.
//
// Errors: nil after a clean stop; [*LostError] when accepted records could not be stored within the flush timeout;
// [ErrStarted] on a second call. A receiver that does not return when its context ends holds Run up.
func (s *Supervisor[T]) Run(ctx context.Context) error {
	if !s.started.CompareAndSwap(false, true) {
		return fmt.Errorf("run receiver of stream %d: %w", s.stream, ErrStarted)
	}
	if err := s.gen.Start(ctx); err != nil {
		return err
	}
	var lost error // by generators that the receiver made and did not stop
	for attempt := 1; ctx.Err() == nil; attempt++ {
		s.opts.Listener.started(s.stream, attempt)
		s.opts.Logger.InfoContext(ctx, "receiver started", "stream", s.stream, "attempt", attempt)
		left, err := s.receive(ctx)
		lost = errors.Join(lost, s.flush(ctx, left...))
		if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
			err = nil
		}
		s.opts.Listener.stopped(s.stream, attempt, err)
		if ctx.Err() != nil {
			break
		}
		delay := s.delay(err)
		s.opts.Logger.WarnContext(ctx, "receiver ended, starting it again", "stream", s.stream, "attempt", attempt, "delay", delay, "err", err)
		_ = s.clock.WaitUntil(ctx, s.clock.Now()+int64(delay/time.Millisecond)) // an error means ctx ended, which the loop sees
	}
	err := s.flush(ctx, s.gen)
	s.opts.Logger.InfoContext(ctx, "receiver stopped", "stream", s.stream)
	if lost == nil {
		return err
	}
	return errors.Join(lost, err)
}

// flush stops generators within the flush timeout, also where ctx has ended.
func (s *Supervisor[T]) flush(ctx context.Context, generators ...*Generator[T]) error {
	if len(generators) == 0 {
		return nil
	}
	ctx, cancel := context.WithoutCancel(ctx), context.CancelFunc(func() {})
	if s.opts.FlushTimeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, s.opts.FlushTimeout)
	}
	defer cancel()
	if len(generators) == 1 {
		return generators[0].Stop(ctx)
	}
	var errs []error
	for _, g := range generators {
		errs = append(errs, g.Stop(ctx))
	}
	return errors.Join(errs...)
}

// SetRate limits the single records per second from now on, to MaxRate at most, for each block generator of the receiver.
// A rate of zero or less changes nothing.
func (s *Supervisor[T]) SetRate(rate int64) {
	s.gen.SetRate(rate)
	if sink := s.current.Load(); sink != nil {
		sink.mu.Lock()
		defer sink.mu.Unlock()
		for _, g := range sink.made {
			g.SetRate(rate)
		}
	}
}

// Rate returns the limit in records per second, 0 for none.
func (s *Supervisor[T]) Rate() int64 { return s.gen.Rate() }

// receive runs the receiver once, with a context and a sink that end with it. The receiver has a goroutine of its own,
// which it may end with runtime.Goexit.
// It returns the generators that the receiver has made, which it may have left running.
func (s *Supervisor[T]) receive(ctx context.Context) (made []*Generator[T], err error) {
	ctx, cancel := context.WithCancel(ctx)
	sink := &attemptSink[T]{sup: s}
	s.current.Store(sink)
	err = fmt.Errorf("receiver of stream %d: %w", s.stream, ErrGoexit)
	var attempt sync.WaitGroup
	attempt.Go(func() {
		defer func() {
			made = sink.close()
			cancel()
			if v := recover(); v != nil {
				err = &PanicError{Stream: s.stream, Value: v, Stack: debug.Stack()}
			}
		}()
		err = s.receiver.Receive(ctx, sink)
	})
	attempt.Wait()
	return made, err
}

func (s *Supervisor[T]) delay(err error) time.Duration {
	if restart, ok := errors.AsType[*RestartError](err); ok {
		return max(restart.Delay, 0)
	}
	return s.opts.RestartDelay
}
