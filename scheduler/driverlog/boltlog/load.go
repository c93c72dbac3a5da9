package boltlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// Contents are what a file holds, checked.
type contents struct {
	id      identity
	head    head
	state   driverlog.State // after all entries
	behind  int             // entries behind the snapshot
	entries []Entry         // these, if they were asked for
	pages   int
	damaged error // of what could be done without: a meta page, or the newest transaction
	dropped bool  // the newest transaction is damaged and was never answered; meta is its page
	meta    int64
}

// load reads the file of a log and steps through its entries. t, hasTail and tailErr are what readTail returned.
//
// A transaction is flushed once, its pages and its meta together, so a machine that fails in the middle of it may leave any of
// them behind. It has not been answered then, nothing of the transaction before it has been overwritten, and that
// one is taken. But a transaction that was answered may be damaged, too. The tail tells the two apart: where it says that
// the newest transaction was durable, or where there is no tail to tell, the file is damaged.
//
// Errors: *CorruptError.
func load(path string, r io.ReaderAt, size int64, t tailRecord, hasTail bool, tailErr error, keep bool) (contents, error) {
	f := &pageFile{path: path, r: r, size: size}
	m0, err0 := f.readMeta(0)
	m1, err1 := f.readMeta(1)
	newest, other := m0, m1
	damaged := errors.Join(err0, err1)
	switch {
	case err0 != nil && err1 != nil:
		return contents{}, err0
	case damaged == nil && m0.txid != m1.txid+1 && m1.txid != m0.txid+1:
		return contents{}, f.corrupt(0, "transactions %d and %d do not follow each other", m0.txid, m1.txid)
	case err0 != nil || damaged == nil && m1.txid > m0.txid:
		newest, other = m1, m0
	}
	c, err := loadAt(f, newest, keep)
	if err != nil && damaged == nil {
		var older error
		if c, older = loadAt(f, other, keep); older == nil {
			damaged, err = err, nil
			c.dropped, c.meta = true, int64(newest.txid%2)
		}
	}
	if err != nil {
		return contents{}, err
	}
	c.damaged = damaged
	if err := c.checkTail(path, t, hasTail, tailErr); err != nil {
		return contents{}, err
	}
	return c, nil
}

// loadAt reads what the file holds at the transaction of m.
func loadAt(f *pageFile, m meta, keep bool) (contents, error) {
	var c contents
	if err := f.use(m); err != nil {
		return c, err
	}
	type bucket struct {
		page  uint64
		value []byte
	}
	found := map[string]bucket{}
	err := f.buckets(func(name []byte, page uint64, value []byte) error {
		found[string(name)] = bucket{page, value}
		return nil
	})
	if err != nil {
		return c, err
	}
	for _, name := range [][]byte{entriesBucket, logBucket, snapshotBucket} {
		if _, ok := found[string(name)]; !ok || len(found) != 3 {
			return c, &CorruptError{Path: f.path, Page: -1, What: "not the file of a driver log"}
		}
	}
	b := found[string(logBucket)]
	if err := c.readHead(f, b.page, b.value); err != nil {
		return c, err
	}
	if c.head.txid != m.txid {
		return c, f.corrupt(b.page, "head of transaction %d in transaction %d", c.head.txid, m.txid)
	}
	b = found[string(snapshotBucket)]
	if err := c.readSnapshot(f, b.page, b.value); err != nil {
		return c, err
	}
	b = found[string(entriesBucket)]
	if err := c.readEntries(f, b.page, b.value, keep); err != nil {
		return c, err
	}
	c.pages = len(f.seen)
	return c, nil
}

func (c *contents) readHead(f *pageFile, page uint64, value []byte) error {
	known := 0
	err := f.bucket(page, value, func(page uint64, key, value []byte) error {
		var err error
		switch string(key) {
		case string(identityKey):
			c.id, err = decodeIdentity(value)
		case string(headKey):
			c.head, err = decodeHead(value)
		default:
			return f.corrupt(page, "unknown key %q", key)
		}
		known++
		if err != nil {
			return &CorruptError{Path: f.path, Page: int64(page), What: string(key), Err: err}
		}
		return nil
	})
	if err == nil && (known != 2 || c.head.snapshot > c.head.last) {
		err = f.corrupt(page, "head and identity are not both there")
	}
	return err
}

func (c *contents) readSnapshot(f *pageFile, page uint64, value []byte) error {
	err := f.bucket(page, value, func(page uint64, key, value []byte) error {
		if string(key) != string(stateKey) {
			return f.corrupt(page, "unknown key %q", key)
		}
		var err error
		if c.state, err = decodeSnapshot(c.head.snapshot, value); err != nil {
			return &CorruptError{Path: f.path, Page: int64(page), What: fmt.Sprintf("snapshot of entry %d", c.head.snapshot), Err: err}
		}
		return nil
	})
	if err == nil && c.state.Index != c.head.snapshot {
		err = f.corrupt(page, "the snapshot of entry %d is not there", c.head.snapshot)
	}
	return err
}

func (c *contents) readEntries(f *pageFile, page uint64, value []byte, keep bool) error {
	next := c.head.snapshot + 1
	err := f.bucket(page, value, func(page uint64, key, value []byte) error {
		bad := &CorruptError{Path: f.path, Page: int64(page), Entry: next}
		if len(key) != 8 || binary.BigEndian.Uint64(key) != next || next > c.head.last {
			bad.What = fmt.Sprintf("key %x is in its place", key)
			return bad
		}
		cmd, err := decodeEntry(next, value)
		if err != nil {
			bad.What, bad.Err = "malformed", err
			return bad
		}
		// Only commands that took effect are written.
		res, err := driverlog.Step(&c.state, next, cmd)
		if err == nil && res.Duplicate {
			err = errors.New("it repeats an earlier one")
		}
		if err != nil {
			bad.What, bad.Err = cmd.Kind.String()+" that does not follow", err
			return bad
		}
		if keep {
			c.entries = append(c.entries, Entry{Index: next, Command: cmd})
		}
		c.behind++
		next++
		return nil
	})
	if err == nil && next != c.head.last+1 {
		err = &CorruptError{Path: f.path, Page: int64(page), Entry: next, What: fmt.Sprintf("not there, the log goes up to %d", c.head.last)}
	}
	return err
}

// checkTail compares what the file holds with what the log's tail says was durable.
func (c *contents) checkTail(path string, t tailRecord, ok bool, err error) error {
	bad := &CorruptError{Path: path, Page: -1}
	switch {
	case ok && err == nil && t.id != c.id:
		bad.What = "it is another log than the one whose tail is beside it"
	case ok && err == nil && t.last > c.head.last:
		bad.Entry, bad.What = c.head.last+1, fmt.Sprintf("not there, %d entries were durable", t.last)
	case (!ok || err != nil) && c.damaged != nil:
		return c.damaged // nothing says whether it was answered
	default:
		return nil
	}
	bad.Err = c.damaged
	return bad
}
