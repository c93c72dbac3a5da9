package streamingcontext

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/streamingcontext/internal/protocol"
)

// A batch is one batch that has been begun, on its way to being committed.
type batch struct {
	id     int64
	time   dstream.Time
	jobs   int // how many it had
	inputs []dstream.InputInfo
	// repeated says that the batch was committed in an earlier term: it is run for its outputs with free effects alone.
	repeated bool
	// late says that it is an earlier term's, or that its time had passed when the term began: what it was given is not told.
	late bool
	// intervals is how many batch intervals it covers, 0 for one.
	intervals int64

	mu      sync.Mutex // guards the fields below
	left    int        // jobs that have not ended
	attempt int        // how often its jobs were queued
	queued  int64      // when they were first, by the context's clock
	started int64      // when the first of them started, Unknown before
	began   time.Time  // the same by package time
	failed  []failedJob
	staged  []protocol.Staged // by sink outputs, in the order in which they ended
	notMade error             // why it could not be generated
	told    bool              // somebody listened, or something is governed by it, when the batch was submitted
	info    BatchInfo         // kept up to date only if told
	heldUp  []heldUp          // set with info; only where rates follow the batches
}

// failedJob is an output that failed in the last attempt.
type failedJob struct {
	job dstream.Job
	err *OutputError
}

// jobStarted notes the start of a job and tells listeners. It reports whether it is the first of the batch.
func (b *batch) jobStarted(job *dstream.Job, c *Context) (first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	first = b.started == Unknown
	if !first && !b.told {
		return false
	}
	now := c.opts.Clock.Now()
	if first {
		b.started, b.began = now, time.Now()
	}
	if !b.told {
		return first
	}
	if first {
		b.info.Started = now
		postBatch(c.bus, b.snapshot(), func(l *Listener) func(BatchInfo) { return l.BatchStarted })
	}
	out := &b.info.Outputs[job.ID]
	out.Started, out.Ended, out.Err, out.Attempt = now, Unknown, nil, b.attempt
	postOutput(c.bus, *out, func(l *Listener) func(OutputInfo) { return l.OutputStarted })
	return first
}

// jobEnded notes the end of a job, tells listeners and reports whether it was the last one.
func (b *batch) jobEnded(job *dstream.Job, err *OutputError, c *Context) (last bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left--
	if err != nil {
		b.failed = append(b.failed, failedJob{*job, err})
	}
	if !b.told {
		return b.left == 0
	}
	out := &b.info.Outputs[job.ID]
	out.Ended = c.opts.Clock.Now()
	if err != nil {
		out.Err = err
	}
	b.info.Ended = out.Ended
	postOutput(c.bus, *out, func(l *Listener) func(OutputInfo) { return l.OutputCompleted })
	return b.left == 0
}

// stages takes note of what an output has staged, in place of what an earlier try has.
func (b *batch) stages(output string, staged []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.staged = slices.DeleteFunc(b.staged, func(s protocol.Staged) bool { return s.Output == output })
	b.staged = append(b.staged, protocol.Staged{Output: output, Bytes: staged})
}

// outcome returns what the jobs came to, once all have ended.
func (b *batch) outcome() protocol.Outcome {
	failed, cause := b.failure()
	o := protocol.Outcome{Jobs: b.jobs, Err: cause}
	for _, f := range failed {
		o.Failures = append(o.Failures, protocol.OutputFailure{Output: f.Output, Err: f.Err})
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	slices.SortFunc(b.staged, func(x, y protocol.Staged) int { return cmp.Compare(x.Output, y.Output) })
	o.Staged = b.staged
	return o
}

// try returns which run of the batch's jobs is under way, from 1.
func (b *batch) try() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.attempt
}

// failure returns the outputs that failed, and why the batch did, nil if it did not.
func (b *batch) failure() ([]*OutputError, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.failed) == 0 {
		return nil, b.notMade
	}
	failed := make([]*OutputError, len(b.failed))
	for i, f := range b.failed {
		failed[i] = f.err
	}
	slices.SortFunc(failed, func(x, y *OutputError) int { return cmp.Compare(x.Output, y.Output) })
	return failed, failed[0]
}

// lastAttempt reports whether outputs that fail now are not run again.
func (b *batch) lastAttempt(retries int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.attempt > retries
}

// again returns the jobs that failed, to be run once more; none where all went well, or often enough.
func (b *batch) again(retries int) []dstream.Job {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.attempt > retries || len(b.failed) == 0 {
		return nil
	}
	var jobs []dstream.Job
	for _, f := range b.failed {
		jobs = append(jobs, f.job)
	}
	slices.SortFunc(jobs, func(x, y dstream.Job) int { return cmp.Compare(x.ID, y.ID) })
	b.failed = nil
	b.left = len(jobs)
	b.attempt++
	return jobs
}

// waits reports whether the batch has jobs and none has started.
func (b *batch) waits() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.attempt > 0 && b.started == Unknown
}

// delay returns how long the batch had waited for its turn at now, or when that came.
func (b *batch) delay(now int64) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.started != Unknown {
		now = b.started
	}
	return time.Duration(now-b.queued) * time.Millisecond
}

// span is the time that the batch has the input of.
func (b *batch) span(c *Context) time.Duration {
	return c.Interval() * time.Duration(max(1, b.intervals))
}

// submitted tells listeners that the jobs are queued.
func (b *batch) submitted(jobs []dstream.Job, c *Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left, b.attempt, b.started, b.queued = len(jobs), 1, Unknown, c.opts.Clock.Now()
	if c.unwatched() {
		return
	}
	b.told = true
	if c.opts.Backpressure.Enabled {
		// A block that is cut at a batch's very time may come into the next one.
		b.heldUp = c.blocks.heldUp(b.time, (b.span(c) + c.opts.BlockInterval).Milliseconds())
	}
	b.info = BatchInfo{Time: b.time, ID: b.id, Intervals: max(1, b.intervals), Inputs: b.inputs, Submitted: b.queued, Started: Unknown, Ended: Unknown}
	if b.late {
		b.info.Inputs = nil
	}
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
	c.countFiles(&info)
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
