package boltlog

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// A store writes the file of a log. One goroutine uses it at a time.
type store struct {
	path   string
	db     *bbolt.DB
	file   *os.File    // bbolt's
	info   os.FileInfo // as of the last transaction
	tail   *tail
	head   head
	broken bool // bbolt has panicked within a transaction and does not let it go

	fault func(point string) error // for tests; nil has no faults
}

// An entry that waits to be written is a part of a buffer.
type span struct {
	index      uint64
	start, end int
}

// openStore opens the file at path, or makes it, and returns what it holds.
//
// Errors: *CorruptError; *LockedError if another owner got in by another name of the file.
func openStore(path string) (*store, contents, string, error) {
	t, hasTail, tailErr := readTail(path)
	var corrupt *CorruptError
	if tailErr != nil && !errors.As(tailErr, &corrupt) {
		return nil, contents{}, "", tailErr
	}
	c, note, err := inspect(path, t, hasTail, tailErr)
	made := errors.Is(err, errNoLog)
	if err != nil && !made {
		return nil, contents{}, "", err
	}
	s := &store{path: path}
	if err := s.open(); err != nil {
		return nil, contents{}, "", err
	}
	if made {
		if c.id, err = s.create(); err != nil {
			return nil, contents{}, "", errors.Join(fmt.Errorf("create driver log %s: %w", path, err), s.close())
		}
	}
	// What a killed process wrote may be in memory only; nobody may act on it before it is durable.
	if err := s.db.Sync(); err != nil {
		return nil, contents{}, "", errors.Join(fmt.Errorf("open driver log %s: %w", path, err), s.close())
	}
	s.head = c.head
	if s.tail, err = openTail(path, c.id, c.head.last); err != nil {
		return nil, contents{}, "", errors.Join(err, s.close())
	}
	return s, c, note, nil
}

// errNoLog says that there is no log yet.
var errNoLog = errors.New("no log")

// inspect reads and checks the file before bbolt sees it. note says what was found wrong and is made good.
//
// Errors: errNoLog; *CorruptError.
func inspect(path string, t tailRecord, hasTail bool, tailErr error) (c contents, note string, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		if hasTail {
			return c, "", &CorruptError{Path: path, Page: -1, What: fmt.Sprintf("not there, %d entries were durable", t.last)}
		}
		return c, "", errNoLog
	}
	if err != nil {
		return c, "", fmt.Errorf("open driver log: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return c, "", fmt.Errorf("open driver log: %w", err)
	}
	if !hasTail {
		nothing, err := holdsNothing(f, info.Size())
		if err != nil {
			return c, "", fmt.Errorf("open driver log: %w", err)
		}
		if nothing {
			if err := os.Remove(path); err != nil {
				return c, "", fmt.Errorf("open driver log: %w", err)
			}
			return c, "", errNoLog
		}
	}
	c, err = load(path, f, info.Size(), t, hasTail, tailErr, false)
	if err != nil {
		return c, "", err
	}
	if c.dropped {
		if err := dropMeta(path, c.meta); err != nil {
			return c, "", fmt.Errorf("open driver log %s: %w", path, err)
		}
	}
	if c.damaged != nil {
		note = c.damaged.Error()
	} else if tailErr != nil {
		note = tailErr.Error()
	}
	return c, note, nil
}

// dropMeta clears a meta page, so that bbolt takes the other one.
func dropMeta(path string, page int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(make([]byte, pageSize), page*pageSize)
	return errors.Join(err, f.Sync(), f.Close())
}

// open opens the file with bbolt.
func (s *store) open() error {
	err := s.guard(func() (err error) {
		s.db, err = bbolt.Open(s.path, 0o644, &bbolt.Options{
			Timeout:        time.Nanosecond, // zero would wait for ever
			NoFreelistSync: true,
			FreelistType:   bbolt.FreelistMapType,
			PageSize:       pageSize,
			NoStatistics:   true,
			NoSync:         true, // update flushes once, bbolt would twice
			OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
				f, err := os.OpenFile(name, flag, mode)
				s.file = f
				return f, err
			},
		})
		return err
	})
	if err != nil && s.file != nil {
		_ = s.file.Close() // bbolt has done so, unless it panicked
	}
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return &LockedError{Path: s.path}
	case err != nil:
		return fmt.Errorf("open driver log %s: %w", s.path, err)
	}
	if s.info, err = s.file.Stat(); err != nil {
		return errors.Join(fmt.Errorf("open driver log: %w", err), s.close())
	}
	return nil
}

// create writes what every log holds.
func (s *store) create() (id identity, err error) {
	rand.Read(id[:]) // never fails
	err = s.update(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{entriesBucket, logBucket, snapshotBucket} {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		b := tx.Bucket(logBucket)
		if err := b.Put(identityKey, encodeIdentity(id)); err != nil {
			return err
		}
		return b.Put(headKey, encodeHead(head{txid: uint64(tx.ID())}))
	})
	if err == nil {
		err = syncFolder(filepath.Dir(s.path))
	}
	return id, err
}

// append makes entries durable. Their bytes are parts of buf.
func (s *store) append(entries []span, buf []byte) error {
	h := head{last: entries[len(entries)-1].index, snapshot: s.head.snapshot}
	return s.write(h, func(tx *bbolt.Tx) error {
		b := tx.Bucket(entriesBucket)
		b.FillPercent = 1 // keys only ever rise
		for _, e := range entries {
			key := entryKey(e.index)
			if err := b.Put(key[:], buf[e.start:e.end]); err != nil {
				return err
			}
		}
		return nil
	})
}

// replace makes a snapshot of state durable in the place of all entries.
func (s *store) replace(state *driverlog.State) error {
	data := encodeSnapshot(state)
	// What it covers is gone after this, so it is read once before.
	if _, err := decodeSnapshot(state.Index, data); err != nil {
		return fmt.Errorf("snapshot of entry %d: %w", state.Index, err)
	}
	return s.write(head{last: state.Index, snapshot: state.Index}, func(tx *bbolt.Tx) error {
		if err := tx.DeleteBucket(entriesBucket); err != nil {
			return err
		}
		if _, err := tx.CreateBucket(entriesBucket); err != nil {
			return err
		}
		return tx.Bucket(snapshotBucket).Put(stateKey, data)
	})
}

// write makes what fn puts durable together with h.
func (s *store) write(h head, fn func(tx *bbolt.Tx) error) error {
	// A file that was moved away or replaced under its name would be written to, and never be found again; one that was
	// cut short would be read where it is no more.
	info, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	switch {
	case !os.SameFile(info, s.info):
		return errors.New("the file has been replaced by another")
	case info.Size() < s.info.Size():
		return errors.New("the file has been cut short")
	}
	s.info = info
	err = s.update(func(tx *bbolt.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		h.txid = uint64(tx.ID())
		return tx.Bucket(logBucket).Put(headKey, encodeHead(h))
	})
	if err != nil {
		return err
	}
	if err := s.at("after commit"); err != nil {
		return err
	}
	s.head = h
	return s.tail.set(h.last)
}

func (s *store) at(point string) error {
	if s.fault == nil {
		return nil
	}
	return s.fault(point)
}

// update runs one transaction and flushes it. bbolt would flush its pages before it writes the meta page; load does without that, as
// it finds out whether all pages of a transaction are there.
func (s *store) update(fn func(tx *bbolt.Tx) error) error {
	return s.guard(func() error {
		tx, err := s.db.Begin(true)
		if err != nil {
			return err
		}
		ended := false
		defer func() {
			if !ended { // bbolt has panicked; if it panics here again, its locks are held for ever
				s.broken = true
				if err := tx.Rollback(); err == nil {
					s.broken = false
				}
			}
		}()
		if err = fn(tx); err == nil {
			err = s.at("before commit")
		}
		if err != nil {
			ended = true
			return errors.Join(err, tx.Rollback())
		}
		err = tx.Commit()
		ended = true
		if err == nil {
			err = s.db.Sync()
		}
		return err
	})
}

// guard runs fn and makes an error of a panic of bbolt, and of a page that cannot be read through its memory map.
func (s *store) guard(fn func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("bbolt: %v", r)
		}
	}()
	return fn()
}

// close releases the file. Where bbolt holds on to a transaction that panicked, its own Close would wait for ever: the
// descriptor is closed then, and the memory map, with bbolt's lock, stays until the process ends.
func (s *store) close() error {
	var errs []error
	if s.tail != nil {
		errs = append(errs, s.tail.close())
	}
	switch {
	case s.broken && s.file != nil:
		errs = append(errs, s.file.Close())
	case s.db != nil && !s.broken:
		errs = append(errs, s.db.Close())
	}
	return errors.Join(errs...)
}
