package boltlog

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// An Entry is a command in a log.
type Entry struct {
	Index   uint64
	Command driverlog.Command
}

// Info is what a log holds.
type Info struct {
	ID       string          // the log's identity, in hexadecimal
	Snapshot uint64          // index of the snapshot that the entries follow, 0 without one
	Entries  int             // entries behind the snapshot
	Pages    int             // pages of the file that are in use, checked
	Bytes    int64           // size of the file
	State    driverlog.State // after the last entry
	// Damaged says what is wrong and harmless: a transaction that was never answered, as the machine failed in the middle of it,
	// or a meta page that nobody needs. Nil is nothing.
	Damaged error
}

// Dump returns what the log at path holds, after calling each with every entry behind its snapshot, in order.
//
// It opens the file for reading only, takes no lock and may be used while an owner writes: what it returns was there at
// one moment during the call.
//
// Errors: as Verify's; each's error.
func Dump(path string, each func(Entry) error) (Info, error) {
	info, entries, err := read(path, true)
	if err != nil {
		return Info{}, err
	}
	for _, e := range entries {
		if err := each(e); err != nil {
			return Info{}, err
		}
	}
	return info, nil
}

// Verify returns what the log at path holds, after reading every page in use and checking every checksum, index and
// decision. It disturbs an owner no more than Dump does.
//
// Errors: *CorruptError; *BusyError if an owner writes too fast; an os.ErrNotExist if there is no file.
func Verify(path string) (Info, error) {
	info, _, err := read(path, false)
	return info, err
}

// attempts is how often a log that changes is read again.
const attempts = 100

// read reads the log at path until it has not changed meanwhile: an owner overwrites pages of a transaction only after
// the one behind it, so if the meta pages are the same before and after, all pages were of one transaction.
func read(path string, keep bool) (Info, []Entry, error) {
	path = resolve(path)
	f, err := os.Open(path)
	if err != nil {
		return Info{}, nil, fmt.Errorf("read driver log: %w", err)
	}
	defer f.Close()
	for range attempts {
		// The tail is read first: it is written last.
		t, ok, tailErr := readTail(path)
		before := metaPages(f)
		info, err := f.Stat()
		if err != nil {
			return Info{}, nil, fmt.Errorf("read driver log: %w", err)
		}
		c, err := load(path, f, info.Size(), t, ok, tailErr, keep)
		if !bytes.Equal(before, metaPages(f)) {
			continue
		}
		if err != nil {
			return Info{}, nil, err
		}
		return Info{
			ID: hex.EncodeToString(c.id[:]), Snapshot: c.head.snapshot, Entries: c.behind, Pages: c.pages,
			Bytes: info.Size(), State: c.state, Damaged: c.damaged,
		}, c.entries, nil
	}
	return Info{}, nil, &BusyError{Path: path}
}

// metaPages returns the first two pages, as far as they are there.
func metaPages(f *os.File) []byte {
	b, _ := io.ReadAll(io.NewSectionReader(f, 0, 2*pageSize)) // what is missing is missing the second time
	return b
}
