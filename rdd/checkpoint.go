package rdd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/leat-io/leat/lineage"
)

// checkpointState is how far an RDD's checkpoint has come: not asked for, marked, in progress, done.
type checkpointState struct {
	marked atomic.Pointer[mark]            // set while marked
	mu     sync.Mutex                      // held while it is written
	reader atomic.Pointer[checkpointFiles] // set when written to files
	local  atomic.Bool                     // set when kept by executors, instead
}

// mark is a checkpoint to be made, with what knows the type of the records.
type mark struct {
	local  bool
	frames func(t *task, part int, put func(frame []byte, rows int) error) error // the records of a partition, encoded
	keep   func(t *task, part int) error                                         // has a partition kept
	cut    func(local bool)                                                      // drops what made the records

	changes *changes // set where only what changed is to be written
}

// Checkpoint marks the RDD to be written to the context's checkpoint directory. The first job that
// evaluates it, or an RDD derived from it, is followed by one that writes every partition; after that
// the RDD is read from its files and its lineage is cut: its one parent is the checkpoint. Persist it first, or it
// is computed twice. After LocalCheckpoint it does nothing.
//
// Cost: a job that writes all records, encoded by package codec and compressed.
// Errors: ErrNoCheckpointDir; ErrCheckpointTooLate once a job has run on the RDD. What goes wrong in
// writing comes back from the action, and leaves the mark and the lineage as they were.
func (r *RDD[T]) Checkpoint() error {
	if r.err == nil && r.home.opts.CheckpointDir == "" {
		return fmt.Errorf("checkpoint %s: %w", r, ErrNoCheckpointDir)
	}
	return r.mark(r.newMark(false))
}

func (r *RDD[T]) newMark(local bool) *mark {
	return &mark{local: local, frames: r.frames, keep: r.keepPartition, cut: r.cutCompute}
}

func (b *base) mark(m *mark) error {
	for {
		old := b.checkpoint.marked.Load()
		switch {
		case b.err != nil:
			return b.err
		case b.IsCheckpointed():
			return nil
		case old != nil && (old.local || !m.local):
			return nil // a local checkpoint takes over from a mark for files, not the other way round
		case b.evaluated.Load():
			return fmt.Errorf("checkpoint %s: %w", b, ErrCheckpointTooLate)
		}
		if b.checkpoint.marked.CompareAndSwap(old, m) {
			if old == nil {
				b.home.marked.Add(1)
			}
			return nil
		}
	}
}

// IsCheckpointed reports whether the checkpoint has been made: written, or with LocalCheckpoint kept.
func (b *base) IsCheckpointed() bool {
	return b.checkpoint.reader.Load() != nil || b.checkpoint.local.Load()
}

// RemoveCheckpoint deletes the files of a written checkpoint. The RDD, and those computed from it, can
// only be read afterwards where they are persisted.
func (b *base) RemoveCheckpoint() error {
	files := b.checkpoint.reader.Load()
	switch {
	case files == nil:
		return nil
	case files.store != nil:
		return files.remove(context.Background())
	}
	return os.RemoveAll(files.dir)
}

// writeMarked writes the marked RDDs that a job on final evaluated: the nearest one on each path, or
// all, ancestors first, where the options say so.
func writeMarked(ctx context.Context, c *Context, final lineage.Node) error {
	if c.marked.Load() == 0 {
		return nil
	}
	var marked []*base
	lineage.Walk(final, func(n lineage.Node) bool {
		if b, ok := baseOf(n); ok && b.checkpoint.marked.Load() != nil {
			marked = append(marked, b)
			return c.opts.CheckpointAllMarked
		}
		return true
	})
	for i := len(marked) - 1; i >= 0; i-- {
		if err := marked[i].writeOnce(ctx); err != nil {
			return &CheckpointError{RDD: marked[i].String(), Site: marked[i].site, Err: err}
		}
	}
	return nil
}

func (b *base) writeOnce(ctx context.Context) error {
	b.checkpoint.mu.Lock()
	defer b.checkpoint.mu.Unlock()
	m := b.checkpoint.marked.Load()
	if m == nil {
		return nil // another action wrote it
	}
	n, err := b.NumPartitions()
	if err != nil {
		return err
	}
	if m.local {
		err = b.keepLocally(ctx, m, n)
	} else {
		err = b.writeFiles(ctx, m, n)
	}
	if err != nil {
		return err
	}
	b.checkpoint.marked.Store(nil)
	b.home.marked.Add(-1)
	return nil
}

// writeFiles writes all partitions and makes the files the RDD's origin.
func (b *base) writeFiles(ctx context.Context, m *mark, parts int) error {
	dir, err := b.newFolder()
	if err != nil {
		return err
	}
	files := &checkpointFiles{dir: dir}
	if b.home.opts.DurableCheckpoints {
		files, err = b.writeDurably(ctx, m, dir, parts)
	} else {
		err = b.writeParts(ctx, m, dir, parts)
	}
	if err != nil {
		if b.home.opts.checkpointStore() == nil {
			_ = os.RemoveAll(dir) // what is left of it is only room taken
		}
		return err
	}
	stale := lineage.Drop{Shuffles: b.shuffles()}
	b.checkpoint.reader.Store(files)
	b.watchFiles(dir)
	b.cut("checkpoint", parts, m)
	if b.id.Scope == (lineage.Scope{}) && !b.home.opts.KeepUnreachable && !stale.Empty() {
		b.home.runner.Drop(stale) // nothing reads them any more
	}
	return nil
}

// writeParts writes all partitions, and beside them where keys lie.
func (b *base) writeParts(ctx context.Context, m *mark, dir string, parts int) error {
	err := b.runMarked(ctx, "checkpoint", allParts(parts), func(t *task, part int) error {
		return writePart(t, dir, part, parts, !b.home.opts.PlainCheckpoints, m.frames)
	})
	if err == nil {
		err = verifyParts(dir, parts)
	}
	if err != nil {
		return err
	}
	if err := savePartitioner(dir, b.partitioner); err != nil && b.home.opts.Logger != nil {
		b.home.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "partitioner of a checkpoint is not saved",
			slog.String("rdd", b.String()), slog.Any("error", err))
	}
	return nil
}

// runMarked runs f on partitions of the node.
func (b *base) runMarked(ctx context.Context, name string, parts []int, f func(t *task, part int) error) error {
	return runMarkedRows(ctx, b, name, parts,
		func(t *task, part int) (struct{}, error) { return struct{}{}, f(t, part) }, func(int, struct{}) {})
}

// runMarkedRows runs f on partitions of a node and hands each result to done.
func runMarkedRows[R any](ctx context.Context, b *base, name string, parts []int, f func(t *task, part int) (R, error), done func(i int, result R)) error {
	return b.home.runner.Run(ctx, lineage.Job{
		Name: name, Site: b.site, Scope: b.id.Scope, Final: b, Parts: parts,
		Properties: lineage.PropertiesOf(ctx), Codec: new(rowCodec[R]), Trimmed: b.home.opts.TrimJobs,
		Run: func(ctx context.Context, env lineage.Env, part int) (lineage.Block, error) {
			rows := make([]R, 1)
			err := runTask(ctx, env, b.home, func(t *task) (err error) {
				rows[0], err = f(t, part)
				return err
			})
			return &rowBlock[R]{rows: rows}, err
		},
		Done: func(i int, block lineage.Block) error {
			done(i, block.(*rowBlock[R]).rows[0])
			return nil
		},
		Update: b.home.update,
	})
}

// cut makes a node that is named for the kind of checkpoint, and lies as b does, the only parent of b. Its ordinal
// is the negative of b's, which no operator gives: drawing one would number the nodes made later differently from
// those of a process that builds the same graph and writes no checkpoint.
func (b *base) cut(op string, parts int, m *mark) {
	id := b.id
	id.Ordinal = -id.Ordinal
	origin := &base{home: b.home, id: id, op: op, site: b.site, partitioner: b.partitioner}
	origin.count = fixed(parts)
	origin.setDeps(nil)
	origin.evaluated.Store(true)
	origin.checkpoint.reader.Store(b.checkpoint.reader.Load())
	b.setDeps([]lineage.Dep{lineage.OneToOne(origin)})
	m.cut(m.local)
}

// cutCompute drops what made the records, and through it all that came before.
func (n *node[T]) cutCompute(local bool) {
	if !local {
		n.release()
		return
	}
	n.seal()
	f := computing[T](func(*task, int, sink[T]) error {
		return fmt.Errorf("%s[%s] of %s: %w", n.op, n.id, n.site, ErrCheckpointLost)
	})
	n.sealed.f.Store(&f)
}

// newFolder makes the folder of the RDD's checkpoint. A durable one has a name that no process gives again: one that was
// fenced off may still be writing into its own, which the next may have removed.
func (b *base) newFolder() (string, error) {
	parent, name := b.home.opts.CheckpointDir, "rdd-"+b.id.String()
	if !b.home.opts.DurableCheckpoints {
		return newFolder(parent, name)
	}
	if b.home.opts.checkpointStore() != nil {
		return ownFolder(parent, name), nil
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(parent, name+"-*")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	return dir, err
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
