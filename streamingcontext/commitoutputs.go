package streamingcontext

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink"
)

// outputs is what commits what sink outputs have staged: the graph.
type outputs interface {
	CommitOutput(ctx context.Context, b sink.Batch, staged []byte) error
	CleanOutput(ctx context.Context, b sink.Batch) error
}

// A rollForward makes prepared batches visible in their sinks. What it does may be done again at any time.
type rollForward struct {
	outputs outputs
	app     string
	epoch   uint64
	log     *slog.Logger
}

// Waits between tries at a sink that does not commit.
const (
	firstCommitWait = 100 * time.Millisecond
	lastCommitWait  = 5 * time.Second
)

// commit commits what the outputs have staged of a batch, one after the other, each until it succeeds.
//
// Errors: ctx's; *sink.ConflictError, *sink.FencedError and what wraps sink.ErrFinal, after which the driver must end.
func (f *rollForward) commit(ctx context.Context, id, ms int64, staged []stagedOutput) error {
	for _, s := range staged {
		b := f.batch(id, ms, s.output)
		for wait := firstCommitWait; ; wait = min(2*wait, lastCommitWait) {
			err := apart(func() error { return f.outputs.CommitOutput(ctx, b, s.bytes) })
			if err == nil {
				break
			}
			if final(err) || ctx.Err() != nil {
				return fmt.Errorf("commit %v: %w", b, err)
			}
			f.log.Warn("sink does not commit, trying again", "output", b.Output, "batch", ms, "wait", wait, "err", err)
			if err := pause(ctx, wait); err != nil {
				return fmt.Errorf("commit %v: %w", b, err)
			}
		}
	}
	return nil
}

// clean lets the sinks remove what tries at a committed batch have left.
func (f *rollForward) clean(ctx context.Context, id, ms int64, staged []stagedOutput) {
	for _, s := range staged {
		b := f.batch(id, ms, s.output)
		if err := apart(func() error { return f.outputs.CleanOutput(ctx, b) }); err != nil {
			f.log.Warn("what tries at a batch have left is not removed", "output", b.Output, "batch", ms, "err", err)
		}
	}
}

func (f *rollForward) batch(id, ms int64, output string) sink.Batch {
	return sink.Batch{App: f.app, Output: output, ID: id, Time: ms, Epoch: f.epoch}
}

// final reports whether an error of a commit will not go away.
func final(err error) bool {
	_, conflict := errors.AsType[*sink.ConflictError](err)
	_, fenced := errors.AsType[*sink.FencedError](err)
	return conflict || fenced || errors.Is(err, sink.ErrFinal) || errors.Is(err, dstream.ErrArgument) // no such output
}

// pause waits, in time of package time.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
