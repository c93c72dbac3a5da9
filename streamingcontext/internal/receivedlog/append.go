package receivedlog

import (
	"context"
	"fmt"
	"runtime"
)

// groupBytes is how many bytes of records one flush makes durable at most, or one record: appends behind that wait.
// It bounds the memory of a log.
const groupBytes = 8 << 20

// group is the records that are written together. All fields but buf while it is written are guarded by Log.mu.
type group struct {
	buf     []byte
	starts  []int // of the records in buf
	at      []Address
	waiting int // appends that still want it
	err     error
	ended   bool
	taken   chan struct{} // closed when no further record fits in
	done    chan struct{} // closed when ended
	lead    chan struct{} // tells one of those who wait to write the group
}

func newGroup(buf []byte) *group {
	return &group{buf: buf[:0], taken: make(chan struct{}), done: make(chan struct{}), lead: make(chan struct{}, 1)}
}

// Append writes a record and returns when it is durable. It may be called from several goroutines, which then share a
// flush. block and meta are the caller's again afterwards.
//
// Order: records lie in the order in which the calls got into their groups.
// Cost: one write and one flush a group. Up to 8 MiB wait for the flush before theirs; beyond that Append waits before it copies.
// Errors: *SizeError; ErrClosed; the cause of ctx, and then the record may yet become durable; what the disk answered, with the
// file's name. After an error nothing was acknowledged, but see the package comment on records that appear later.
func (l *Log) Append(ctx context.Context, stream int32, block, meta []byte) (Address, error) {
	if len(block) > l.opts.MaxRecord {
		return Address{}, fmt.Errorf("append received block of stream %d: %w", stream, &SizeError{"block", len(block), l.opts.MaxRecord})
	}
	if len(meta) > MaxMeta {
		return Address{}, fmt.Errorf("append received block of stream %d: %w", stream, &SizeError{"meta", len(meta), MaxMeta})
	}
	at, err := l.append(ctx, stream, bodySum(block, meta), block, meta)
	if err != nil {
		return Address{}, fmt.Errorf("append received block of stream %d: %w", stream, err)
	}
	return at, nil
}

func (l *Log) append(ctx context.Context, stream int32, body uint32, block, meta []byte) (Address, error) {
	size := recordHeader + len(meta) + len(block)
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if err := context.Cause(ctx); err != nil {
			return Address{}, err
		}
		if l.closed {
			return Address{}, ErrClosed
		}
		if n := len(l.next.buf); n == 0 || n+size <= groupBytes {
			break
		}
		full := l.next.taken
		l.mu.Unlock()
		select {
		case <-full:
		case <-ctx.Done():
		}
		l.mu.Lock()
	}
	g, i := l.next, len(l.next.starts)
	g.starts = append(g.starts, len(g.buf))
	g.at = append(g.at, Address{Stream: stream, Length: uint32(len(block))})
	g.buf = appendRecord(g.buf, stream, body, block, meta)
	g.waiting++
	if !l.busy {
		l.busy = true
		// Others that are about to append get into this group. What it costs is nothing beside a flush.
		l.mu.Unlock()
		runtime.Gosched()
		l.mu.Lock()
		l.write(g)
	} else {
		l.await(ctx, g)
	}
	if !g.ended {
		return Address{}, context.Cause(ctx)
	}
	return g.at[i], g.err
}

// await waits until g has ended, writes it if that falls to this append, or leaves it when ctx ends. The lock is held, and
// given up meanwhile.
func (l *Log) await(ctx context.Context, g *group) {
	l.mu.Unlock()
	select {
	case <-g.done:
		l.mu.Lock()
	case <-g.lead:
		l.mu.Lock()
		l.write(g)
	case <-ctx.Done():
		l.mu.Lock()
		if g.waiting--; g == l.next && g.waiting == 0 {
			l.drop(context.Cause(ctx)) // nobody wants it any more
		}
	}
}

// write makes g durable and gives the next group to one of those who wait for it. The lock is held, and given up while the
// disk works. busy is true and belongs to the caller.
func (l *Log) write(g *group) {
	if g == l.next {
		l.next = newGroup(l.spare)
		l.spare = nil
		close(g.taken)
		l.mu.Unlock()
		err := l.commit(g)
		l.mu.Lock()
		if cap(g.buf) <= groupBytes {
			l.spare = g.buf
		}
		g.buf = nil
		g.end(err)
	}
	if len(l.next.starts) > 0 {
		l.next.lead <- struct{}{}
		return
	}
	l.rest()
}

// drop ends the group that waits with err, unwritten. The lock is held.
func (l *Log) drop(err error) {
	g := l.next
	if len(g.starts) == 0 {
		return
	}
	l.next = newGroup(nil)
	close(g.taken)
	g.end(err)
	select {
	case <-g.lead: // nobody had taken the lead yet
		l.rest()
	default:
	}
}

// rest says that nobody writes. The lock is held.
func (l *Log) rest() {
	l.busy = false
	l.idle.Broadcast()
}

func (g *group) end(err error) {
	g.err, g.ended = err, true
	close(g.done)
}
