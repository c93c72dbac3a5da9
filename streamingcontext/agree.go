package streamingcontext

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/streamingcontext/internal/protocol"
)

// What a *SinkMarkError says. One of sink and driver log was put back to an older copy, lost files, or belongs to another
// program.
var (
	// ErrSinkAhead: the sink has committed a batch that the driver log does not know to be prepared.
	ErrSinkAhead = errors.New("the sink is ahead of the driver log")
	// ErrSinkBehind: the sink does not have a batch that the driver log knows to be committed.
	ErrSinkBehind = errors.New("the sink is behind the driver log")
	// ErrSinkDiffers: the sink has committed something else in a batch than the driver log says.
	ErrSinkDiffers = errors.New("the sink has other rows than the driver log says")
)

// A SinkMarkError is returned by Start where a sink and the driver log do not agree on what is committed. Nothing is written then.
type SinkMarkError struct {
	Output string
	Sink   int64 // the last batch there, -1 if none
	Log    int64 // what it was compared with: the last batch that the driver log knows to be committed, or prepared; -1 if none
	Err    error // ErrSinkAhead, ErrSinkBehind or ErrSinkDiffers
}

// Error returns the output and both batches.
func (e *SinkMarkError) Error() string {
	return fmt.Sprintf("output %s: %v: the last batch there has id %d, here %d", e.Output, e.Err, e.Sink, e.Log)
}

// Unwrap returns which of the two is wrong.
func (e *SinkMarkError) Unwrap() error { return e.Err }

// agree checks that each sink has committed what the driver log says is committed, and nothing that is not prepared. It
// returns the marks after the last committed batch.
func (d *durable) agree(ctx context.Context, c *Context, app driverlog.App) ([]protocol.Mark, error) {
	committed, err := marksOf(app.Last, d.blobs.read)
	if err != nil {
		return nil, fmt.Errorf("manifest of batch id %d: %w", app.Last.ID, err)
	}
	// By output, what it has of each batch that it may have committed already.
	open := map[string][]protocol.Mark{}
	prepared := app.Oldest() - 1
	for _, b := range app.Open {
		if b.Prepared == 0 {
			break
		}
		prepared = b.ID
		staged, _, err := stagedOf(b.Manifest, d.blobs.read)
		if err != nil {
			return nil, fmt.Errorf("manifest of batch id %d: %w", b.ID, err)
		}
		for _, s := range staged {
			if !slices.Contains(c.graph.SinkOutputs(), s.Output) {
				return nil, &PromisedError{Output: s.Output, Batch: dstream.Time(b.Time)}
			}
			open[s.Output] = append(open[s.Output], protocol.Mark{Output: s.Output, ID: b.ID, Digest: sha256.Sum256(s.Bytes)})
		}
	}
	for _, output := range c.graph.SinkOutputs() {
		want := protocol.Mark{Output: output, ID: -1}
		if i := slices.IndexFunc(committed, func(m protocol.Mark) bool { return m.Output == output }); i >= 0 {
			want = committed[i]
		}
		if err := d.agreeOn(ctx, c, want, open[output], prepared); err != nil {
			return nil, err
		}
	}
	return committed, nil
}

// agreeOn is agree for one output, of which want is committed and open may be. prepared is the last batch that is.
func (d *durable) agreeOn(ctx context.Context, c *Context, want protocol.Mark, open []protocol.Mark, prepared int64) error {
	var mark sink.Mark
	if err := apart(func() (err error) {
		mark, err = c.graph.LastOf(ctx, d.app, want.Output)
		return err
	}); err != nil {
		return fmt.Errorf("output %s: %w", want.Output, err)
	}
	if c.graph.PromiseOf(want.Output) != sink.ExactlyOnce {
		return nil // what it says of its last batch is not much of a promise either
	}
	switch {
	case mark.ID > prepared:
		return &SinkMarkError{want.Output, mark.ID, prepared, ErrSinkAhead}
	case mark.ID < want.ID:
		return &SinkMarkError{want.Output, mark.ID, want.ID, ErrSinkBehind}
	case mark.Digest == [sha256.Size]byte{}:
		return nil // a sink that does not tell
	}
	for _, m := range append([]protocol.Mark{want}, open...) {
		if m.ID >= 0 && m.ID == mark.ID && m.Digest != mark.Digest {
			return &SinkMarkError{want.Output, mark.ID, m.ID, ErrSinkDiffers}
		}
	}
	return nil
}
