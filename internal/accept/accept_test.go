package accept_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/internal/accept"
)

// A script is a listener whose answers are given in advance, and which takes a second to close.
type script struct {
	answers chan error // nil is a connection
	closing chan struct{}
	free    chan struct{}
	began   atomic.Bool
}

func newScript(answers ...error) *script {
	s := &script{answers: make(chan error, len(answers)), closing: make(chan struct{}), free: make(chan struct{})}
	for _, a := range answers {
		s.answers <- a
	}
	return s
}

func (s *script) Accept() (net.Conn, error) {
	select {
	case err := <-s.answers:
		if err != nil {
			return nil, err
		}
		near, _ := net.Pipe()
		return near, nil
	case <-s.closing:
		return nil, net.ErrClosed
	}
}

// Close lets Accept return before the address is free, as a socket's does.
func (s *script) Close() error {
	if s.began.CompareAndSwap(false, true) {
		close(s.closing)
		time.Sleep(time.Second)
		close(s.free)
	}
	<-s.free
	return nil
}

func (s *script) closed() bool {
	select {
	case <-s.free:
		return true
	default:
		return false
	}
}

func (s *script) Addr() net.Addr { return &net.UnixAddr{Name: "script"} }

var quiet = slog.New(slog.DiscardHandler)

func TestTheAddressIsFreeWhenAllHasReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := newScript(nil)
		served := false
		done := make(chan error, 1)
		go func() {
			done <- accept.All(ctx, s, 2, quiet, func(ctx context.Context, c net.Conn) {
				<-ctx.Done()
				time.Sleep(time.Minute)
				served = true
			})
		}()
		synctest.Wait()
		cancel()
		if err := <-done; err != nil || !s.closed() || !served {
			t.Fatalf("returned %v, with the listener closed %v and what was served ended %v", err, s.closed(), served)
		}
	})
}

func TestWhoeverElseClosesTheListenerIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		go func() { _ = s.Close() }()
		err := accept.All(t.Context(), s, 2, quiet, func(context.Context, net.Conn) { t.Error("served") })
		if !errors.Is(err, net.ErrClosed) || err.Error() != "accept on script: "+net.ErrClosed.Error() || !s.closed() {
			t.Fatalf("returned %v, with the listener closed %v", err, s.closed())
		}
	})
}

func TestAsManyAreServedAtATimeAsAreAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := newScript(make([]error, 7)...)
		var now, most, all atomic.Int64
		done := make(chan error, 1)
		go func() {
			done <- accept.All(ctx, s, 3, quiet, func(_ context.Context, c net.Conn) {
				if n := now.Add(1); n > most.Load() {
					most.Store(n)
				}
				time.Sleep(time.Second)
				now.Add(-1)
				all.Add(1)
				_ = c.Close()
			})
		}()
		time.Sleep(10 * time.Second)
		cancel()
		if err := <-done; err != nil || most.Load() != 3 || all.Load() != 7 {
			t.Fatalf("returned %v, served %d, at most %d at a time", err, all.Load(), most.Load())
		}
	})
}

func TestAListenerThatCannotAcceptIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		full := &net.OpError{Op: "accept", Err: syscall.EMFILE}
		s := newScript(full, full, full, nil)
		start := time.Now()
		err := accept.All(ctx, s, 1, quiet, func(_ context.Context, c net.Conn) {
			if took := time.Since(start); took != 35*time.Millisecond {
				t.Errorf("after %v, want 5, 10 and 20 ms", took)
			}
			_ = c.Close()
			cancel()
		})
		if err != nil {
			t.Error(err)
		}
	})
}
