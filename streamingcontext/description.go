package streamingcontext

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler/driverlog"
)

// description is how an application is described in the driver log.
type description struct {
	// Version is 1 where the nodes say what they keep. Without it only the same program goes on.
	Version     int
	Fingerprint string
	Nodes       []dstream.NodeInfo // nil where they are too many
	// Inputs is what inputs remembered before the first batch, as when the program was started: what goes on without a
	// checkpoint goes by it. InputsIn refers to a blob with it where that is long.
	Inputs   []savedInput `json:",omitempty"`
	InputsIn []byte       `json:",omitempty"`
}

// maxInputs is how long what inputs remember may be in a description.
const maxInputs = 64 << 10

// inputs returns what inputs remembered before the first batch.
func (d *durable) inputs(app driverlog.App) ([]savedInput, error) {
	var was description
	if err := json.Unmarshal(app.Description, &was); err != nil {
		return nil, fmt.Errorf("%w: description of application %s: %w", ErrDamaged, d.app, err)
	}
	if was.InputsIn == nil {
		return was.Inputs, nil
	}
	text, err := d.blobs.read(was.InputsIn)
	if err != nil {
		return nil, err
	}
	var inputs []savedInput
	if err := json.Unmarshal(text, &inputs); err != nil {
		return nil, fmt.Errorf("%w: what inputs remembered before the first batch: %w", ErrDamaged, err)
	}
	return inputs, nil
}

// inputsBlob returns the reference to what inputs remembered before the first batch, nil if it is in no blob.
func inputsBlob(app driverlog.App) []byte {
	if !bytes.Contains(app.Description, []byte(`"InputsIn"`)) {
		return nil
	}
	var was description
	if json.Unmarshal(app.Description, &was) != nil {
		return nil // whoever reads it says so
	}
	return was.InputsIn
}

const descriptionVersion = 1

// describe encodes what an application is, for the driver log: its nodes, or their digest where they are too many, and what its
// inputs remembered before the first batch.
func describe(g *dstream.Graph, inputs []savedInput, blobs *blobs) ([]byte, error) {
	d := description{Version: descriptionVersion, Fingerprint: g.Fingerprint(), Nodes: g.Nodes(), Inputs: inputs}
	if saved, err := json.Marshal(inputs); err != nil {
		return nil, err
	} else if len(saved) > maxInputs {
		if d.InputsIn, err = blobs.write(saved); err != nil {
			return nil, err
		}
		d.Inputs = nil
	}
	text, err := json.Marshal(d)
	if err != nil || len(text) <= driverlog.MaxPayload {
		return text, err
	}
	d.Nodes = nil
	return json.Marshal(d)
}

// changes returns what has changed in a graph since an application was registered with it, and goes on all the same.
//
// Errors: *dstream.ChangedError if it cannot go on.
func (d *durable) changes(app driverlog.App, g *dstream.Graph) (notes []string, err error) {
	return d.changed(app, programOf(g))
}

// A program is what makes a graph the one that it is.
type program struct {
	fingerprint string
	nodes       []dstream.NodeInfo
}

func programOf(g *dstream.Graph) program { return program{g.Fingerprint(), g.Nodes()} }

// changed is changes for a program.
func (d *durable) changed(app driverlog.App, now program) (notes []string, err error) {
	var was description
	if err := json.Unmarshal(app.Description, &was); err != nil {
		return nil, fmt.Errorf("%w: description of application %s: %w", ErrDamaged, d.app, err)
	}
	if was.Fingerprint == now.fingerprint {
		return nil, nil
	}
	switch {
	case was.Version > descriptionVersion:
		return nil, fmt.Errorf("%w: it is described in version %d, this build knows %d", dstream.ErrChanged, was.Version, descriptionVersion)
	case was.Nodes == nil:
	case was.Version == descriptionVersion:
		return dstream.NodeChanges(was.Nodes, now.nodes)
	default:
		if err := dstream.DiffNodes(was.Nodes, now.nodes); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: the graph has fingerprint %s, it had %s", dstream.ErrChanged, now.fingerprint, was.Fingerprint)
}

// register enters a new application in the driver log.
func (d *durable) register(ctx context.Context, c *Context, l *ledger, zero dstream.Time) error {
	inputs, err := saveInputs(c.graph)
	if err != nil {
		return err
	}
	return d.enter(ctx, c, l, zero, inputs)
}

// enter enters what the program is.
func (d *durable) enter(ctx context.Context, c *Context, l *ledger, zero dstream.Time, inputs []savedInput) error {
	text, err := describe(c.graph, inputs, d.blobs)
	if err != nil {
		return err
	}
	_, err = d.log.Propose(ctx, driverlog.Command{
		Kind: driverlog.Application, Epoch: l.epoch, App: d.app, Time: int64(zero), Manifest: text,
	})
	return err
}

// registerAgain enters what the program is now, if that has changed.
func (d *durable) registerAgain(ctx context.Context, c *Context, l *ledger, app driverlog.App) error {
	notes, err := d.changes(app, c.graph)
	if err != nil || len(notes) == 0 {
		return err
	}
	for _, note := range notes {
		c.opts.Logger.Warn("the program has changed, it goes on all the same", "app", d.app, "change", note)
	}
	inputs, err := d.inputs(app)
	if err != nil {
		return err
	}
	return d.enter(ctx, c, l, dstream.Time(app.Zero), inputs)
}

// A FolderError says that a folder holds what another application, or an earlier driver log, has left.
type FolderError struct {
	Dir  string
	App  string // that was to go on
	Have string // the application that the folder is of, empty if the driver log knows none
}

// Error returns the folder and whose it is.
func (e *FolderError) Error() string {
	if e.Have == "" {
		return fmt.Sprintf("%s has checkpoints, and its driver log does not know application %q: the log is gone or another's", e.Dir, e.App)
	}
	return fmt.Sprintf("%s is of application %q, not of %q", e.Dir, e.Have, e.App)
}

// fresh checks that a folder, whose log does not know the application, holds nothing of value.
func (d *durable) fresh(state driverlog.State) error {
	if d.ownLog {
		for _, other := range state.Apps {
			if other.Registered {
				return &FolderError{Dir: d.dir, App: d.app, Have: other.Name}
			}
		}
	}
	names, err := d.storage.files(checkpointsFolder)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "checkpoint-") }) {
		return &FolderError{Dir: d.place(), App: d.app}
	}
	return nil
}
