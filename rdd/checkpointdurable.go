package rdd

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// writeDurably writes all partitions, and then the manifest that says which files count.
func (b *base) writeDurably(ctx context.Context, m *mark, dir string, parts int) (*checkpointFiles, error) {
	store := b.home.opts.checkpointStore()
	files := &checkpointFiles{store: store, dir: dir, manifest: &checkpointManifest{parts: make([]checkpointPart, parts)}}
	manifest, compress := files.manifest, !b.home.opts.PlainCheckpoints
	write := func(t *task, part int) (checkpointPart, error) {
		return writeOwnPart(t, store, dir, part, parts, compress, m.frames)
	}
	if m.changes != nil {
		before := m.changes.before(dir, parts)
		manifest.changes = true
		files.before = before
		write = func(t *task, part int) (checkpointPart, error) {
			return m.changes.writePart(t, store, dir, part, parts, compress, before)
		}
	}
	err := runMarkedRows(ctx, b, "checkpoint", allParts(parts), write, func(i int, p checkpointPart) { manifest.parts[i] = p })
	if err == nil {
		files.trim()
		manifest.partitioner, err = encodePartitioner(b.partitioner)
	}
	if store != nil {
		if err == nil {
			err = putManifest(ctx, store, dir, manifest)
		}
		if err != nil {
			_ = files.remove(context.WithoutCancel(ctx)) // what is left of it is only room taken
		}
		return files, err
	}
	if err == nil {
		err = manifest.sweep(dir)
	}
	if err != nil {
		return nil, err
	}
	return files, writeManifest(dir, manifest)
}

// writeOwnPart writes the frames of a partition to a file that no other attempt has.
func writeOwnPart(t *task, store CheckpointStore, dir string, part, parts int, compress bool, frames func(t *task, part int, put func([]byte, int) error) error) (checkpointPart, error) {
	if store != nil {
		return putPart(t, store, dir, part, parts, compress, frames)
	}
	f, err := os.CreateTemp(dir, fmt.Sprintf("part-%05d-task-%d-*", part, t.env.Attempt().Task))
	if err != nil {
		return checkpointPart{}, err
	}
	w := &summed{to: f}
	err = fillPart(t, w, part, parts, compress, frames)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name()) // what stays of it is not in the manifest
		return checkpointPart{}, err
	}
	return checkpointPart{Name: filepath.Base(f.Name()), Size: w.size, Sum: w.sum}, nil
}

// summed notes length and checksum of what is written.
type summed struct {
	to   io.Writer
	size int64
	sum  uint32
}

func (w *summed) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	w.size += int64(n)
	w.sum = crc32.Update(w.sum, crc32.IEEETable, p[:n])
	return n, err
}

// sweep removes the files of attempts that did not count.
func (m *checkpointManifest) sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == len(m.parts) {
		return err
	}
	counts := map[string]bool{}
	for _, p := range m.parts {
		counts[p.Name] = true
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "part-") && !counts[e.Name()] {
			_ = os.Remove(filepath.Join(dir, e.Name())) // one that stays only takes room
		}
	}
	return nil
}
