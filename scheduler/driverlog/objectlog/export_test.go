package objectlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/scheduler/driverlog"
)

// Kill ends the log as the end of its process would: nothing more is written, and the record is not given up.
func (l *Log) Kill() {
	l.mu.Lock()
	close(l.stop)
	l.closed = true
	l.queue.AwaitIdle()
	l.endTerm()
	l.mu.Unlock()
	l.renewal.Wait()
}

// Store returns where the log is.
func (l *Log) Store() blobstore.Store { return l.store }

// Fences returns the indexes of the objects that are never removed.
func (l *Log) Fences() []uint64 {
	l.write <- struct{}{}
	defer func() { <-l.write }()
	return append([]uint64(nil), l.contents.fences...)
}

// Reseal makes the checksum of an object right.
func Reseal(data []byte) []byte {
	data = bytes.Clone(data)
	switch {
	case bytes.HasPrefix(data, []byte(snapshotMagic)) && len(data) >= sha256.Size:
		n := len(data) - sha256.Size
		sum := sha256.Sum256(data[:n])
		copy(data[n:], sum[:])
	case bytes.HasPrefix(data, []byte(entryMagic)) && len(data) >= 4:
		n := len(data) - 4
		binary.BigEndian.PutUint32(data[n:], crc32.Checksum(data[:n], castagnoli))
	}
	return data
}

// EncodeEntries returns an object with cmds, of a writer whose identity counts up.
func EncodeEntries(first uint64, cmds []driverlog.Command) []byte {
	var body []byte
	for _, cmd := range cmds {
		body = appendCommand(body, cmd)
	}
	return encodeGroup(counting(), counting(), first, len(cmds), body)
}

// EncodeSnapshot returns a snapshot after cmds.
func EncodeSnapshot(cmds []driverlog.Command) []byte {
	s := snapshot{log: counting(), writer: counting(), fences: []uint64{1}}
	for i, cmd := range cmds {
		if _, err := driverlog.Step(&s.state, uint64(i+1), cmd); err != nil {
			panic(err)
		}
	}
	return encodeSnapshot(&s)
}

func counting() (id identity) {
	for i := range id {
		id[i] = byte(i)
	}
	return id
}

// Recode decodes an object and encodes it again.
func Recode(data []byte) ([]byte, bool) {
	if g, err := decodeGroup(data); err == nil {
		var body []byte
		for _, cmd := range g.commands {
			body = appendCommand(body, cmd)
		}
		return encodeGroup(g.log, g.writer, g.first, len(g.commands), body), true
	}
	if len(data) > commonHeader {
		if s, err := decodeSnapshot(binary.BigEndian.Uint64(data[37:]), data); err == nil {
			return encodeSnapshot(&s), true
		}
	}
	return nil, false
}
