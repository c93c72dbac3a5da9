package dstream

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/dstream/sink"
)

// committing is a sink without the type of its rows.
type committing interface {
	Commit(ctx context.Context, b sink.Batch, staged []byte) error
	Clean(ctx context.Context, b sink.Batch) error
	Last(ctx context.Context, app, output string) (sink.Mark, error)
}

// SinkOutputs returns the names of the outputs that are declared with SaveTo, in the order declared.
func (g *Graph) SinkOutputs() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var names []string
	for _, o := range g.outputs {
		if o.sink != nil {
			names = append(names, o.sinkName)
		}
	}
	return names
}

// CommitOutput shows what the job of an output has staged for a batch. b names the output; staged is what Job.Stage has
// returned, in this process or in an earlier one. It is called until it succeeds.
//
// Errors: what the sink returns, wrapped: a *sink.ConflictError and a *sink.FencedError are final. ErrArgument for an output
// that is not declared.
func (g *Graph) CommitOutput(ctx context.Context, b sink.Batch, staged []byte) error {
	to, err := g.sinkOf(b.Output)
	if err != nil {
		return err
	}
	return asked("commit", b, func() error { return to.Commit(ctx, b, staged) })
}

// CleanOutput removes what tries at a batch, and at those before it, have left in the sink. It is called some time after the
// batch has been committed.
//
// Errors: what the sink returns, wrapped; it costs only room.
func (g *Graph) CleanOutput(ctx context.Context, b sink.Batch) error {
	to, err := g.sinkOf(b.Output)
	if err != nil {
		return err
	}
	return asked("clean", b, func() error { return to.Clean(ctx, b) })
}

// LastOf returns the last batch of an application that the sink of an output has committed.
//
// Errors: what the sink returns, wrapped.
func (g *Graph) LastOf(ctx context.Context, app, output string) (m sink.Mark, err error) {
	to, err := g.sinkOf(output)
	if err != nil {
		return sink.Mark{}, err
	}
	if broken := apart(func() { m, err = to.Last(ctx, app, output) }); broken != nil {
		err = broken
	}
	if err != nil {
		return sink.Mark{}, fmt.Errorf("last batch of %s/%s: %w", app, output, err)
	}
	return m, nil
}

// PromiseOf returns what the sink of an output promises; sink.AtLeastOnce for an output that is not declared.
func (g *Graph) PromiseOf(output string) sink.Promise {
	to, err := g.sinkOf(output)
	if err != nil {
		return sink.AtLeastOnce
	}
	if p, ok := to.(sink.Promiser); ok {
		promise := sink.AtLeastOnce
		if apart(func() { promise = p.Promise() }) != nil {
			return sink.AtLeastOnce
		}
		return promise
	}
	return sink.ExactlyOnce
}

func (g *Graph) sinkOf(output string) (committing, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, o := range g.outputs {
		if o.sink != nil && o.sinkName == output {
			return o.sink, nil
		}
	}
	return nil, fmt.Errorf("%w: no output to a sink has the name %q", ErrArgument, output)
}
