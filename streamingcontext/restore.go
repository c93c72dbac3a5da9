package streamingcontext

import (
	"errors"
	"fmt"
	"slices"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler/driverlog"
)

// restore makes the graph go on where the application was: inputs are told what they gave, and streams with state get the
// RDDs that were written.
func (d *durable) restore(c *Context, app driverlog.App, body *checkpointBody) error {
	r := dstream.Recovery{Zero: dstream.Time(app.Zero), Last: dstream.Time(app.Zero)}
	if ms, ok := app.LastTime(); ok {
		r.Last = dstream.Time(ms)
	}
	inputs, err := d.inputs(app)
	if err != nil {
		return err
	}
	if body != nil {
		r.Streams, inputs = body.Streams, body.Inputs
	}
	if err := loadInputs(c.graph, inputs); err != nil {
		return err
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
	before := dstream.Time(0)
	switch interval := dstream.Time(c.Interval().Milliseconds()); {
	case r.Whole:
		before = r.Zero
	case body != nil && body.Known != 0:
		before = max(r.Zero, dstream.Time(body.Known)-interval)
	case len(r.Times) > 0:
		before = r.Times[0]
	}
	for _, t := range r.Times {
		r.Gaps = append(r.Gaps, dstream.Gap{After: before, Before: t})
		before = t
	}
	return c.graph.Recover(r)
}

// saveInputs returns what inputs remember.
func saveInputs(g *dstream.Graph) (saved []savedInput, err error) {
	for _, in := range g.Inputs() {
		saver, ok := in.Input.(dstream.InputSaver)
		if !ok {
			continue
		}
		var data []byte
		if err := apart(func() (err error) {
			data, err = saver.Save()
			return err
		}); err != nil {
			return nil, fmt.Errorf("%s: %w", in.Name, err)
		}
		saved = append(saved, savedInput{in.ID, in.Name, data})
	}
	return saved, nil
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

// sweep removes folders of state that no checkpoint names: those of batches after it, which will be made again. In a store, which
// drivers on other machines may use, they are returned instead: they may go once a command of this term is accepted. What was
// listed before is of no later term then.
func (d *durable) sweep(root string, keep []string) (later []string, err error) {
	in := d.states(root)
	folders, err := in.folders()
	if err != nil {
		return nil, err
	}
	folders = slices.DeleteFunc(folders, func(name string) bool { return slices.Contains(keep, name) })
	if d.store != nil {
		return folders, nil
	}
	var errs []error
	for _, name := range folders {
		errs = append(errs, in.removeFolder(name))
	}
	return nil, errors.Join(errs...)
}
