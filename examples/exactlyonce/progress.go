package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/leat-io/leat/streamingcontext"
)

// progress is how far the program has come.
type progress struct {
	words   atomic.Int64 // of all batches so far
	batches atomic.Int64

	idle  time.Duration // how long without a file ends the program; 0 means never
	since int64         // the time of the last batch with a file; only the listener has it
	stop  context.CancelFunc
}

func newProgress(idle time.Duration, stop context.CancelFunc) *progress {
	return &progress{idle: idle, stop: stop, since: time.Now().UnixMilli()}
}

// listener returns a listener that counts batches and ends the program when no file has come for long.
func (p *progress) listener() streamingcontext.Listener {
	return streamingcontext.Listener{BatchCompleted: func(b streamingcontext.BatchInfo) {
		p.batches.Store(max(p.batches.Load(), b.ID+1))
		for _, in := range b.Inputs {
			if in.Description != "" {
				p.since = max(p.since, b.Ended)
			}
		}
		if p.idle > 0 && b.Ended-p.since >= p.idle.Milliseconds() {
			p.stop()
		}
	}}
}
