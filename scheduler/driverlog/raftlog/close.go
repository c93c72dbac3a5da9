package raftlog

import (
	"errors"
	"fmt"
	"time"
)

// Close ends the term, lets calls under way finish, stops the node and gives its folder up. Others elect another leader only after
// their timeouts: Resign first. It may be called again.
//
// Errors: of closing the files; *PoisonError if the disk does not answer. A write that hangs keeps the folder locked until it returns.
func (l *Log) Close() error {
	l.closing.Do(func() { l.closeErr = l.close() })
	return l.closeErr
}

// closeGrace is what Close waits for more than a write may take.
const closeGrace = 5 * time.Second

func (l *Log) close() error {
	l.mu.Lock()
	l.closed = true
	l.endTerm()
	l.tell()
	l.mu.Unlock()
	l.stop()
	close(l.readable)
	bound := time.NewTimer(l.opts.Stall + closeGrace)
	defer bound.Stop()
	// Calls end by themselves: with an answer, or when a leader that reaches nobody gives up. Raft forgets those that are being applied
	// when it is shut down, so it is not before.
	hangs := !within(bound.C, l.calls.Wait)
	bound.Reset(l.opts.Stall + closeGrace)
	if !within(bound.C, func() { _ = l.down().Error() }) { // it returns nil
		hangs = true
	}
	close(l.quit)
	l.tasks.Wait()
	err := errors.Join(l.trans.Close(), l.store.close())
	if hangs {
		err = errors.Join(err, &PoisonError{Dir: l.dir, Op: "close", Err: &StallError{After: l.opts.Stall + closeGrace}})
	}
	if err != nil {
		return fmt.Errorf("close driver log %s: %w", l.dir, err)
	}
	return nil
}

// within runs wait and tells whether it returned before end. If not it goes on in a goroutine that ends with it.
func within(end <-chan time.Time, wait func()) bool {
	done := make(chan struct{})
	go func() {
		wait()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-end:
		return false
	}
}
