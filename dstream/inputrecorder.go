package dstream

import (
	"errors"
	"slices"
)

// An InputRecorder is an Input whose batches are recorded, so that a later process gives them the same rows.
//
// Its methods are called one at a time, also with RDD. They must not block for long.
type InputRecorder interface {
	// Record is called after RDD has been called for t and returns what Replay needs to give the same, in a few bytes. It is called
	// where RDD failed, too: the batch fails, is recorded, and runs again in the next process. What it gives then is not recorded a
	// second time, so Record must choose it now: nothing, or rows that are there.
	Record(t Time) ([]byte, error)
	// Replay is called in a new process before the graph is recovered, times ascending, with what Record returned for t: RDD
	// may be asked for t from then on, and gives what it gave.
	Replay(t Time, recorded []byte) error
}

// An InputSaver is an Input that remembers something beyond the batches that are recorded, as which files it has seen.
type InputSaver interface {
	// Save returns what Load needs, after the newest batch that has been recorded.
	Save() ([]byte, error)
	// Load is called in a new process before Replay, with what Save returned.
	Load(saved []byte) error
}

// ErrForgotten says that a batch is needed again whose input is not known any more.
var ErrForgotten = errors.New("what the input gave is not known any more")

// begun is which batches an earlier process has begun.
type begun struct {
	last  Time   // the last of them
	times []Time // those whose inputs are known, ascending
	whole bool   // none was begun before them
}

// given reports whether an input that is recorded gave something to the batch of t: not if an earlier process never began
// it. The graph's lock is held.
func (g *Graph) given(t Time) (bool, error) {
	b := g.begun
	if b == nil || t > b.last {
		return true, nil
	}
	at, known := slices.BinarySearch(b.times, t)
	if !known && at == 0 && !b.whole {
		return false, ErrForgotten
	}
	return known, nil
}
