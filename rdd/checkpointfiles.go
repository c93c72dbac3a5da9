package rdd

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/leat-io/leat/rdd/codec"
)

// checkpointFiles is where a written checkpoint is.
type checkpointFiles struct {
	store    CheckpointStore // nil: on disk
	dir      string
	manifest *checkpointManifest // nil where none was written
	before   []checkpointFiles   // the folders it builds on, the newest first; those have none in turn
}

// openCheckpoint finds out what a folder holds: by its manifest, or where it has none by its parts. With a digest it must
// have that very manifest. The folders it builds on are opened too.
func openCheckpoint(ctx context.Context, store CheckpointStore, dir, digest string) (checkpointFiles, error) {
	f := checkpointFiles{store: store, dir: dir}
	m, err := readManifest(ctx, store, dir)
	switch {
	case err == nil:
		if err = m.is(dir, digest); err == nil {
			f.manifest = m
			err = f.open(ctx)
		}
	case store == nil && digest == "" && errors.Is(err, fs.ErrNotExist):
		_, err = countParts(dir)
	}
	return f, err
}

// open reads the manifests of the folders before, and checks that all files are there, with their lengths, and that they hold
// all entries.
func (f *checkpointFiles) open(ctx context.Context) error {
	for _, since := range f.manifest.since {
		older := checkpointFiles{store: f.store, dir: filepath.Join(filepath.Dir(f.dir), since.Dir)}
		var err error
		if older.manifest, err = readManifest(ctx, f.store, older.dir); err == nil {
			err = older.manifest.is(older.dir, since.Digest)
		}
		if err == nil && (!older.manifest.changes || len(older.manifest.parts) != len(f.manifest.parts)) {
			err = fmt.Errorf("checkpoint %s: %w", manifestName(older.dir), &codec.CorruptError{Reason: "it cannot be what " + manifestName(f.dir) + " builds on"})
		}
		if err != nil {
			return fmt.Errorf("checkpoint %s builds on %s: %w", f.dir, since.Dir, err)
		}
		f.before = append(f.before, older)
	}
	for i, p := range f.manifest.parts {
		if back, ok := codec.Reach(f.spans(i)[:p.Back+1]); f.manifest.changes && (!ok || back != p.Back) {
			return fmt.Errorf("checkpoint %s: %w", manifestName(f.dir), &codec.CorruptError{Reason: fmt.Sprintf("part %d does not hold all entries", i)})
		}
	}
	return f.each(ctx, checkpointPart.stat)
}

// each calls check with every file that is needed.
func (f checkpointFiles) each(ctx context.Context, check func(p checkpointPart, ctx context.Context, store CheckpointStore, name string) error) error {
	type file struct {
		name string
		part *checkpointPart
	}
	var files []file
	for i, p := range f.manifest.parts {
		for back := range p.Back + 1 {
			name, p := f.at(back).part(i)
			files = append(files, file{name, p})
		}
	}
	one := func(i int) error { return check(*files[i].part, ctx, f.store, files[i].name) }
	if f.store != nil {
		return atOnce(len(files), one) // each is a request
	}
	for i := range files {
		if err := one(i); err != nil {
			return err
		}
	}
	return nil
}

// at returns the folder so many before.
func (f checkpointFiles) at(back int) checkpointFiles {
	if back == 0 {
		return f
	}
	return f.before[back-1]
}

// spans returns what the files of a part hold, the newest first.
func (f checkpointFiles) spans(part int) []codec.Span {
	spans := make([]codec.Span, 0, 1+len(f.before))
	for back := range 1 + len(f.before) {
		spans = append(spans, f.at(back).manifest.parts[part].Span)
	}
	return spans
}

// count returns how many parts a checkpoint has.
func (f checkpointFiles) count() (int, error) {
	if f.manifest != nil {
		return len(f.manifest.parts), nil
	}
	return countParts(f.dir)
}

// placed returns the partitioner that lies beside so many parts, nil if there is none or it cannot be read.
func (f checkpointFiles) placed(parts int) AnyPartitioner {
	var p AnyPartitioner
	if f.manifest != nil {
		p = decodePartitioner(f.manifest.partitioner)
	} else {
		p = loadPartitioner(f.dir)
	}
	if p == nil || p.NumPartitions() != parts {
		return nil
	}
	return p
}

// part returns the file of a part, and what the manifest says of it, nil where there is none.
func (f checkpointFiles) part(i int) (string, *checkpointPart) {
	if f.manifest == nil {
		return partName(f.dir, i), nil
	}
	p := &f.manifest.parts[i]
	return filepath.Join(f.dir, p.Name), p
}

// VerifyCheckpoint reads all files of a checkpoint that was written under Options.DurableCheckpoints, also those that it needs of the
// folders it builds on, and compares them with the manifests. The digest is that of RDD.CheckpointFolder; an empty one accepts any
// manifest that is whole.
//
// Cost: one pass over the bytes, which are not decoded.
// Errors: fs.ErrNotExist for a file, or a manifest, that is missing; codec.ErrCorrupt for one that differs. Both name the file.
func VerifyCheckpoint(dir, digest string) error {
	return checkpointFiles{dir: dir}.checked(context.Background(), digest)
}

func (f checkpointFiles) checked(ctx context.Context, digest string) (err error) {
	if f.manifest, err = readManifest(ctx, f.store, f.dir); err == nil {
		err = f.manifest.is(f.dir, digest)
	}
	if err == nil {
		err = f.open(ctx)
	}
	if err == nil {
		err = f.each(ctx, checkpointPart.verify)
	}
	return err
}

func (p checkpointPart) stat(ctx context.Context, store CheckpointStore, name string) error {
	var size int64
	if store == nil {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		size = info.Size()
	} else {
		f, n, err := store.Open(ctx, storedName(name))
		if err != nil {
			return err
		}
		size = n
		_ = f.Close() // nothing was read
	}
	if size != p.Size {
		return fmt.Errorf("checkpoint %s: %w", name, &codec.CorruptError{Reason: fmt.Sprintf("it has %d bytes, %d were written", size, p.Size)})
	}
	return nil
}

func (p checkpointPart) verify(ctx context.Context, store CheckpointStore, name string) error {
	f, _, err := openStored(ctx, store, name)
	if err != nil {
		return err
	}
	defer f.Close()
	h := crc32.NewIEEE()
	if _, err := io.Copy(h, f); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if h.Sum32() != p.Sum {
		return fmt.Errorf("checkpoint %s: %w", name, errOtherFile)
	}
	return nil
}

var errOtherFile = &codec.CorruptError{Reason: "it is not the file that was written: its checksum differs"}
