package rdd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd/codec"
)

// A Folder is one that a checkpoint was written to.
type Folder struct {
	Dir    string
	Digest string // of its manifest
}

// maxBack bounds how many folders a checkpoint builds on. Slices come round earlier.
const maxBack = 128

// CheckpointSince is Checkpoint for an RDD whose records are codec.Incremental, at most one in a partition: under
// Options.DurableCheckpoints only what changed since base's checkpoint is written, and some of the rest, so that after some such
// checkpoints the older ones are not needed. CheckpointFolders names the folders that must stay. A partition is written whole where
// base, which may be nil, has no such checkpoint in the same directory, or where the executor that writes does not hold base's record
// or one that the new one was made from. Any other RDD is checkpointed as by Checkpoint, and so is one whose
// context removes checkpoints that nobody reaches.
//
// Cost: a job that writes what changed, as the records say it.
// Errors: as Checkpoint.
func (r *RDD[T]) CheckpointSince(base *RDD[T]) error {
	var record T
	if _, ok := any(record).(codec.Incremental[T]); !ok || r.err != nil ||
		!r.home.opts.DurableCheckpoints || r.home.opts.CleanCheckpoints || r.home.opts.CheckpointDir == "" {
		return r.Checkpoint()
	}
	m := r.newMark(false)
	m.changes = &changes{files: func() *checkpointFiles { return nil }}
	var older *node[T]
	if base != nil && base.home == r.home {
		older = base.node
		m.changes.files = older.checkpoint.reader.Load
	}
	m.changes.write = func(t *task, part int, from int64, since bool, put func([]byte) error) (codec.Span, error) {
		if !since {
			return r.writeSince(t, part, nil, 0, put)
		}
		return r.writeSince(t, part, older, from, put)
	}
	return r.mark(m)
}

// changes is what a checkpoint of changes needs, with what knows the type of the records.
type changes struct {
	files func() *checkpointFiles // of the base, nil while there are none
	// write puts the frames of a partition: what changed since the base, whose slice ended at from, or all.
	write func(t *task, part int, from int64, since bool, put func(frame []byte) error) (codec.Span, error)
}

// before returns the folders that one beside them may build on, the newest first.
func (c *changes) before(dir string, parts int) []checkpointFiles {
	files := c.files()
	if files == nil || files.manifest == nil || !files.manifest.changes || len(files.manifest.parts) != parts ||
		filepath.Dir(files.dir) != filepath.Dir(dir) {
		return nil
	}
	before := []checkpointFiles{{store: files.store, dir: files.dir, manifest: files.manifest}}
	return append(before, files.before...)
}

// writePart writes a partition to a file that no other attempt has.
func (c *changes) writePart(t *task, store CheckpointStore, dir string, part, parts int, compress bool, before []checkpointFiles) (checkpointPart, error) {
	var from int64
	since := len(before) > 0
	if since {
		p := before[0].manifest.parts[part]
		from, since = p.Span.To, p.Back+1 < maxBack
	}
	var span codec.Span
	p, err := writeOwnPart(t, store, dir, part, parts, compress, func(t *task, part int, put func([]byte, int) error) (err error) {
		span, err = c.write(t, part, from, since, func(frame []byte) error { return put(frame, 1) })
		return err
	})
	if err != nil {
		return p, err
	}
	if !span.All() {
		spans := append([]codec.Span{span}, checkpointFiles{before: before[1:], manifest: before[0].manifest}.spans(part)...)
		var ok bool
		if p.Back, ok = codec.Reach(spans); !ok {
			return p, fmt.Errorf("partition %d: its slices %v leave out entries", part, spans)
		}
	}
	p.Span = span
	return p, nil
}

// trim leaves out the folders that no part needs, and names the others.
func (f *checkpointFiles) trim() {
	back := 0
	for _, p := range f.manifest.parts {
		back = max(back, p.Back)
	}
	f.before = f.before[:back:back]
	for _, older := range f.before {
		f.manifest.since = append(f.manifest.since, Folder{Dir: filepath.Base(older.dir), Digest: older.manifest.digest})
	}
}

// writeSince puts the frames of a partition's record; none where there is no record.
func (n *node[T]) writeSince(t *task, part int, base *node[T], from int64, put func([]byte) error) (codec.Span, error) {
	records, err := n.records(t, part)
	if err != nil || len(records) == 0 {
		return codec.Span{}, err
	}
	var before T
	if base != nil {
		if held, err := base.heldRecords(t, part); err != nil {
			return codec.Span{}, err
		} else if len(held) == 1 {
			before = held[0]
		}
	}
	return any(records[0]).(codec.Incremental[T]).WriteSince(before, from, put)
}

// records returns the records of a partition, of which there is one at most.
func (n *node[T]) records(t *task, part int) (records []T, err error) {
	err = n.push(t, part, func(chunk []T) error {
		if records = append(records, chunk...); len(records) > 1 {
			return fmt.Errorf("partition %d of %s has more than one record", part, n)
		}
		return nil
	})
	return records, err
}

var errNotHeld = errors.New("rdd: the partition is not held")

// heldRecords returns the records of a partition if the executor has them, none otherwise: they are not worth being made again.
func (n *node[T]) heldRecords(t *task, part int) (records []T, err error) {
	level := n.level.Load()
	if level == nil {
		return nil, nil
	}
	err = t.env.Persisted(t.ctx, n.id, part, lineage.Persistence{Level: *level, Codec: n.kept},
		func(func(lineage.Block) error) error { return errNotHeld },
		func(b lineage.Block) error {
			records = append(records, b.(*rowBlock[T]).rows...)
			return nil
		})
	if err != nil {
		return nil, context.Cause(t.ctx) // what cannot be read is not held
	}
	return records, nil
}

// pushRestored pushes the record that the files of a partition hold.
func (n *node[T]) pushRestored(t *task, files checkpointFiles, part int, out sink[T]) error {
	var none T
	restorer, ok := any(none).(codec.Incremental[T])
	if !ok {
		return fmt.Errorf("read checkpoint %s of %s[%s]: its files hold changes of records, and %T has none", files.dir, n.op, n.id, none)
	}
	back := files.manifest.parts[part].Back
	frames := 0 // in the newest file
	var unreadable error
	read := func(file int, yield func([]byte) error) error {
		name, want := files.at(back - file).part(part)
		frames = 0
		err := readPart(t.ctx, files.store, name, part, want, func(frame []byte) (int, error) {
			frames++
			return 1, yield(frame)
		})
		if err != nil {
			unreadable = fmt.Errorf("read checkpoint %s of %s[%s]: %w", name, n.op, n.id, err)
		}
		return unreadable
	}
	if back == 0 && files.manifest.parts[part].Span.Entries == 0 {
		// Perhaps there is no record at all.
		if err := read(0, func([]byte) error { return nil }); err != nil || frames == 0 {
			return err
		}
	}
	record, err := restorer.Restored(back+1, read)
	switch {
	case unreadable != nil:
		return unreadable
	case err != nil:
		name, _ := files.part(part)
		return fmt.Errorf("read checkpoint %s of %s[%s]: %w", name, n.op, n.id, err)
	}
	return pushRows(t, []T{record}, nil, out)
}

// CheckpointFolders returns the folder of CheckpointFolder and those that its checkpoint builds on, the newest first: all that
// must stay where the checkpoint is to be read. There is more than one after CheckpointSince only.
func (b *base) CheckpointFolders() []Folder {
	files := b.checkpoint.reader.Load()
	if files == nil {
		return nil
	}
	dir, digest := b.CheckpointFolder()
	folders := []Folder{{Dir: dir, Digest: digest}}
	for _, older := range files.before {
		folders = append(folders, Folder{Dir: older.dir, Digest: older.manifest.digest})
	}
	return folders
}

// parseSince reads a line of a manifest.
func parseSince(line string) (f Folder, ok bool) {
	fields := strings.Split(line, " ")
	if len(fields) != 3 || len(fields[2]) != 64 || fields[1] == "." || !filepath.IsLocal(fields[1]) ||
		strings.ContainsAny(fields[1], `/\`) {
		return f, false
	}
	return Folder{Dir: fields[1], Digest: fields[2]}, true
}
