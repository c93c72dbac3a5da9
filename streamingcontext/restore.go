package streamingcontext

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/scheduler/driverlog"
)

// ErrSinkAhead is returned by Start where a sink has committed a batch that the driver log does not know to be prepared: one of
// the two was put back to an older copy, or belongs to another program.
var ErrSinkAhead = errors.New("the sink is ahead of the driver log")

// register enters a new application in the driver log.
func (d *durable) register(ctx context.Context, c *Context, l *ledger, zero dstream.Time) error {
	text, err := describe(c.graph)
	if err != nil {
		return err
	}
	_, err = d.log.Propose(ctx, driverlog.Command{
		Kind: driverlog.Application, Epoch: l.epoch, App: d.app, Time: int64(zero), Manifest: text,
	})
	return err
}

// restore makes the graph go on where the application was: inputs are told what they gave, and streams with state get the
// RDDs that were written.
func (d *durable) restore(c *Context, app driverlog.App, body *checkpointBody) error {
	r := dstream.Recovery{Zero: dstream.Time(app.Zero), Last: dstream.Time(app.Zero)}
	if ms, ok := app.LastTime(); ok {
		r.Last = dstream.Time(ms)
	}
	if body != nil {
		r.Streams = body.Streams
		if err := loadInputs(c.graph, body.Inputs); err != nil {
			return err
		}
	}
	r.Whole = len(app.Kept) == 0 && app.Oldest() == 0 || len(app.Kept) > 0 && app.Kept[0].ID == 0
	recorders := recordersOf(c.graph)
	for _, b := range slices.Concat(app.Kept, app.Open) {
		r.Times = append(r.Times, dstream.Time(b.Time))
		for _, in := range recorders {
			if err := replay(in, b, d.blobs); err != nil {
				return fmt.Errorf("input %s, batch %d ms: %w", in.name, b.Time, err)
			}
		}
	}
	return c.graph.Recover(r)
}

// loadInputs gives inputs back what they remembered.
func loadInputs(g *dstream.Graph, saved []savedInput) error {
	for _, in := range g.Inputs() {
		saver, ok := in.Input.(dstream.InputSaver)
		i := slices.IndexFunc(saved, func(s savedInput) bool { return s.Stream == in.ID })
		if !ok || i < 0 {
			continue
		}
		if err := apart(func() error { return saver.Load(saved[i].Data) }); err != nil {
			return fmt.Errorf("input %s: %w", in.Name, err)
		}
	}
	return nil
}

// replay tells an input what it recorded of a batch.
func replay(in recorder, b driverlog.Batch, blobs *blobs) error {
	var recorded []byte
	if i := slices.IndexFunc(b.Inputs, func(x driverlog.Input) bool { return int(x.Stream) == in.stream }); i >= 0 {
		var err error
		if recorded, err = recordedOf(b.Inputs[i].Data, blobs); err != nil {
			return err
		}
	}
	return apart(func() error { return in.input.Replay(dstream.Time(b.Time), recorded) })
}

// agree checks that no sink has committed what the driver log has not decided.
func (d *durable) agree(ctx context.Context, c *Context, app driverlog.App) error {
	prepared := app.Oldest() - 1
	for _, b := range app.Open {
		if b.Prepared != 0 {
			prepared = b.ID
		}
	}
	for _, output := range c.graph.SinkOutputs() {
		var mark sink.Mark
		if err := apart(func() (err error) {
			mark, err = c.graph.LastOf(ctx, d.app, output)
			return err
		}); err != nil {
			return fmt.Errorf("output %s: %w", output, err)
		}
		if mark.ID > prepared {
			return fmt.Errorf("output %s: %w: batch id %d is committed there, %d is the last one prepared here", output, ErrSinkAhead, mark.ID, prepared)
		}
	}
	return nil
}

// sweep removes folders of state that no checkpoint names: those of batches after it, which will be made again.
func (d *durable) sweep(root string, keep []string) error {
	entries, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if e.IsDir() && !slices.Contains(keep, e.Name()) {
			errs = append(errs, os.RemoveAll(filepath.Join(root, e.Name())))
		}
	}
	return errors.Join(errs...)
}
