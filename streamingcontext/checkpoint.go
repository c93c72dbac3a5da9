package streamingcontext

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/streamingcontext/internal/protocol"
)

// checkpointEvery is after how long without new files of state a checkpoint is written all the same, so that the driver log
// can forget the inputs of old batches.
const checkpointEvery = 10 * time.Second

// A checkpointer writes checkpoints after batches are committed, and removes what no checkpoint needs any more.
//
// A checkpoint says which files hold which state, as they are at that moment, and what inputs remember. The driver log holds
// the inputs of all batches since, and of those before that the streams need to make their RDDs again.
type checkpointer struct {
	c     *Context
	d     *durable
	l     *ledger
	plan  turn         // taken while inputs are asked and a batch is begun
	files []string     // of state, in the last checkpoint, below the folder of the engine's checkpoints
	known dstream.Time // from it on the driver log knows every batch there was; 0: not told
	kept  []keptCheckpoint
	stale []string // of state, that none of those names which are kept; removed when the next checkpoint counts

	// Of the checkpoint that is written and does not count yet.
	writing writtenCheckpoint
}

// A writtenCheckpoint is one whose file is there.
type writtenCheckpoint struct {
	app   driverlog.App // what the log knew of the application
	files []string      // of state
	known dstream.Time
	kept  []keptCheckpoint // with those before it that stay
}

// changed reports whether streams have written state since the last checkpoint.
func (p *checkpointer) changed() bool {
	_, files := p.written()
	return !slices.Equal(files, p.files)
}

// write writes a checkpoint after batch b. One that cannot be written is logged and tried again after the next batch.
func (p *checkpointer) write(ctx context.Context, b protocol.Batch) protocol.Answer {
	streams, files := p.written()
	app, err := p.l.state(ctx)
	if err != nil {
		return protocol.Answer{Err: err}
	}
	needed := p.c.graph.OldestInput(dstream.Time(b.Time), streams)
	known := max(1, p.known, needed) // from the start on where nothing was forgotten
	own := p.l.keep(&app, b.ID, needed)
	manifest, err := p.writeFile(ctx, checkpointBody{
		App: p.d.app, Batch: b.ID, Time: b.Time, Keep: own, Known: int64(known), Streams: streams,
	})
	if err != nil {
		p.c.opts.Logger.Error("checkpoint is not written", "batch", b.Time, "err", err)
		return protocol.Answer{Err: err, Again: true}
	}
	kept := retained(append(slices.Clone(p.kept), keptCheckpoint{fileOf(manifest), b.ID, own, files}), p.c.opts.KeepCheckpoints)
	p.writing = writtenCheckpoint{app, files, known, kept}
	return protocol.Answer{Data: manifest, App: &p.writing.app, Keep: keepFor(kept)}
}

// wrote says that the checkpoint that was written last counts, and removes what it makes superfluous.
func (p *checkpointer) wrote(ctx context.Context, b protocol.Batch, keep int64) {
	p.stale = append(p.stale, dropped(p.kept, p.writing.kept)...)
	p.files, p.known, p.kept = p.writing.files, p.writing.known, p.writing.kept
	if err := p.clean(ctx, p.writing.app, keep); err != nil {
		p.c.opts.Logger.Warn("what no checkpoint needs is not removed", "batch", b.Time, "err", err)
	}
}

// written returns the checkpointed RDDs of the streams, and the folders of them, and of those they build on, below that of the
// engine.
func (p *checkpointer) written() (streams []dstream.StreamCheckpoint, files []string) {
	streams = p.c.graph.Checkpoint()
	return streams, foldersOf(streams)
}

// writeFile makes the checkpoint file of body, with what inputs remember.
func (p *checkpointer) writeFile(ctx context.Context, body checkpointBody) ([]byte, error) {
	if err := p.plan.take(ctx); err != nil {
		return nil, err
	}
	defer p.plan.give()
	var err error
	if body.Inputs, err = saveInputs(p.c.graph); err != nil {
		return nil, err
	}
	return p.d.writeCheckpoint(body, p.l.epoch)
}

// clean removes files of state that are stale, checkpoints that are not kept, and blobs that nothing refers to.
func (p *checkpointer) clean(ctx context.Context, app driverlog.App, keep int64) error {
	var errs []error
	root := p.c.engine.rdds.Options().CheckpointDir
	for _, dir := range p.stale {
		errs = append(errs, p.d.states(root).removeFolder(filepath.ToSlash(dir)))
	}
	p.stale = nil
	errs = append(errs, p.c.blocks.clean(p.d.blocks, keptTime(app, keep)))
	// A blob is there before the log refers to it: no batch may be between the two, and all that are behind them must be known.
	if err := p.plan.take(ctx); err != nil {
		return errors.Join(append(errs, err)...)
	}
	defer p.plan.give()
	state, err := p.d.log.State(ctx)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	used := referred(state.App(p.d.app), keep)
	names, err := p.d.storage.files(checkpointsFolder)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	var superfluous []string
	for _, name := range names {
		old := strings.HasPrefix(name, "checkpoint-") && !slices.ContainsFunc(p.kept, func(c keptCheckpoint) bool { return c.file == name })
		unused := strings.HasPrefix(name, "blob-") && !used[blobOf(name)]
		left := strings.HasPrefix(name, temporaryPrefix) // by a process that was killed
		if (old || unused || left) && p.d.mayRemove(name, p.l.epoch) {
			superfluous = append(superfluous, checkpointsFolder+"/"+name)
		}
	}
	if len(superfluous) > 0 {
		errs = append(errs, p.d.storage.remove(superfluous...))
	}
	return errors.Join(errs...)
}

// keptTime returns the time of batch keep, or one after all batches.
func keptTime(app driverlog.App, keep int64) dstream.Time {
	if b, ok := app.Batch(keep); ok {
		return dstream.Time(b.Time)
	}
	last, _ := app.LastTime()
	return dstream.Time(last + 1)
}

// referred returns the names of the blobs that the driver log refers to in batches from keep on.
func referred(app driverlog.App, keep int64) map[string]bool {
	used := map[string]bool{}
	for _, b := range slices.Concat(app.Kept, app.Open) {
		if b.ID < keep {
			continue
		}
		for _, in := range b.Inputs {
			if len(in.Data) > 2 && in.Data[1] == inputInBlob {
				used[blobName(in.Data[2:])] = true
			}
		}
		byManifest(b.Manifest, used)
	}
	byManifest(app.Last.Manifest, used) // says what sinks must have
	if ref := inputsBlob(app); ref != nil {
		used[blobName(ref)] = true
	}
	return used
}

// byManifest adds the blob that a manifest refers to: one in a blob ends with the reference.
func byManifest(m []byte, used map[string]bool) {
	if len(m) > protocol.ReferenceSize && m[0] > 1 {
		used[blobName(m[len(m)-protocol.ReferenceSize:])] = true
	}
}
