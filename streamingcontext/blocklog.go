package streamingcontext

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// A blockLog is where received blocks wait for their batch. A block belongs to the first batch that is
// allocated after it was stored, whatever its own time.
type blockLog struct {
	limit int64 // records of one stream that may be stored and not yet processed
	keep  bool  // blocks of forgotten batches stay

	mu      sync.Mutex // guards the fields below and those of the streams
	streams []receivedStream
	closed  bool          // what arrives now is dropped
	changed chan struct{} // closed by the next allocation; nil while nobody waits
}

// receivedStream is one stream of the log, without its type. Methods named below "held" need the
// log's lock.
type receivedStream interface {
	stream() int
	settle()                                      // called once the graph's retention is final, before launch
	launch(ctx context.Context, c *Context) error // runs the receiver until ctx ends
	describe(t dstream.Time, buf []byte) []byte

	recoverHeld() func(receivedlog.Entry) error // once batches are replayed: takes what no batch has
	neededHeld(from dstream.Time) (lowest receivedlog.Address, any bool)

	allocateHeld(t dstream.Time)
	oldestHeld(t dstream.Time) (ms int64, ok bool)
	waitingHeld() bool
	completeHeld(t dstream.Time)
	releaseHeld()
}

func (l *blockLog) add(s receivedStream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams = append(l.streams, s)
}

// all returns the streams.
func (l *blockLog) all() []receivedStream {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.streams)
}

// allocate gives all blocks that wait, of all streams, to batch t.
func (l *blockLog) allocate(t dstream.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.streams {
		s.allocateHeld(t)
	}
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// recover gives blocks that another process has received, and no batch has, to their streams.
//
// Errors: *receivedlog.ScanError naming what is damaged.
func (l *blockLog) recover(ctx context.Context, log BlockLog) error {
	if log == nil {
		return nil // there are no receivers
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	take := map[int32]func(receivedlog.Entry) error{}
	for _, s := range l.streams {
		take[int32(s.stream())] = s.recoverHeld()
	}
	return log.Scan(ctx, func(e receivedlog.Entry) error {
		if f := take[e.Address.Stream]; f != nil {
			return f(e)
		}
		return nil // of a stream that the program does not have any more
	})
}

// clean removes what of the log of received blocks no batch from a time on needs, and none will.
func (l *blockLog) clean(log BlockLog, from dstream.Time) error {
	if log == nil {
		return nil
	}
	lowest := log.End() // before streams are asked: what they store meanwhile lies behind
	l.mu.Lock()
	for _, s := range l.streams {
		if at, any := s.neededHeld(from); any && at.Compare(lowest) < 0 {
			lowest = at
		}
	}
	l.mu.Unlock()
	_, err := log.Clean(lowest)
	return err
}

// heldUp returns, for each stream with blocks in batch t, how long the oldest of them was held back: how much longer
// than allowed it took from the start of its block interval to the batch.
func (l *blockLog) heldUp(t dstream.Time, allowed int64) []heldUp {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []heldUp
	for _, s := range l.streams {
		if oldest, ok := s.oldestHeld(t); ok {
			if wait := int64(t) - oldest - allowed; wait > 0 {
				all = append(all, heldUp{s.stream(), time.Duration(wait) * time.Millisecond})
			}
		}
	}
	return all
}

// heldUp is how long the blocks of a stream had to wait before a batch could have them.
type heldUp struct {
	stream int
	wait   time.Duration
}

// complete says that batch t is committed: its records are processed, and blocks that no batch will
// ask for again go.
func (l *blockLog) complete(t dstream.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.streams {
		s.completeHeld(t)
	}
}

// close drops what arrives from now on and lets go of those who wait for room.
func (l *blockLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, s := range l.streams {
		s.releaseHeld()
	}
}

// waiting returns a channel that is closed at the next allocation while blocks wait for one, nil if
// none do.
func (l *blockLog) waiting() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.streams {
		if s.waitingHeld() {
			if l.changed == nil {
				l.changed = make(chan struct{})
			}
			return l.changed
		}
	}
	return nil
}
