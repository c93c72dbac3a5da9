package objectlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/leat-io/leat/blobstore"
)

// errOvertaken says that another driver has written what this log was to write next. What that was has been read.
var errOvertaken = errors.New("another driver leads")

// Bounds of the time between two attempts to write.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = time.Second
)

// flush makes pending durable as an object, with l.write taken. begins says that it is the first one since the log was read.
//
// Errors: errOvertaken, and then the log has been read again; *StorageError if the outcome is not known.
func (l *Log) flush(ctx context.Context, begins bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.opts.Timeout)
	defer cancel()
	c := &l.contents
	first := c.state.Index + 1 - uint64(l.count)
	log := c.log
	if first == 1 {
		log = l.writer
	}
	name := l.names.entry(first)
	err := l.create(ctx, name, encodeGroup(log, l.writer, first, l.count, l.pending))
	if err == nil && begins {
		err = l.confirm(ctx, first)
	}
	if errors.Is(err, errOvertaken) {
		if rerr := l.reload(ctx); rerr != nil {
			return &StorageError{Store: l.store.String(), Name: name, Err: fmt.Errorf("%w, and the log cannot be read: %w", err, rerr)}
		}
		return err
	}
	if err != nil {
		return &StorageError{Store: l.store.String(), Name: name, Err: err}
	}
	c.log = log
	if c.writer != l.writer {
		c.fences = append(c.fences, first)
	} else {
		c.objects = append(c.objects, first)
	}
	c.writer = l.writer
	c.behind += l.count
	l.count, l.pending = 0, l.pending[:0]
	if cap(l.pending) > maxBuffer {
		l.pending = nil
	}
	l.setDurable(c.state.Index)
	if c.behind >= l.opts.SnapshotEvery {
		l.snapshot(ctx)
	}
	return nil
}

// maxBuffer is the size of buffer that is kept for the next object.
const maxBuffer = 1 << 20

// create creates an object, trying until it is known whether it is there.
//
// Errors: errOvertaken if another is; those of the store once the context has ended.
func (l *Log) create(ctx context.Context, name string, data []byte) error {
	return l.persist(ctx, name, func() error {
		err := l.store.PutIfAbsent(ctx, name, data)
		if !errors.Is(err, blobstore.ErrExists) {
			return err
		}
		there, _, err := l.store.Read(ctx, name)
		switch {
		case err != nil:
			return err // another attempt finds out
		case bytes.Equal(there, data):
			return nil // an earlier attempt had an effect
		}
		return errOvertaken
	})
}

// confirm finds out whether the object that this log has created at first really was the next one. If the log has gone on since it
// was read, and its entries have been removed, their names were free; but then a snapshot with them has been there since
// before that.
func (l *Log) confirm(ctx context.Context, first uint64) error {
	return l.persist(ctx, l.names.snapshots(), func() error {
		page, err := l.store.List(ctx, l.names.snapshots(), l.names.snapshot(first-1), 1)
		if err == nil && len(page) > 0 {
			err = errOvertaken
		}
		return err
	})
}

// persist calls do until it returns nil or errOvertaken, or the context ends.
func (l *Log) persist(ctx context.Context, name string, do func() error) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := do()
		if err == nil || errors.Is(err, errOvertaken) {
			return err
		}
		l.logger.Warn("driver log store failed", "store", l.store.String(), "object", name, "error", err)
		if sleep(ctx, pause) != nil {
			return err
		}
	}
}

// snapshot writes the state in the place of the entries before it, with l.write taken, and removes what the snapshot before it holds. Where
// that fails it is done another time.
func (l *Log) snapshot(ctx context.Context) {
	c := &l.contents
	index := c.state.Index
	data := encodeSnapshot(&snapshot{log: c.log, writer: c.writer, fences: c.fences, state: c.state})
	_, err := decodeSnapshot(index, data) // what it covers will be removed
	if err == nil {
		err = l.store.Put(ctx, l.names.snapshot(index), func(w io.Writer) error {
			_, err := w.Write(data)
			return err
		})
	}
	if err != nil {
		l.logger.Warn("driver log snapshot not written", "store", l.store.String(), "index", index, "error", err)
		return
	}
	previous := c.base
	l.logger.Debug("driver log snapshot", "store", l.store.String(), "index", index, "entries", c.behind)
	c.base, c.behind = index, 0
	c.snapshots = append(c.snapshots, index)

	// Snapshots that were found damaged lie between the two, or before both.
	var remove []string
	old := 0
	for old < len(c.snapshots) && c.snapshots[old] < previous {
		old++
	}
	objects := 0
	for objects < len(c.objects) && c.objects[objects] <= previous {
		remove = append(remove, l.names.entry(c.objects[objects]))
		objects++
	}
	for _, s := range c.snapshots[:old] {
		remove = append(remove, l.names.snapshot(s))
	}
	if err := l.store.Remove(ctx, remove...); err != nil {
		l.logger.Warn("driver log not cleaned up", "store", l.store.String(), "error", err)
		return // they are still known
	}
	c.snapshots = slices.Clone(c.snapshots[old:])
	c.objects = slices.Clone(c.objects[objects:])
}
