package rdd

import (
	"context"
	"fmt"
)

// RestoreCheckpoint returns the RDD that an earlier process has written to a checkpoint folder, as if this one had
// written it: it is checkpointed. The digest is that of CheckpointFolder; with one, the folder must be whole and the very one that
// was written. p is where its keys lie, nil if that is not known; the folder tells it for hash partitioners and range
// partitioners of the natural order, and where both tell they must agree.
//
// Shape: the partitions, the order and the partitioner of the RDD that was written.
// Cost: the manifest is read and the files' lengths are compared at once; their bytes are checked when a task reads them.
// Errors: the RDD's Err, and its actions, name a file that is missing (fs.ErrNotExist) or damaged (codec.ErrCorrupt), and
// report ErrPartitioner where keys do not lie as p says.
func RestoreCheckpoint[T any](c *Context, dir, digest string, p AnyPartitioner) *RDD[T] {
	r := newNode[T](c, "checkpointFile")
	files, err := openCheckpoint(context.Background(), c.checkpointStore(), dir, digest)
	var parts int
	if err == nil {
		parts, err = files.count()
	}
	if err == nil {
		r.partitioner, err = reconciled(dir, files.placed(parts), p, parts)
	}
	if err != nil {
		r.err = &BuildError{Op: r.op, Site: r.site, Err: err}
		return r
	}
	r.base.count = fixed(parts)
	r.checkpoint.reader.Store(&files)
	r.release()
	return r
}

// reconciled returns the partitioner of a checkpoint that is told by its folder, by whoever reads it, by both or by none.
func reconciled(dir string, saved, want AnyPartitioner, parts int) (AnyPartitioner, error) {
	switch {
	case want == nil:
		return saved, nil
	case want.NumPartitions() != parts:
		return nil, fmt.Errorf("checkpoint %s: %w: it has %d partitions, %s has %d", dir, ErrPartitioner, parts, want, want.NumPartitions())
	case saved != nil && !saved.Equal(want):
		return nil, fmt.Errorf("checkpoint %s: %w: keys lie by %s, not by %s", dir, ErrPartitioner, saved, want)
	}
	return want, nil
}

// CheckpointFolder returns the folder that the RDD's checkpoint has been written to, empty while there is none, and with
// Options.DurableCheckpoints the digest of its manifest, by which RestoreCheckpoint knows it again.
func (b *base) CheckpointFolder() (dir, digest string) {
	files := b.checkpoint.reader.Load()
	if files == nil {
		return "", ""
	}
	if files.manifest != nil {
		digest = files.manifest.digest
	}
	return files.dir, digest
}
