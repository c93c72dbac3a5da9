package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// A board is what the nodes have said: lines "leading<TAB>epoch", "standing by", "committing<TAB>id<TAB>epoch", "batch<TAB>id<TAB>epoch", and
// those of tell.
type board struct {
	mu         sync.Mutex
	leader     int       // the node of the newest epoch, -1 before the first
	epoch      uint64    // the newest
	batch      int64     // the last batch that was committed, -1 before the first
	by         uint64    // its epoch
	at         time.Time // when it was said
	led        time.Time // when the leader said that it leads
	committing int64     // the batch that the leader is making visible, -1 if none
	standby    map[int]bool
	said       map[int64]uint64 // the epoch that said that a batch is committed, of the last remembered ones
	terms      int              // epochs that were said to be led
	uses       map[int]uses     // what each node has said last
	agreed     agreed
	wrong      error         // the first thing that nobody may say
	changed    chan struct{} // closed by the next change
}

// remembered is how many batches a board remembers.
const remembered = 10_000

func newBoard() *board {
	return &board{leader: -1, batch: -1, committing: -1, standby: map[int]bool{}, said: map[int64]uint64{}, uses: map[int]uses{}, changed: make(chan struct{})}
}

// line takes note of what a node said.
func (b *board) line(node int, at time.Time, line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var epoch uint64
	var batch, index, heap int64
	var goroutines int
	var digest string
	switch {
	case line == "standing by":
		b.standby[node] = true
	case scans(line, "leading\t%d", &epoch):
		b.standby[node] = false
		b.terms++
		if epoch > b.epoch {
			b.leader, b.epoch, b.led, b.committing = node, epoch, at, -1
		}
	case scans(line, "committing\t%d\t%d", &batch, &epoch):
		if epoch == b.epoch {
			b.committing = batch
		}
	case scans(line, "batch\t%d\t%d", &batch, &epoch):
		if was, again := b.said[batch]; again && b.wrong == nil {
			b.wrong = fmt.Errorf("batch %d was committed in epoch %d, and again in epoch %d", batch, was, epoch)
		}
		b.said[batch] = epoch
		delete(b.said, batch-remembered)
		if batch > b.batch {
			b.batch, b.by, b.at = batch, epoch, at
		}
		if batch >= b.committing {
			b.committing = -1
		}
	case scans(line, "state\t%d\t%s", &index, &digest):
		if err := b.agreed.note(node, index, digest); err != nil && b.wrong == nil {
			b.wrong = err
		}
	case scans(line, "uses\t%d\t%d", &goroutines, &heap):
		b.uses[node] = uses{goroutines, heap}
	default:
		return
	}
	b.tell()
}

func scans(line, format string, into ...any) bool {
	n, err := fmt.Sscanf(line, format, into...)
	return err == nil && n == len(into) && strings.Count(line, "\t") == strings.Count(format, "\t")
}

// tell wakes all who wait. The board is held.
func (b *board) tell() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// gone takes note that a node is not there any more, or not to be relied on.
func (b *board) gone(node int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.standby[node] = false
}

// await waits until what the board shows is right. ready is called with the board held.
func (b *board) await(ctx context.Context, what string, ready func() bool) error {
	for {
		b.mu.Lock()
		ok, changed := ready(), b.changed
		state := fmt.Sprintf("leader %d of epoch %d, last batch %d of epoch %d, standing by %v", b.leader, b.epoch, b.batch, b.by, b.standby)
		b.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%s: %w; %s", what, ctx.Err(), state)
		}
	}
}

// leads returns who leads, in which epoch.
func (b *board) leads() (node int, epoch uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.leader, b.epoch
}

// last returns the last batch that was committed.
func (b *board) last() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.batch
}

// err returns what was said and may not be.
func (b *board) err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.wrong
}

// epochsLed returns how many epochs were said to be led.
func (b *board) epochsLed() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.terms
}
