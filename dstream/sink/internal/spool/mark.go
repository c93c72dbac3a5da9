package spool

import (
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/files"
)

// A mark is one line: version, batch, epoch, digest, and a checksum of what is before it.
const (
	markVersion = 1
	maxMark     = 256
	temporary   = "tmp-"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func encodeMark(m sink.Mark) []byte {
	line := fmt.Sprintf("%d %d %d %x", markVersion, m.ID, m.Epoch, m.Digest)
	return fmt.Appendf(nil, "%s %08x\n", line, crc32.Checksum([]byte(line), castagnoli))
}

func decodeMark(data []byte) (m sink.Mark, err error) {
	bad := errors.New("is no mark")
	line, ok := strings.CutSuffix(string(data), "\n")
	fields := strings.Split(line, " ")
	if !ok || len(fields) != 5 || fields[0] != strconv.Itoa(markVersion) {
		return m, bad
	}
	id, err1 := strconv.ParseInt(fields[1], 10, 64)
	epoch, err2 := strconv.ParseUint(fields[2], 10, 64)
	digest, err3 := hex.DecodeString(fields[3])
	if errors.Join(err1, err2, err3) != nil || id < 0 || len(digest) != len(m.Digest) {
		return m, bad
	}
	m.ID, m.Epoch = id, epoch
	copy(m.Digest[:], digest)
	if string(encodeMark(m)) != string(data) {
		return sink.Mark{}, bad
	}
	return m, nil
}

// batchName returns a batch as names of files begin.
func batchName(id int64) string { return fmt.Sprintf("%020d", id) }

func parseBatch(digits string) (int64, bool) {
	if len(digits) != 20 {
		return 0, false
	}
	id, err := strconv.ParseInt(digits, 10, 64)
	return id, err == nil && id >= 0
}

// last returns the newest mark.
func (o *output) last() (sink.Mark, error) {
	dir := filepath.Join(o.dir, marksDir)
	entries, err := o.fs.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return sink.Mark{ID: -1}, err
	}
	newest := int64(-1)
	for _, e := range entries {
		if id, ok := parseBatch(e.Name()); ok {
			newest = max(newest, id)
		}
	}
	if newest < 0 {
		return sink.Mark{ID: -1}, nil
	}
	name := filepath.Join(dir, batchName(newest))
	f, err := o.fs.Open(name)
	if err != nil {
		return sink.Mark{ID: -1}, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxMark))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return sink.Mark{ID: -1}, fmt.Errorf("read %s: %w", name, err)
	}
	m, err := decodeMark(data)
	if err == nil && m.ID != newest {
		err = fmt.Errorf("is that of batch %d", m.ID)
	}
	if err != nil {
		return sink.Mark{ID: -1}, &files.DamageError{File: name, Problem: err.Error()}
	}
	return m, nil
}

// mark remembers that b is delivered, and forgets the one before it.
func (o *output) mark(b sink.Batch, m sink.Mark, before int64) error {
	dir := filepath.Join(o.dir, marksDir)
	var f files.File
	var name string
	for n := 0; ; n++ {
		name = filepath.Join(dir, fmt.Sprintf("%s%s-%d-%d", temporary, batchName(b.ID), b.Epoch, n))
		var err error
		if f, err = o.fs.Create(name); err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) { // by a process before this one
			return err
		}
	}
	_, err := f.Write(encodeMark(m))
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = o.fs.Link(name, filepath.Join(dir, batchName(b.ID)))
	}
	_ = o.fs.Remove(name) // what cannot be removed is for Clean
	if errors.Is(err, fs.ErrExist) {
		// Another driver was faster. What it delivered, the next call finds out.
		return fmt.Errorf("%v is marked already: %w", b, err)
	}
	if err == nil {
		err = o.fs.SyncDir(dir)
	}
	if err == nil && before >= 0 {
		_ = o.fs.Remove(filepath.Join(dir, batchName(before))) // the same
	}
	return err
}

// removeMarks removes what other marks than the newest have left.
func (o *output) removeMarks(newest int64) error {
	dir := filepath.Join(o.dir, marksDir)
	entries, err := o.fs.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		id, ok := parseBatch(e.Name())
		if rest, is := strings.CutPrefix(e.Name(), temporary); is {
			digits, _, _ := strings.Cut(rest, "-")
			if id, ok = parseBatch(digits); ok {
				id-- // that of the newest is no longer needed either
			}
		}
		if ok && id < newest {
			if err := o.fs.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}
