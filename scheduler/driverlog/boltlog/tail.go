package boltlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// A tail is a small file beside the log that says how far the log was durable when it was last answered from. It is
// what notices that the log lost its newest transaction, which in the file alone looks like its never having been written,
// and that the file was replaced by an older one or removed.
//
// It is written in place after every transaction and not flushed: a process that is killed loses nothing of it, and where
// the machine fails it says less than was durable, never more.
type tail struct {
	file *os.File
	id   identity
}

// tailSize is letters, a version, the id of the log, the index and a checksum: well within one sector.
const (
	tailMagic = "LDLT"
	tailSize  = len(tailMagic) + 1 + len(identity{}) + 8 + crc32.Size
)

func tailPath(path string) string { return path + ".tail" }

// A tailRecord is what a tail says.
type tailRecord struct {
	id   identity
	last uint64
}

// readTail returns what the tail of the log at path says. ok is false where there is none.
//
// Errors: *CorruptError for one that is damaged.
func readTail(path string) (r tailRecord, ok bool, err error) {
	name := tailPath(path)
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return tailRecord{}, false, nil
	}
	if err != nil {
		return tailRecord{}, false, fmt.Errorf("read driver log: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(tailSize)+1))
	if err != nil {
		return tailRecord{}, false, fmt.Errorf("read driver log: %w", err)
	}
	bad := &CorruptError{Path: name, Page: -1}
	body := tailSize - crc32.Size
	switch {
	case len(b) != tailSize:
		bad.Err = errLength
	case string(b[:len(tailMagic)]) != tailMagic || binary.BigEndian.Uint32(b[body:]) != crc32.Checksum(b[:body], castagnoli):
		bad.Err = errChecksum
	case b[len(tailMagic)] != fileFormat:
		bad.Err = errVersion
	default:
		at := len(tailMagic) + 1
		return tailRecord{id: identity(b[at:]), last: binary.BigEndian.Uint64(b[at+len(r.id):])}, true, nil
	}
	bad.What = "tail"
	return tailRecord{}, true, bad
}

// openTail makes the tail of the log at path say last.
func openTail(path string, id identity, last uint64) (*tail, error) {
	f, err := os.OpenFile(tailPath(path), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open driver log: %w", err)
	}
	t := &tail{file: f, id: id}
	err = t.set(last)
	if err == nil {
		err = f.Truncate(int64(tailSize))
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open driver log %s: %w", path, err), f.Close())
	}
	return t, nil
}

// set writes that entry last is durable.
func (t *tail) set(last uint64) error {
	var b [tailSize]byte
	at := copy(b[:], tailMagic)
	b[at] = fileFormat
	at += 1 + copy(b[at+1:], t.id[:])
	binary.BigEndian.PutUint64(b[at:], last)
	binary.BigEndian.PutUint32(b[at+8:], crc32.Checksum(b[:at+8], castagnoli))
	_, err := t.file.WriteAt(b[:], 0)
	return err
}

func (t *tail) close() error { return errors.Join(t.file.Sync(), t.file.Close()) }

// syncFolder makes the names in a folder durable.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
