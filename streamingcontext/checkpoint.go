package streamingcontext

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler/driverlog"
)

// checkpointEvery is after how long without new files of state a checkpoint is written all the same, so that the driver log
// can forget the inputs of old batches.
const checkpointEvery = 10 * time.Second

// A checkpointer writes checkpoints after batches are committed, and removes what no checkpoint needs any more.
//
// A checkpoint says which files hold which state, as they are at that moment, and what inputs remember. The driver log holds
// the inputs of all batches since, and of those before that the streams need to make their RDDs again.
type checkpointer struct {
	c      *Context
	d      *durable
	l      *ledger
	plan   turn     // taken while inputs are asked and a batch is begun
	last   int64    // the batch of the last checkpoint
	files  []string // of state, in the last checkpoint, below the folder of the engine's checkpoints
	kept   []keptCheckpoint
	stale  []string     // of state, of checkpoints before those that are kept
	period int64        // batches between checkpoints at most
	known  dstream.Time // from it on the driver log knows every batch there was; 0: not told
}

// committed writes a checkpoint if one is due after batch b.
//
// Errors: what ends the context. A checkpoint that cannot be written is logged and tried again after the next batch.
func (p *checkpointer) committed(ctx context.Context, b *batch) error {
	streams, files := p.written()
	if slices.Equal(files, p.files) && b.id-p.last < p.period {
		return nil
	}
	needed := p.c.graph.OldestInput(b.time, streams)
	known := max(1, p.known, needed) // from the start on where nothing was forgotten
	state, err := p.d.log.State(ctx)
	if err != nil {
		return err
	}
	app := state.App(p.d.app)
	own := keptFrom(app, b.id, needed)
	if owed := p.l.owed; len(owed) > 0 { // it is called with the commit lock held
		own = max(app.Checkpoint.Keep, min(own, owed[0]))
	}
	manifest, err := p.write(ctx, b, streams, own, known)
	if err != nil {
		p.c.opts.Logger.Error("checkpoint is not written", "batch", int64(b.time), "err", err)
		return nil
	}
	kept := retained(append(slices.Clone(p.kept), keptCheckpoint{fileOf(manifest), b.id, own, files}), p.c.opts.KeepCheckpoints)
	keep := max(app.Checkpoint.Keep, keepFor(kept))
	if _, err := p.d.log.Propose(ctx, driverlog.Command{
		Kind: driverlog.Checkpointed, Epoch: p.l.epoch, App: p.d.app, Batch: b.id, Keep: keep, Manifest: manifest,
	}); err != nil {
		return fmt.Errorf("checkpoint of batch %s: %w", b.time, err)
	}
	p.stale = append(p.stale, dropped(p.kept, kept)...)
	p.kept = kept
	p.last, p.files, p.known = b.id, files, known
	if err := p.clean(ctx, app, keep); err != nil {
		p.c.opts.Logger.Warn("what no checkpoint needs is not removed", "batch", int64(b.time), "err", err)
	}
	return nil
}

// written returns the checkpointed RDDs of the streams, and the folders of them, and of those they build on, below that of the
// engine.
func (p *checkpointer) written() (streams []dstream.StreamCheckpoint, files []string) {
	streams = p.c.graph.Checkpoint()
	return streams, foldersOf(streams)
}

// write makes the checkpoint file.
func (p *checkpointer) write(ctx context.Context, b *batch, streams []dstream.StreamCheckpoint, keep int64, known dstream.Time) ([]byte, error) {
	body := checkpointBody{App: p.d.app, Batch: b.id, Time: int64(b.time), Keep: keep, Known: int64(known), Streams: streams}
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

// keptFrom returns the first batch whose inputs stay: of those from needed on, or the one after id.
func keptFrom(app driverlog.App, id int64, needed dstream.Time) int64 {
	for _, kept := range app.Kept {
		if kept.Time >= int64(needed) {
			return min(kept.ID, id+1)
		}
	}
	return id + 1
}

// clean removes files of state that are stale, checkpoints that are not kept, and blobs that nothing refers to.
func (p *checkpointer) clean(ctx context.Context, app driverlog.App, keep int64) error {
	var errs []error
	root := p.c.engine.rdds.Options().CheckpointDir
	for _, dir := range p.stale {
		errs = append(errs, os.RemoveAll(filepath.Join(root, filepath.FromSlash(dir))))
	}
	p.stale = nil
	errs = append(errs, p.c.blocks.clean(p.d.blocks, keptTime(app, keep)))
	folder := filepath.Join(p.d.dir, "checkpoints")
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
	entries, err := os.ReadDir(folder)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		name := e.Name()
		old := strings.HasPrefix(name, "checkpoint-") && !slices.ContainsFunc(p.kept, func(c keptCheckpoint) bool { return c.file == name })
		unused := strings.HasPrefix(name, "blob-") && !used[name]
		left := strings.HasPrefix(name, temporaryPrefix) // by a process that was killed
		if old || unused || left {
			if err := os.Remove(filepath.Join(folder, name)); !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
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
	if len(m) > 32 && m[0] >= stagedVersion {
		used[blobName(m[len(m)-32:])] = true
	}
}
