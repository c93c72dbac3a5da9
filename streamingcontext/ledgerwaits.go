package streamingcontext

import (
	"context"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/streamingcontext/internal/protocol"
)

// await waits until what it is asked about the core is so.
//
// Errors: ctx's; dstream.ErrContextStopped where dropped is closed before.
func (l *ledger) await(ctx context.Context, dropped <-chan struct{}, so func(c *protocol.Core) bool) error {
	for {
		l.mu.Lock()
		if so(l.core) {
			l.mu.Unlock()
			return nil
		}
		changed := l.changes()
		l.mu.Unlock()
		select {
		case <-changed:
		case <-dropped:
			return dstream.ErrContextStopped
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// awaitRoom waits until another batch may begin: as long as too many are open, and for ever once a batch has failed
// that the context ends for.
//
// Errors: ctx's.
func (l *ledger) awaitRoom(ctx context.Context) error {
	return l.await(ctx, nil, (*protocol.Core).Room)
}

// awaitSettled waits until batch t and all before it are generated and their jobs have ended.
//
// Errors: ctx's; dstream.ErrContextStopped where dropped is closed before.
func (l *ledger) awaitSettled(ctx context.Context, t dstream.Time, dropped <-chan struct{}) error {
	return l.await(ctx, dropped, func(c *protocol.Core) bool { return c.Settled(int64(t)) })
}

// halt lets no more batches begin.
func (l *ledger) halt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.core.Halt()
}

// tickOver says that the generation of batch t is over, whatever came of it.
func (l *ledger) tickOver(t dstream.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.core.TickOver(int64(t))
	l.change()
}

// waiting returns how many open batches have not started, and the oldest of them.
func (l *ledger) waiting() (n int, oldest *batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.batches {
		if !b.waits() {
			continue
		}
		if n++; oldest == nil {
			oldest = b
		}
	}
	return n, oldest
}

// pending returns the times of the batches begun and not committed.
func (l *ledger) pending() []dstream.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	var times []dstream.Time
	for _, b := range l.core.Open() {
		times = append(times, dstream.Time(b.Time))
	}
	return times
}

// changes returns the channel that the next change closes. mu is held.
func (l *ledger) changes() <-chan struct{} {
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.changed
}

// change wakes those who wait. mu is held.
func (l *ledger) change() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}
