package rdd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"
)

// A CheckpointStore keeps the files of durable checkpoints under names with slashes in them, in place of folders. A
// blobstore.Store is one.
//
// Methods may be called from any goroutine and may overlap.
type CheckpointStore interface {
	// Put makes name hold what write writes: whole and durable when it returns nil, or else not at all, for as far as can be known.
	// It calls write once, from the caller's goroutine.
	Put(ctx context.Context, name string, write func(w io.Writer) error) error
	// Open returns a reader of what a name holds, which the caller closes, and its size. A name that holds nothing is
	// fs.ErrNotExist.
	Open(ctx context.Context, name string) (io.ReadCloser, int64, error)
	// Remove removes names. One that holds nothing is no error.
	Remove(ctx context.Context, names ...string) error
}

// checkpointStore returns where the context's checkpoints are kept, nil for folders.
func (c *Context) checkpointStore() CheckpointStore { return c.opts.checkpointStore() }

func (o Options) checkpointStore() CheckpointStore {
	if !o.DurableCheckpoints {
		return nil
	}
	return o.CheckpointStore
}

// storedName is how a store knows a file.
func storedName(name string) string { return filepath.ToSlash(name) }

// openStored opens a file of a checkpoint: in the store, or where that is nil on disk.
func openStored(ctx context.Context, store CheckpointStore, name string) (io.ReadCloser, int64, error) {
	if store != nil {
		return store.Open(ctx, storedName(name))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// ownFolder returns the name of a folder in a store that no process gives again.
func ownFolder(parent, name string) string {
	return path.Join(storedName(parent), name+"-"+rand.Text())
}

// putPart writes the frames of a partition to a blob that no other attempt has.
func putPart(t *task, store CheckpointStore, dir string, part, parts int, compress bool, frames func(t *task, part int, put func([]byte, int) error) error) (checkpointPart, error) {
	p := checkpointPart{Name: fmt.Sprintf("part-%05d-task-%d-%s", part, t.env.Attempt().Task, rand.Text())}
	var computed error // of the records, which is not the store's
	err := store.Put(t.ctx, storedName(filepath.Join(dir, p.Name)), func(to io.Writer) error {
		w := &summed{to: to}
		err := fillPart(t, w, part, parts, compress, func(t *task, part int, put func([]byte, int) error) error {
			computed = frames(t, part, put)
			return computed
		})
		p.Size, p.Sum = w.size, w.sum
		return err
	})
	if err != nil && computed != nil {
		err = computed
	}
	return p, err
}

// manifestTries is how often a manifest is written to a store that fails: all parts are there by then.
const manifestTries = 3

// putManifest makes a manifest durable in a store. The name is this checkpoint's own, so writing it again does no harm.
func putManifest(ctx context.Context, store CheckpointStore, dir string, m *checkpointManifest) (err error) {
	data := m.encode()
	for range manifestTries {
		err = store.Put(ctx, storedName(manifestName(dir)), func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
		if err == nil || ctx.Err() != nil {
			break
		}
	}
	return err
}

// removeTimeout bounds the removal of what a job that failed, or was ended, has left in a store.
const removeTimeout = 10 * time.Second

// remove removes a checkpoint from its store: first the manifest, so that nobody takes what is left for a checkpoint.
func (f checkpointFiles) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, removeTimeout)
	defer cancel()
	if err := f.store.Remove(ctx, storedName(manifestName(f.dir))); err != nil {
		return err
	}
	var names []string
	for _, p := range f.manifest.parts {
		if p.Name != "" {
			names = append(names, storedName(filepath.Join(f.dir, p.Name)))
		}
	}
	return f.store.Remove(ctx, names...)
}

// openAtOnce bounds the requests for files of a checkpoint that is opened from a store.
const openAtOnce = 16

// atOnce calls check for 0 to n-1, some at a time, and returns the error of the first that has one.
func atOnce(n int, check func(i int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for w := range min(n, openAtOnce) {
		all.Go(func() {
			for i := w; i < n; i += openAtOnce {
				errs[i] = check(i)
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// VerifyStoredCheckpoint is VerifyCheckpoint for one in a store.
//
// Cost: one pass over the bytes.
// Errors: as VerifyCheckpoint, and those of the store.
func VerifyStoredCheckpoint(ctx context.Context, store CheckpointStore, dir, digest string) error {
	return checkpointFiles{store: store, dir: dir}.checked(ctx, digest)
}
