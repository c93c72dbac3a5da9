package executor

import (
	"context"
	"time"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

// An env is the executor as one running task sees it. It belongs to the task's goroutine.
type env struct {
	executor *Executor
	task     *scheduler.Task
	begun    time.Time
	stored   []scheduler.CachedBlock
	fetch    *scheduler.FetchError // the first fetch failure, remembered whatever the task makes of it
	denied   error                 // likewise, that it may not commit
	metrics  lineage.Metrics
	share    share
	scratch  []*scratch
	parts    []part // of accumulators
}

// A part is the task's own part of an accumulator.
type part struct {
	of    *lineage.Accumulator
	value lineage.Block
}

var _ lineage.Env = (*env)(nil)

func (e *env) Attempt() lineage.Attempt       { return e.task.Attempt }
func (e *env) Properties() lineage.Properties { return e.task.Properties }
func (e *env) Metrics() *lineage.Metrics      { return &e.metrics }

// Reserve asks for a part of the executor's memory.
func (e *env) Reserve(ctx context.Context, n int64) bool {
	return e.executor.pool.reserve(ctx, &e.share, n, &e.metrics)
}

// Release gives memory back.
func (e *env) Release(n int64) { e.executor.pool.release(&e.share, n) }

// Accumulate returns the task's own part of an accumulator.
func (e *env) Accumulate(a *lineage.Accumulator) lineage.Block {
	for _, p := range e.parts {
		if p.of == a {
			return p.value
		}
	}
	e.parts = append(e.parts, part{of: a, value: a.Zero()})
	return e.parts[len(e.parts)-1].value
}

// Commit asks whether this attempt may make its output visible.
func (e *env) Commit(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	may := e.executor.opts.MayCommit
	if may == nil || may(e.task.ID) {
		return nil
	}
	at := e.task.Attempt
	e.denied = &scheduler.CommitDeniedError{Stage: at.Stage, Partition: at.Partition, Attempt: at.Number}
	return e.denied
}

// open returns the block that h holds, which is decoded if it is bytes.
func (e *env) open(h Held, codec lineage.Codec) (lineage.Block, error) {
	if h.Data == nil {
		return h.Block, nil
	}
	defer timed(&e.metrics.DecodeTime)()
	return h.open(codec)
}

// end gives back all that the task has not, whatever became of it.
func (e *env) end() {
	for _, s := range e.scratch {
		_ = s.Close() // what is left of it is only room taken
	}
	e.executor.pool.leave(&e.share)
}

// timed adds the time until the returned function is called to sum.
func timed(sum *int64) func() {
	begun := time.Now()
	return func() { *sum += int64(time.Since(begun)) }
}
