package rdd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/leat-io/leat/lineage"
)

// checkpointState is how far an RDD's checkpoint has come: not asked for, marked, written.
type checkpointState struct {
	marked atomic.Pointer[encoder]         // set while marked
	mu     sync.Mutex                      // held while it is written
	reader atomic.Pointer[checkpointFiles] // set when written
}

// encoder is the part of writing a checkpoint that knows the type of the records.
type encoder struct {
	encode  func(t *task, part int) ([]byte, error)
	release func() // drops what made the records; they are read from the files from now on
}

// checkpointFiles is where a written checkpoint is.
type checkpointFiles struct{ dir string }

// Checkpoint marks the RDD to be written to the context's checkpoint directory. The first job that
// evaluates it, or an RDD derived from it, is followed by one that writes every partition; after that
// the RDD is read from its files and its lineage is cut. Persist it first, or it is computed
// twice.
//
// Cost: a job that writes all records, encoded by package codec.
// Errors: ErrNoCheckpointDir; ErrCheckpointTooLate once a job has run on the RDD. What goes wrong in
// writing comes back from the action, and leaves the mark and the lineage as they were.
func (r *RDD[T]) Checkpoint() error {
	return r.mark(&encoder{encode: r.encodePart, release: r.release})
}

func (b *base) mark(e *encoder) error {
	switch {
	case b.err != nil:
		return b.err
	case b.home.opts.CheckpointDir == "":
		return fmt.Errorf("checkpoint %s: %w", b, ErrNoCheckpointDir)
	case b.checkpoint.reader.Load() != nil || b.checkpoint.marked.Load() != nil:
		return nil
	case b.evaluated.Load():
		return fmt.Errorf("checkpoint %s: %w", b, ErrCheckpointTooLate)
	}
	if b.checkpoint.marked.CompareAndSwap(nil, e) {
		b.home.marked.Add(1)
	}
	return nil
}

// IsCheckpointed reports whether the checkpoint has been written.
func (b *base) IsCheckpointed() bool { return b.checkpoint.reader.Load() != nil }

// RemoveCheckpoint deletes the files of a written checkpoint. The RDD, and those computed from it, can
// only be read afterwards where they are persisted.
func (b *base) RemoveCheckpoint() error {
	if files := b.checkpoint.reader.Load(); files != nil {
		return os.RemoveAll(files.dir)
	}
	return nil
}

// writeMarked writes the marked RDDs that a job on final evaluated: the nearest one on each path, or
// all, ancestors first, where the options say so. While nothing is marked it looks no further up than what
// this job was the first to evaluate.
func writeMarked(ctx context.Context, c *Context, final lineage.Node) error {
	var marked []*base
	anyMarked := c.marked.Load() > 0
	lineage.Walk(final, func(n lineage.Node) bool {
		b, ok := n.(*base)
		if !ok {
			return true
		}
		before := b.evaluated.Swap(true)
		if b.checkpoint.marked.Load() != nil {
			marked = append(marked, b)
			return c.opts.CheckpointAllMarked
		}
		return anyMarked || !before
	})
	for i := len(marked) - 1; i >= 0; i-- {
		if err := marked[i].writeOnce(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (b *base) writeOnce(ctx context.Context) error {
	b.checkpoint.mu.Lock()
	defer b.checkpoint.mu.Unlock()
	e := b.checkpoint.marked.Load()
	if e == nil {
		return nil // another action wrote it
	}
	n, err := b.NumPartitions()
	if err != nil {
		return err
	}
	dir, err := newFolder(b.home.opts.CheckpointDir, "rdd-"+b.id.String())
	if err != nil {
		return fmt.Errorf("checkpoint %s: %w", b, err)
	}
	err = b.home.runner.Run(ctx, lineage.Job{
		Name: "checkpoint", Site: b.site, Scope: b.id.Scope, Final: b, Parts: allParts(n),
		Codec: new(rowCodec[struct{}]), Trimmed: b.home.opts.TrimJobs,
		Run: func(ctx context.Context, env lineage.Env, part int) (lineage.Block, error) {
			data, err := e.encode(newTask(ctx, env), part)
			if err == nil {
				err = writePart(dir, part, data)
			}
			return &rowBlock[struct{}]{}, err
		},
		Done: func(int, lineage.Block) error { return nil },
	})
	if err != nil {
		_ = os.RemoveAll(dir) // what is left of it is only room taken
		return fmt.Errorf("checkpoint %s: %w", b, err)
	}
	b.checkpoint.reader.Store(&checkpointFiles{dir: dir})
	b.setDeps(nil)
	e.release()
	b.checkpoint.marked.Store(nil)
	b.home.marked.Add(-1)
	return nil
}

// newFolder makes a folder of a name that is not taken: name, else name.2 and so on. An earlier run
// of the program numbers its RDDs alike, and this one may be reading what that one wrote.
func newFolder(parent, name string) (string, error) {
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	dir := filepath.Join(parent, name)
	for i := 2; ; i++ {
		err := os.Mkdir(dir, 0o755)
		if !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
		dir = filepath.Join(parent, fmt.Sprintf("%s.%d", name, i))
	}
}

// encodePart computes a partition and encodes its records.
func (n *node[T]) encodePart(t *task, part int) ([]byte, error) {
	b := &rowBlock[T]{}
	if err := n.push(t, part, func(chunk []T) error {
		b.add(chunk)
		return nil
	}); err != nil {
		return nil, err
	}
	return n.rows.Encode(b)
}

// writePart writes a partition's file through a temporary one.
func writePart(dir string, part int, data []byte) error {
	tmp, err := os.CreateTemp(dir, fmt.Sprintf("_temporary-%05d-*", part))
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return os.Rename(tmp.Name(), checkpointPart(dir, part))
}

func checkpointPart(dir string, part int) string {
	return filepath.Join(dir, fmt.Sprintf("part-%05d", part))
}

// pushCheckpoint pushes a partition from its file.
func (n *node[T]) pushCheckpoint(t *task, files checkpointFiles, part int, out sink[T]) error {
	name := checkpointPart(files.dir, part)
	data, err := os.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read checkpoint of %s[%s]: %w", n.op, n.id, err)
	}
	b, err := n.rows.Decode(data)
	if err != nil {
		return fmt.Errorf("read checkpoint %s: %w", name, err)
	}
	return pushRows(t, b.(*rowBlock[T]).rows, nil, out) // decoded just now: nobody else holds the rows
}

// CheckpointFile returns the RDD that was written to a checkpoint folder, without its partitioner.
//
// Shape: the partitions and order of the RDD that was written.
// Errors: a folder that is missing, or has a gap in its parts' numbers, fails when partitions are
// asked for, with fs.ErrNotExist; damaged files fail their task with codec.ErrCorrupt.
func CheckpointFile[T any](c *Context, dir string) *RDD[T] {
	r := newNode[T](c, "checkpointFile")
	r.count = func() (int, error) {
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
		for i := range parts {
			if _, err := os.Stat(checkpointPart(dir, i)); err != nil {
				return 0, fmt.Errorf("checkpoint %s has a gap: %w", dir, fs.ErrNotExist)
			}
		}
		return parts, nil
	}
	r.compute = func(t *task, part int, out sink[T]) error {
		return r.pushCheckpoint(t, checkpointFiles{dir: dir}, part, out)
	}
	return r
}
