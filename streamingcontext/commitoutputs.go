package streamingcontext

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/streamingcontext/internal/protocol"
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

// commit tries once to commit what an output has staged of a batch, after the wait that there is before it.
//
// Errors, in the answer: ctx's; *sink.ConflictError, *sink.FencedError and what wraps sink.ErrFinal, after which the driver must
// end. What else a sink says may not be so the next time.
func (f *rollForward) commit(ctx context.Context, a protocol.Action) protocol.Answer {
	b := f.batch(a.Batch.ID, a.Batch.Time, a.Output)
	if a.Wait > 0 {
		if err := pause(ctx, a.Wait); err != nil {
			return protocol.Answer{Err: fmt.Errorf("commit %v: %w", b, err)}
		}
	}
	err := apart(func() error { return f.outputs.CommitOutput(ctx, b, a.Staged) })
	switch {
	case err == nil:
		return protocol.Answer{}
	case final(err) || ctx.Err() != nil:
		return protocol.Answer{Err: fmt.Errorf("commit %v: %w", b, err)}
	}
	f.log.Warn("sink does not commit, trying again", "output", b.Output, "batch", a.Batch.Time, "waited", a.Wait, "err", err)
	return protocol.Answer{Err: err, Again: true}
}

// clean lets the sink remove what tries at a committed batch have left.
func (f *rollForward) clean(ctx context.Context, a protocol.Action) {
	b := f.batch(a.Batch.ID, a.Batch.Time, a.Output)
	if err := apart(func() error { return f.outputs.CleanOutput(ctx, b) }); err != nil {
		f.log.Warn("what tries at a batch have left is not removed", "output", b.Output, "batch", a.Batch.Time, "err", err)
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
