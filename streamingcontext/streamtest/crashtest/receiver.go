package crashtest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/streamingcontext"
)

// Received is a record and the number of the time that it was sent.
type Received[T any] struct {
	Sent int64
	Row  T
}

// A sender is the source of a receiver. It sends a block until it is acknowledged.
type sender struct {
	name string

	mu      sync.Mutex // guards the fields below
	allowed int        // blocks that may be sent
	acked   int        // blocks that are acknowledged
	sent    int64      // numbers given
	sure    map[int64]bool
	changed chan struct{} // closed by the next change
}

func (s *sender) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Receiver declares a receiver whose source outlives processes. Each slice of records is stored as one block before its batch, and again until it is
// acknowledged: what was stored and not acknowledged may be there twice. "receiver", the name and "store" is a point.
//
// The kit saves what the stream holds to an output "received" and the name, and checks there that each record that was acknowledged is in exactly one
// batch. What batches have depends on what was acknowledged when, so the rows of a program with a receiver are not compared with those of the
// undisturbed run, only with those of the same batch when it runs again.
func Receiver[T any](ssc *streamingcontext.Context, w *World, name string, batches [][]T) *dstream.DStream[T] {
	s := Keep(w, "receiver "+name, func() *sender {
		s := &sender{name: name, sure: map[int64]bool{}, changed: make(chan struct{})}
		w.receivers = append(w.receivers, s) // Keep holds the lock
		return s
	})
	w.expect("receiver " + name + " store")
	in := streamingcontext.Receive(ssc, receivers.Receiver[Received[T]](&receiver[T]{p: w.current(), s: s, batches: batches}))
	ids := dstream.Map(in, func(r Received[T]) int64 { return r.Sent })
	Save(ids, w, "received "+name)
	return dstream.Map(in, func(r Received[T]) T { return r.Row })
}

type receiver[T any] struct {
	p       *process
	s       *sender
	batches [][]T
}

// Receive stores block after block.
func (r *receiver[T]) Receive(ctx context.Context, to receivers.Sink[Received[T]]) error {
	for {
		s := r.s
		s.mu.Lock()
		at, changed := s.acked, s.changed
		if at >= s.allowed {
			s.mu.Unlock()
			select {
			case <-changed:
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		var block []Received[T]
		if at < len(r.batches) {
			for _, row := range r.batches[at] {
				s.sent++
				block = append(block, Received[T]{s.sent, row})
			}
		}
		s.mu.Unlock()
		if len(block) > 0 {
			err := r.p.step("receiver "+s.name+" store", func() error { return to.StoreBlock(ctx, block) })
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if errors.Is(err, ErrDied) {
				return err
			}
			if err != nil {
				continue // again
			}
		}
		s.mu.Lock()
		for _, row := range block {
			s.sure[row.Sent] = true
		}
		s.acked++
		s.change()
		s.mu.Unlock()
	}
}

// feed waits until the receivers have stored n blocks.
func (w *World) feed(ctx context.Context, n int) error {
	w.mu.Lock()
	all := w.receivers
	w.mu.Unlock()
	for _, s := range all {
		s.mu.Lock()
		s.allowed = max(s.allowed, n)
		s.change()
		for s.acked < n {
			changed := s.changed
			s.mu.Unlock()
			select {
			case <-changed:
			case <-ctx.Done():
				return ctx.Err()
			}
			s.mu.Lock()
		}
		s.mu.Unlock()
	}
	return nil
}

// acknowledged checks that each record that was acknowledged is in one batch, once.
func (w *World) acknowledged() {
	for _, s := range w.receivers {
		times := map[string]int{}
		for _, rows := range w.outputs["received "+s.name].rows {
			for _, row := range rows {
				times[row]++
			}
		}
		s.mu.Lock()
		for id := range s.sent {
			n := times[fmt.Sprintf("%#v", id+1)]
			if n > 1 || n == 0 && s.sure[id+1] {
				w.breachHeld(Acknowledged, "receiver %s: the record sent as number %d, acknowledged: %t, is in %d batches", s.name, id+1, s.sure[id+1], n)
			}
		}
		s.mu.Unlock()
	}
}
