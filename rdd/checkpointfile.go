package rdd

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/leat-io/leat/lineage"
)

// CheckpointFile returns the RDD that was written to a checkpoint folder. The RDD that wrote it is not needed.
//
// Shape: the partitions and order of the RDD that was written, and its partitioner where that can be found again:
// hash partitioners, and range partitioners of the natural order. Without it only a shuffle more is needed.
// Errors: a folder that is missing, or has a gap in its parts, fails when partitions are
// asked for, with fs.ErrNotExist; damaged files fail their task with codec.ErrCorrupt.
func CheckpointFile[T any](c *Context, dir string) *RDD[T] {
	r := newNode[T](c, "checkpointFile")
	open := sync.OnceValues(func() (checkpointFiles, error) {
		return openCheckpoint(context.Background(), c.checkpointStore(), dir, "")
	})
	r.count = func() (int, error) {
		files, err := open()
		if err != nil {
			return 0, err
		}
		return files.count()
	}
	if _, err := os.Stat(dir); err == nil && c.checkpointStore() == nil { // a folder may appear later
		if files, err := open(); err == nil {
			if n, err := files.count(); err == nil {
				r.partitioner = files.placed(n)
			}
		}
	}
	r.compute = func(t *task, part int, out sink[T]) error {
		files, err := open()
		if err != nil {
			return err
		}
		return r.pushCheckpoint(t, files, part, out)
	}
	return r
}

// countParts returns how many parts a checkpoint has.
func countParts(dir string) (int, error) {
	parts, err := partFiles(dir)
	if err != nil {
		return 0, err
	}
	for i := range parts {
		if _, err := os.Stat(partName(dir, i)); err != nil {
			return 0, fmt.Errorf("checkpoint %s has a gap at part %d: %w", dir, i, fs.ErrNotExist)
		}
	}
	if parts == 0 {
		return 0, nil
	}
	f, err := os.Open(partName(dir, 0))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	// A damaged header is the business of the task that reads the part.
	if _, want, err := readPartHead(f); err == nil && want != parts {
		return 0, fmt.Errorf("checkpoint %s has %d of %d parts: %w", dir, parts, want, fs.ErrNotExist)
	}
	return parts, nil
}

// partFiles counts the files of parts.
func partFiles(dir string) (int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	parts := 0
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "part-") {
			parts++
		}
	}
	return parts, nil
}

// verifyParts checks that a checkpoint has as many parts as the RDD has partitions.
func verifyParts(dir string, want int) error {
	got, err := countParts(dir)
	if err == nil && got != want {
		err = fmt.Errorf("%s has %d parts, want %d: %w", dir, got, want, fs.ErrNotExist)
	}
	return err
}

// frames computes a partition and encodes its records, so many at a time that a frame stays small.
func (n *node[T]) frames(t *task, part int, put func(frame []byte, rows int) error) error {
	columns, err := n.rows.columns.get()
	if err != nil {
		return err
	}
	var (
		rows  []T
		size  int64
		frame []byte
	)
	flush := func() (err error) {
		if frame, err = columns.Append(frame[:0], rows); err == nil {
			err = put(frame, len(rows))
		}
		rows, size = rows[:0], 0
		return err
	}
	err = n.push(t, part, func(chunk []T) error {
		rows = append(rows, chunk...)
		if size += memoryOf(chunk); size < frameBytes && len(rows) < blockRows {
			return nil
		}
		return flush()
	})
	if err != nil || len(rows) == 0 {
		return err
	}
	return flush()
}

// pushCheckpoint pushes a partition from its file.
func (n *node[T]) pushCheckpoint(t *task, files checkpointFiles, part int, out sink[T]) error {
	if files.manifest != nil && files.manifest.changes {
		return n.pushRestored(t, files, part, out)
	}
	columns, err := n.rows.columns.get()
	if err != nil {
		return err
	}
	name, want := files.part(part)
	var rows []T
	var pushed error // of the reader downstream, which is not this file's fault
	err = readPart(t.ctx, files.store, name, part, want, func(frame []byte) (int, error) {
		var err error
		if rows, err = columns.DecodeAppend(rows[:0], frame); err != nil {
			return 0, err
		}
		// Decoded just now: nobody else holds the rows.
		pushed = pushRows(t, rows, nil, out)
		return len(rows), pushed
	})
	if err != nil && pushed == nil {
		return fmt.Errorf("read checkpoint %s of %s[%s]: %w", name, n.op, n.id, err)
	}
	return err
}

// keepPartition has a partition kept, if it is not.
func (n *node[T]) keepPartition(t *task, part int) error {
	level := n.level.Load()
	if level == nil {
		return nil
	}
	return t.env.Persisted(t.ctx, n.id, part, lineage.Persistence{Level: *level, Codec: n.kept},
		func(put func(lineage.Block) error) error { return n.blocks(t, part, put) },
		func(lineage.Block) error { return nil })
}
