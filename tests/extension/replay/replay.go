// Package replay is a receiver that is added from outside of leat: one folder, and no change elsewhere.
//
// A [Log] is a source that can be read again from any position, as a journal or a partition of a broker. A [Receiver]
// reads it in blocks, and moves its position on when a block is stored: after an error or a panic it goes on where it
// was, so no record is lost and none comes twice.
//
//	log := replay.NewLog("a", "b", "c")
//	words := streamingcontext.Receive(ssc, replay.NewReceiver(log, 2))
//
// Guarantees: each record is stored once, in order, while the process lives. Append may be called from any goroutine;
// a Receiver serves one stream. Not here: a position that outlives the process.
//
// Source: package receivers, Receiver.
package replay

import (
	"context"
	"slices"
	"sync"

	"github.com/leat-io/leat/receivers"
)

// A Log holds records in order.
type Log struct {
	mu      sync.Mutex // guards the fields below
	records []string
	grown   chan struct{} // closed by the next Append
	fault   error         // what the next read returns
}

// NewLog returns a log of some records.
func NewLog(records ...string) *Log { return &Log{records: records, grown: make(chan struct{})} }

// Append adds records.
func (l *Log) Append(records ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, records...)
	close(l.grown)
	l.grown = make(chan struct{})
}

// Break makes the next read fail.
func (l *Log) Break(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = err
	close(l.grown)
	l.grown = make(chan struct{})
}

// read returns up to n records from a position on, or a channel that is closed when there are more.
func (l *Log) read(from, n int) (records []string, grown <-chan struct{}, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.fault; err != nil {
		l.fault = nil
		return nil, nil, err
	}
	if from == len(l.records) {
		return nil, l.grown, nil
	}
	return slices.Clone(l.records[from:min(len(l.records), from+n)]), nil, nil
}

// A Receiver stores what a log holds.
type Receiver struct {
	log   *Log
	block int
	next  int // of Receive, which is never called twice at once
}

var _ receivers.Receiver[string] = (*Receiver)(nil)

// NewReceiver returns a receiver of blocks of up to so many records, at least one.
func NewReceiver(log *Log, block int) *Receiver { return &Receiver{log: log, block: max(1, block)} }

// Receive stores blocks until ctx ends.
//
// Errors: of the log and of the sink.
func (r *Receiver) Receive(ctx context.Context, sink receivers.Sink[string]) error {
	for {
		records, grown, err := r.log.read(r.next, r.block)
		if err != nil {
			return err
		}
		if grown != nil {
			select {
			case <-grown:
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		n := len(records)
		if err := sink.StoreBlock(ctx, records); err != nil {
			return err
		}
		r.next += n // stored: what fails from here on does not bring it again
	}
}
