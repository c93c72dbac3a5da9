package streamingcontext

import (
	"sync"

	"github.com/leat-io/leat/dstream"
)

// A batch is one batch that has been begun, on its way to being committed.
type batch struct {
	id    int64
	time  dstream.Time
	plan  manifest
	ended bool // all its jobs have; guarded by ledger.commit

	settled bool // ended and, if its turn has come, committed; guarded by ledger.mu

	mu      sync.Mutex // guards the fields below
	left    int        // jobs that have not ended
	started bool
	failed  bool
	told    bool      // somebody listened, or something is governed by it, when the batch was submitted
	info    BatchInfo // kept up to date only if told
	heldUp  []heldUp  // set with info; only where rates follow the batches
}

// jobStarted notes the start of a job and tells listeners.
func (b *batch) jobStarted(job *dstream.Job, c *Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := !b.started
	b.started = true
	if !b.told {
		return
	}
	now := c.opts.Clock.Now()
	if first {
		b.info.Started = now
		postBatch(c.bus, b.snapshot(), func(l *Listener) func(BatchInfo) { return l.BatchStarted })
	}
	out := &b.info.Outputs[job.ID]
	out.Started = now
	postOutput(c.bus, *out, func(l *Listener) func(OutputInfo) { return l.OutputStarted })
}

// jobEnded notes the end of a job, tells listeners and reports whether it was the last one.
func (b *batch) jobEnded(job *dstream.Job, err error, c *Context) (last bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left--
	b.failed = b.failed || err != nil
	if !b.told {
		return b.left == 0
	}
	out := &b.info.Outputs[job.ID]
	out.Ended, out.Err = c.opts.Clock.Now(), err
	b.info.Ended = out.Ended
	postOutput(c.bus, *out, func(l *Listener) func(OutputInfo) { return l.OutputCompleted })
	return b.left == 0
}

// hasFailed reports whether an output has failed.
func (b *batch) hasFailed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed
}

// submitted tells listeners that the jobs are queued.
func (b *batch) submitted(jobs []dstream.Job, infos []dstream.InputInfo, c *Context) {
	b.left = len(jobs)
	if c.unwatched() {
		return
	}
	b.told = true
	if c.opts.Backpressure.Enabled {
		// A block that is cut at a batch's very time may come into the next one.
		b.heldUp = c.blocks.heldUp(b.time, (c.Interval() + c.opts.BlockInterval).Milliseconds())
	}
	b.info = BatchInfo{Time: b.time, ID: b.id, Inputs: infos, Submitted: c.opts.Clock.Now(), Started: Unknown, Ended: Unknown}
	for _, j := range jobs {
		b.info.Outputs = append(b.info.Outputs,
			OutputInfo{Batch: b.time, ID: j.ID, Name: j.Name, Site: j.Site, Started: Unknown, Ended: Unknown})
	}
	postBatch(c.bus, b.snapshot(), func(l *Listener) func(BatchInfo) { return l.BatchSubmitted })
}

// completed tells listeners that the batch is over, after what is governed by it.
func (b *batch) completed(c *Context) {
	b.mu.Lock()
	told, info := b.told, b.snapshot()
	b.mu.Unlock()
	if !told {
		return
	}
	c.govern(info, b.heldUp)
	postBatch(c.bus, info, func(l *Listener) func(BatchInfo) { return l.BatchCompleted })
}

// snapshot is the info as it is now. The end is not known before the last job's.
func (b *batch) snapshot() BatchInfo {
	info := b.info
	info.Outputs = append([]OutputInfo(nil), b.info.Outputs...)
	if b.left > 0 {
		info.Ended = Unknown
	}
	return info
}

func postBatch(b *bus, info BatchInfo, which func(*Listener) func(BatchInfo)) {
	b.post(func(l *Listener) {
		if f := which(l); f != nil {
			f(info)
		}
	})
}

func postOutput(b *bus, info OutputInfo, which func(*Listener) func(OutputInfo)) {
	b.post(func(l *Listener) {
		if f := which(l); f != nil {
			f(info)
		}
	})
}
