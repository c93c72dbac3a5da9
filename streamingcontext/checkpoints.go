package streamingcontext

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/boltlog"
)

// CheckpointInfo is one checkpoint in a folder of GetOrCreate.
type CheckpointInfo struct {
	File    string // below the folder
	App     string
	Batch   int64          // the last batch that it holds
	Time    dstream.Time   // of that batch
	Files   int            // RDDs of streams with state that it names
	Counts  bool           // it is the one that a context would go on from
	Pending []dstream.Time // batches that are begun and not committed, of the one that counts
	Damage  string         // what is wrong with the file, empty if nothing
}

// Checkpoints returns the checkpoints in a folder that GetOrCreate was given, the newest first. A program may be using it
// meanwhile.
//
// Errors: those of the driver log, and of the file system. A checkpoint that is damaged is listed.
func Checkpoints(dir string) ([]CheckpointInfo, error) {
	info, err := boltlog.Verify(filepath.Join(dir, "driver.db"))
	if err != nil {
		return nil, err
	}
	return newDurable(dir, Options{}).list(context.Background(), info.State)
}

// StoredCheckpoints is Checkpoints for what a context keeps in a store, see Options.Store. state is that of its driver log.
//
// Errors: those of the store. A checkpoint that is damaged, or removed meanwhile, is listed.
func StoredCheckpoints(ctx context.Context, store blobstore.Store, state driverlog.State) ([]CheckpointInfo, error) {
	return newDurable("", Options{Store: store}).list(ctx, state)
}

// list returns the checkpoints, the newest first.
func (d *durable) list(ctx context.Context, state driverlog.State) (all []CheckpointInfo, err error) {
	names, err := d.storage.files(checkpointsFolder)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, "checkpoint-") {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		info := CheckpointInfo{File: checkpointsFolder + "/" + name}
		data, err := d.storage.read(info.File, maxCheckpoint)
		if err == nil {
			var body *checkpointBody
			if body, err = decodeCheckpoint(d.storage.path(info.File), data); err == nil {
				info.App, info.Batch, info.Time = body.App, body.Batch, dstream.Time(body.Time)
				for _, s := range body.Streams {
					info.Files += len(s.Files)
				}
			}
		}
		if err != nil {
			info.Damage = err.Error()
		}
		for _, app := range state.Apps {
			if app.Checkpoint.Index != 0 && strings.HasSuffix(string(app.Checkpoint.Manifest), name) {
				info.Counts = true
				for _, b := range app.Open {
					info.Pending = append(info.Pending, dstream.Time(b.Time))
				}
			}
		}
		all = append(all, info)
	}
	slices.Reverse(all) // names are in the order of the batches
	return all, nil
}

// CheckpointReport is what VerifyCheckpoint looked at.
type CheckpointReport struct {
	Entries     int // of the driver log, behind its snapshot
	Apps        int // applications in it
	Checkpoints int // that count
	Folders     int // of state, that they name or build on
	Blobs       int // that the log refers to
}

// String returns the counts.
func (r CheckpointReport) String() string {
	return fmt.Sprintf("%d log entries, %d applications, %d checkpoints, %d folders of state, %d blobs",
		r.Entries, r.Apps, r.Checkpoints, r.Folders, r.Blobs)
}

// VerifyCheckpoint checks what a context would go on from: the driver log, the checkpoint that counts, and the files of
// state that it names. Blocks of receivers are checked when they are read. A program may be using the folder meanwhile; what it removes during the
// call may be reported as missing.
//
// Errors: all that is damaged or missing, joined, each with the file's name.
func VerifyCheckpoint(dir string) (CheckpointReport, error) {
	var r CheckpointReport
	info, err := boltlog.Verify(filepath.Join(dir, "driver.db"))
	if err != nil {
		return r, err
	}
	r.Entries, r.Apps = info.Entries, len(info.State.Apps)
	d := newDurable(dir, Options{})
	var errs []error
	for _, app := range info.State.Apps {
		errs = append(errs, d.verify(context.Background(), app, &r)...)
	}
	return r, errors.Join(errs...)
}

// VerifyStored is VerifyCheckpoint for what a context keeps in a store, see Options.Store. state is that of its driver log,
// whose entries are not checked.
//
// Errors: as VerifyCheckpoint, and those of the store.
func VerifyStored(ctx context.Context, store blobstore.Store, state driverlog.State) (CheckpointReport, error) {
	r := CheckpointReport{Apps: len(state.Apps)}
	d := newDurable("", Options{Store: store})
	var errs []error
	for _, app := range state.Apps {
		errs = append(errs, d.verify(ctx, app, &r)...)
	}
	return r, errors.Join(errs...)
}

// verify checks what recovery needs of an application.
func (d *durable) verify(ctx context.Context, app driverlog.App, r *CheckpointReport) (errs []error) {
	for _, b := range slices.Concat(app.Kept, app.Open) {
		for _, in := range b.Inputs {
			if len(in.Data) > 2 && in.Data[1] == inputInBlob {
				r.Blobs++
				_, err := d.blobs.read(in.Data[2:])
				errs = append(errs, err)
			}
		}
		if b.Prepared != 0 && len(b.Manifest) > 0 {
			_, _, err := stagedOf(b.Manifest, d.blobs.read)
			errs = append(errs, err)
		}
	}
	if _, err := marksOf(app.Last, d.blobs.read); err != nil {
		errs = append(errs, err)
	}
	if app.Checkpoint.Index == 0 {
		return errs
	}
	body, err := d.readCheckpoint(app.Checkpoint.Manifest)
	if err != nil {
		return append(errs, err)
	}
	r.Checkpoints++
	counted, said := map[string]bool{}, map[string]bool{}
	for _, s := range body.Streams {
		for _, f := range s.Files {
			for _, in := range f.Folders() {
				if !counted[in.Dir] {
					counted[in.Dir] = true
					r.Folders++
				}
			}
			// What several build on is wrong once.
			if err := d.verifyState(ctx, f); err != nil && !said[err.Error()] {
				said[err.Error()] = true
				errs = append(errs, err)
			}
		}
	}
	return errs
}

// verifyState checks the files of state in a folder, and those that they build on.
func (d *durable) verifyState(ctx context.Context, f dstream.CheckpointFile) error {
	if d.store != nil {
		return rdd.VerifyStoredCheckpoint(ctx, d.store, stateFolder+"/"+filepath.ToSlash(f.Dir), f.Digest)
	}
	return rdd.VerifyCheckpoint(filepath.Join(d.dir, stateFolder, filepath.FromSlash(f.Dir)), f.Digest)
}
