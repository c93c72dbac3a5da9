package streamingcontext

import (
	"crypto/sha256"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler/driverlog"
)

// A keptCheckpoint is one that a context could go on from: the one that counts, which is the newest, and with
// Options.KeepCheckpoints some before it, for those who rewind.
type keptCheckpoint struct {
	file  string // its name
	batch int64
	keep  int64    // the first batch whose inputs it needs
	files []string // of state
}

// fileOf returns the name of the checkpoint file in what the driver log is told.
func fileOf(manifest []byte) string { return string(manifest[min(sha256.Size, len(manifest)):]) }

// retained returns the last n of the checkpoints, oldest first.
func retained(all []keptCheckpoint, n int) []keptCheckpoint { return all[max(0, len(all)-n):] }

// keepFor returns the first batch whose inputs the checkpoints need, and those who go back to them.
func keepFor(kept []keptCheckpoint) int64 {
	newest := len(kept) - 1
	keep := kept[newest].keep
	for _, c := range kept[:newest] {
		keep = min(keep, c.keep, c.batch) // what is known of the batch itself, too: it may be the last that stays
	}
	return keep
}

// filesOf returns the files of state that any of the checkpoints names.
func filesOf(kept []keptCheckpoint) (files []string) {
	for _, c := range kept {
		files = append(files, c.files...)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// dropped returns the files of state that old ones name, and new ones do not.
func dropped(old, now []keptCheckpoint) (files []string) {
	used := filesOf(now)
	for _, f := range filesOf(old) {
		if _, found := slices.BinarySearch(used, f); !found {
			files = append(files, f)
		}
	}
	return files
}

// keptCheckpoints returns the checkpoints that an earlier process has kept, n at most: the one that counts, whose files of state are
// given, and those before it whose inputs are all still in the driver log, and whose state is below root.
func (d *durable) keptCheckpoints(app driverlog.App, root string, counts *checkpointBody, files []string, n int) []keptCheckpoint {
	kept := []keptCheckpoint{{fileOf(app.Checkpoint.Manifest), counts.Batch, max(counts.Keep, app.Checkpoint.Keep), files}}
	for _, c := range d.checkpoints() {
		if len(kept) < n && c.body.App == d.app && c.body.Batch < kept[len(kept)-1].batch && c.body.Keep >= app.Checkpoint.Keep && c.body.hasState(d.states(root)) {
			kept = append(kept, keptCheckpoint{c.file, c.body.Batch, c.body.Keep, c.body.files()})
		}
	}
	slices.Reverse(kept)
	return kept
}

// hasState reports whether the files of state are there. Those of a checkpoint that was never named in the driver log
// may be gone.
func (b *checkpointBody) hasState(in storage) bool {
	return !slices.ContainsFunc(b.files(), func(dir string) bool { return !in.has(filepath.ToSlash(dir)) })
}

// A storedCheckpoint is a file in the folder.
type storedCheckpoint struct {
	file string
	body *checkpointBody
}

// checkpoints returns the checkpoint files that are whole, the newest first. Of others there is nothing to be had.
func (d *durable) checkpoints() (all []storedCheckpoint) {
	names, err := d.storage.files(checkpointsFolder)
	if err != nil {
		return nil
	}
	for _, name := range names {
		if !strings.HasPrefix(name, "checkpoint-") {
			continue
		}
		in := checkpointsFolder + "/" + name
		data, err := d.storage.read(in, maxCheckpoint)
		if err != nil {
			continue
		}
		if body, err := decodeCheckpoint(d.storage.path(in), data); err == nil {
			all = append(all, storedCheckpoint{name, body})
		}
	}
	slices.Reverse(all)
	return all
}

// files returns the folders of state that a checkpoint needs, those that others build on too, each once.
func (b *checkpointBody) files() []string { return foldersOf(b.Streams) }

// foldersOf returns the folders of checkpointed RDDs, and of those they build on, each once.
func foldersOf(streams []dstream.StreamCheckpoint) (folders []string) {
	known := map[string]bool{}
	for _, s := range streams {
		for _, f := range s.Files {
			for _, in := range f.Folders() {
				if !known[in.Dir] {
					known[in.Dir] = true
					folders = append(folders, in.Dir)
				}
			}
		}
	}
	return folders
}
