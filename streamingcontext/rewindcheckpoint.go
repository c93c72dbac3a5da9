package streamingcontext

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/boltlog"
	"github.com/leat-io/leat/streamingcontext/internal/protocol"
)

// A RewindPoint is a batch that a folder can be taken back to: it stays the last one that is done.
type RewindPoint struct {
	App   string
	Batch int64        // its id; -1 is before the first batch
	Time  dstream.Time // of it
	Again int          // batches that are run again
	File  string       // the checkpoint that they start from, below the folder; empty where they start from nothing
}

// RewindOptions say where to go back to, and where to put the result.
type RewindOptions struct {
	// To is the id of the last batch that stays done.
	To int64
	// Into is the folder to make; it must be empty or not there, and the folder itself stays as it is. Empty: the result takes the
	// place of the folder.
	Into string
}

// Validate returns an error naming the field that has no meaning.
func (o RewindOptions) Validate() error {
	if o.To < -1 {
		return fmt.Errorf("streaming context rewind options: To is %d", o.To)
	}
	return nil
}

// String returns both.
func (o RewindOptions) String() string { return fmt.Sprintf("to batch id %d, into %q", o.To, o.Into) }

// A RewindReport says what RewindCheckpoint has made.
type RewindReport struct {
	RewindPoint
	Dir string // the folder that a context goes on from
	Old string // where the folder is that it has replaced; empty with RewindOptions.Into
}

// RewindPoints returns the batches that a folder of GetOrCreate can be taken back to. A program may be using it meanwhile.
//
// Order: the newest first.
// Errors: those of the driver log, and of the file system; *FolderError where it is not of one application.
func RewindPoints(dir string) ([]RewindPoint, error) {
	w, err := openRewind(dir)
	if err != nil {
		return nil, fmt.Errorf("rewind points of %s: %w", dir, err)
	}
	var points []RewindPoint
	for id := min(w.app.Oldest()-1, w.app.Next-2); id >= -1; id-- {
		p, _, err := w.plan(id)
		if err != nil {
			break // those before it are forgotten, or too far away, too
		}
		points = append(points, p)
	}
	return points, nil
}

// RewindCheckpoint takes a folder of GetOrCreate back to an earlier batch. A context that goes on from it runs the batches after that
// one again, each with the input that it had, from the state that was there then; then it goes on with new ones.
//
// What sinks have committed, and what other outputs have done, is not taken back. A sink of SaveTo that has later batches is refused by
// Start with ErrSinkAhead: give the program new and empty outputs, which get the batches after the point, or take the outputs
// back to the point by their own means. What they have of batches up to it is not compared with the driver log. Outputs of ForeachRDD
// are run again.
//
// Nothing is removed: the folder as it was is kept beside, under the name in the report. It and the result must not go on with the same
// outputs. The result is made as CloneCheckpoint makes a copy. In between the two renames that put it in the place of the folder
// a machine that fails leaves nothing there, and both beside it.
//
// How far it goes back: to the oldest checkpoint that is kept, which Options.KeepCheckpoints says, to batches whose inputs are kept, and
// by 64 batches at most.
//
// Errors: *driverlog.RewindError saying what is in the way; *boltlog.LockedError naming the process that has the folder open;
// otherwise as CloneCheckpoint.
func RewindCheckpoint(dir string, o RewindOptions) (RewindReport, error) {
	if err := o.Validate(); err != nil {
		return RewindReport{}, err
	}
	r, err := rewind(dir, o)
	if err != nil {
		return RewindReport{}, fmt.Errorf("rewind checkpoint %s: %w", dir, err)
	}
	return r, nil
}

func rewind(dir string, o RewindOptions) (r RewindReport, err error) {
	dir = filepath.Clean(dir)
	r.Dir = filepath.Clean(o.Into)
	into := o.Into
	if o.Into == "" {
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			return r, err
		}
		if dir, err = filepath.Abs(dir); err != nil { // "." has no folder beside it
			return r, err
		}
		r.Dir = dir
		if into, err = os.MkdirTemp(filepath.Dir(dir), temporaryPrefix+filepath.Base(dir)+"-*"); err != nil {
			return r, err
		}
	}
	err = held(dir, func() error {
		w, err := openRewind(dir)
		if err != nil {
			return err
		}
		var body *checkpointBody
		if r.RewindPoint, body, err = w.plan(o.To); err != nil {
			return err
		}
		if _, err = copyCheckpoint(dir, into, func(copied string) error { return w.apply(copied, r.RewindPoint, body) }); err != nil || o.Into != "" {
			return err
		}
		if locksMove() {
			r.Old, err = exchange(dir, into)
		}
		return err
	})
	if err == nil && o.Into == "" && !locksMove() {
		r.Old, err = exchange(dir, into)
	}
	if err != nil && o.Into == "" {
		err = errors.Join(err, os.RemoveAll(into))
	}
	return r, err
}

// rewinding is a folder that is to be taken back.
type rewinding struct {
	durable
	state driverlog.State
	app   driverlog.App
	// usable are the checkpoints that can count again, the newest first. One without a body stands for none, where all inputs are kept.
	usable []storedCheckpoint
}

// openRewind reads what a folder has.
func openRewind(dir string) (*rewinding, error) {
	info, err := boltlog.Verify(filepath.Join(dir, "driver.db"))
	if err != nil {
		return nil, err
	}
	w := &rewinding{durable: *newDurable(dir, Options{}), state: info.State}
	for _, app := range info.State.Apps {
		switch {
		case !app.Registered:
		case w.app.Registered:
			return nil, &FolderError{Dir: dir, App: w.app.Name, Have: app.Name}
		default:
			w.app, w.durable.app = app, app.Name
		}
	}
	if !w.app.Registered {
		return nil, &FolderError{Dir: dir}
	}
	if w.app.Checkpoint.Index > 0 {
		body, err := w.readCheckpoint(w.app.Checkpoint.Manifest)
		if err != nil {
			return nil, err
		}
		w.usable = append(w.usable, storedCheckpoint{fileOf(w.app.Checkpoint.Manifest), body})
		for _, c := range w.checkpoints() {
			if c.body.App == w.app.Name && c.body.Batch < w.usable[len(w.usable)-1].body.Batch && c.body.Keep >= w.app.Checkpoint.Keep &&
				c.body.hasState(w.states(filepath.Join(dir, stateFolder))) {
				w.usable = append(w.usable, c)
			}
		}
	}
	if w.app.Checkpoint.Keep == 0 {
		w.usable = append(w.usable, storedCheckpoint{})
	}
	return w, nil
}

// plan returns the point of a batch, and the checkpoint that counts then, nil if none.
//
// Errors: *driverlog.RewindError; the point says even so how many batches follow.
func (w *rewinding) plan(to int64) (p RewindPoint, body *checkpointBody, err error) {
	p = RewindPoint{App: w.app.Name, Batch: to, Time: dstream.Time(w.app.Zero), Again: int(min(max(0, w.app.Next-1-to), 1<<30))}
	i := slices.IndexFunc(w.usable, func(c storedCheckpoint) bool { return c.body == nil || c.body.Batch <= to })
	if i < 0 {
		oldest := w.usable[len(w.usable)-1].body.Batch
		return p, nil, &driverlog.RewindError{App: w.app.Name, Batch: to, Reason: fmt.Sprintf("the state before batch id %d is gone, "+
			"streamingcontext.Options.KeepCheckpoints says how many checkpoints are kept", oldest)}
	}
	if body = w.usable[i].body; body != nil {
		p.File = "checkpoints/" + w.usable[i].file
	}
	if b, ok := w.app.Batch(to); ok {
		p.Time = dstream.Time(b.Time)
	}
	_, err = driverlog.Rewind(w.state, w.app.Name, to, w.checkpointOf(body, nil), nil)
	return p, body, err
}

// checkpointOf returns what the driver log says of a checkpoint.
func (w *rewinding) checkpointOf(body *checkpointBody, manifest []byte) driverlog.Checkpoint {
	if body == nil {
		return driverlog.Checkpoint{}
	}
	return driverlog.Checkpoint{Batch: body.Batch, Keep: w.app.Checkpoint.Keep, Index: w.app.Checkpoint.Index, Manifest: manifest}
}

// apply makes a copy of the folder one in which the point is the last batch that is done.
func (w *rewinding) apply(copied string, p RewindPoint, body *checkpointBody) error {
	d := newDurable(copied, Options{App: w.app.Name})
	owed, err := w.owedAt(p.Batch)
	if err != nil {
		return err
	}
	var last []byte
	if len(owed) > 0 {
		m := protocol.Manifest{Kind: protocol.Done, Owed: owed}
		last, _ = m.Append(nil, driverlog.MaxPayload) // so few ids need no blob
	}
	// Checkpoints that are newer would be taken for older ones of what comes.
	for _, c := range d.checkpoints() {
		if body == nil || c.body.Batch >= body.Batch {
			if err := os.Remove(filepath.Join(copied, "checkpoints", c.file)); err != nil {
				return err
			}
		}
	}
	var named []byte
	if body != nil {
		// State of later batches is made again, and may come out differently: the program may be another one then.
		for i, s := range body.Streams {
			body.Streams[i].Files = slices.DeleteFunc(s.Files, func(f dstream.CheckpointFile) bool { return f.Time > p.Time })
		}
		if named, err = d.writeCheckpoint(*body, w.state.Epoch); err != nil {
			return err
		}
	}
	state, err := driverlog.Rewind(w.state, w.app.Name, p.Batch, w.checkpointOf(body, named), last)
	if err != nil {
		return err
	}
	log := filepath.Join(copied, "driver.db")
	entries, err := os.ReadDir(copied)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "driver.db") {
			if err := os.Remove(filepath.Join(copied, e.Name())); err != nil {
				return err
			}
		}
	}
	return boltlog.Create(log, state)
}

// owedAt returns the batches up to one that were set aside and are still owed.
func (w *rewinding) owedAt(to int64) (ids []int64, err error) {
	owed, err := protocol.OwedBy(w.app)
	for _, b := range owed {
		if b.ID <= to {
			ids = append(ids, b.ID)
		}
	}
	return ids, err
}
