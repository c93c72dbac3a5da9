package accept

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"
)

// All calls serve, in a goroutine of its own, for each connection that comes through a listener, at most so many at a time; others wait. It
// goes on until ctx ends or the listener is closed. Then it closes the listener, ends the context that serve was given, and waits: when it
// returns, the address is free and every serve has returned. A listener that cannot accept for now is asked again, and the logger told once.
//
// Errors: nil when ctx has ended; net.ErrClosed, with the address, where somebody else closed the listener.
func All(ctx context.Context, l net.Listener, most int, logger *slog.Logger, serve func(context.Context, net.Conn)) error {
	ctx, cancel := context.WithCancel(ctx)
	var serving sync.WaitGroup
	defer serving.Wait()
	defer cancel() // before the wait
	serving.Go(func() {
		<-ctx.Done()
		_ = l.Close() // nothing is lost by what it could not do
	})
	free := make(chan struct{}, most) // bounded: holds one for each connection that is served
	var wait time.Duration
	for {
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			if errors.Is(err, net.ErrClosed) {
				return fmt.Errorf("accept on %s: %w", l.Addr(), err)
			}
			if wait == 0 {
				logger.Warn("connections cannot be accepted for now", "address", l.Addr().String(), "error", err)
			}
			wait = min(max(2*wait, 5*time.Millisecond), time.Second)
			select {
			case <-time.After(wait):
			case <-ctx.Done():
			}
			continue
		}
		wait = 0
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			_ = conn.Close()
			return nil
		}
		serving.Go(func() {
			defer func() { <-free }()
			serve(ctx, conn)
		})
	}
}
