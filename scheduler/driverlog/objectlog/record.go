package objectlog

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// names are those of a log's objects.
type names struct{ prefix string }

func (n names) entries() string              { return n.prefix + "/log/" }
func (n names) snapshots() string            { return n.prefix + "/snapshot/" }
func (n names) owner() string                { return n.prefix + "/owner" }
func (n names) entry(index uint64) string    { return fmt.Sprintf("%s%020d", n.entries(), index) }
func (n names) snapshot(index uint64) string { return fmt.Sprintf("%s%020d", n.snapshots(), index) }

// indexOf returns the index in the name of an entry or snapshot.
func indexOf(name, prefix string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	if !ok || len(digits) != 20 {
		return 0, false
	}
	index, err := strconv.ParseUint(digits, 10, 64)
	return index, err == nil
}

// An identity names a writer: an opened log. That of the first writer is also the log's.
type identity [16]byte

// Formats. Integers are big-endian.
//
//	entries    "LDLO", version 1, identity of the log, identity of the writer, index of the first entry (8 bytes), count (4), then of
//	           each: length (4), command; then the CRC-32C of all before (4)
//	snapshot   "LDLS", version 1, identity of the log, identity of the last entry's writer, index (8), count of indexes that are
//	           not to be removed (4), these (8 each), length of the state (8), state; then the SHA-256 of all before
const (
	format        = 1
	entryMagic    = "LDLO"
	snapshotMagic = "LDLS"
	commonHeader  = 4 + 1 + 16 + 16 + 8 + 4
)

var (
	errLength   = errors.New("wrong length")
	errChecksum = errors.New("wrong checksum")
	errMagic    = errors.New("not an object of a driver log")
	castagnoli  = crc32.MakeTable(crc32.Castagnoli)
)

// A group is what one object holds: entries that became durable together.
type group struct {
	log, writer identity
	first       uint64
	commands    []driverlog.Command
}

// appendCommand returns dst with the length and the encoding of cmd behind it.
func appendCommand(dst []byte, cmd driverlog.Command) []byte {
	start := len(dst)
	dst = cmd.Append(append(dst, 0, 0, 0, 0))
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}

// encodeGroup returns the object of count commands whose encodings are in body.
func encodeGroup(log, writer identity, first uint64, count int, body []byte) []byte {
	b := appendHeader(make([]byte, 0, commonHeader+len(body)+crc32.Size), entryMagic, log, writer, first, count)
	b = append(b, body...)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func appendHeader(b []byte, magic string, log, writer identity, index uint64, count int) []byte {
	b = append(append(b, magic...), format)
	b = append(append(b, log[:]...), writer[:]...)
	b = binary.BigEndian.AppendUint64(b, index)
	return binary.BigEndian.AppendUint32(b, uint32(count))
}

// header takes the common header apart. The checksum has been compared.
func header(b []byte, magic string) (log, writer identity, index uint64, count int, err error) {
	switch {
	case string(b[:4]) != magic:
		return log, writer, 0, 0, errMagic
	case b[4] != format:
		return log, writer, 0, 0, &driverlog.VersionError{Got: int(b[4]), Known: format}
	}
	copy(log[:], b[5:])
	copy(writer[:], b[21:])
	return log, writer, binary.BigEndian.Uint64(b[37:]), int(binary.BigEndian.Uint32(b[45:])), nil
}

func decodeGroup(b []byte) (group, error) {
	n := len(b) - crc32.Size
	if n < commonHeader {
		return group{}, errLength
	}
	if binary.BigEndian.Uint32(b[n:]) != crc32.Checksum(b[:n], castagnoli) {
		return group{}, errChecksum
	}
	log, writer, first, count, err := header(b, entryMagic)
	if err != nil {
		return group{}, err
	}
	g := group{log: log, writer: writer, first: first}
	b = b[commonHeader:n]
	if count == 0 || count > len(b)/4 {
		return group{}, errLength
	}
	g.commands = make([]driverlog.Command, 0, count)
	for range count {
		if len(b) < 4 || uint64(binary.BigEndian.Uint32(b)) > uint64(len(b)-4) {
			return group{}, errLength
		}
		n := binary.BigEndian.Uint32(b)
		cmd, err := driverlog.DecodeCommand(b[4 : 4+n])
		if err != nil {
			return group{}, err
		}
		g.commands = append(g.commands, cmd)
		b = b[4+n:]
	}
	if len(b) != 0 {
		return group{}, errLength
	}
	return g, nil
}

// A snapshot is a state and what must be known of the objects before it.
type snapshot struct {
	log, writer identity // writer: of the last entry in it
	fences      []uint64 // first entries of writers, ascending
	state       driverlog.State
}

func encodeSnapshot(s *snapshot) []byte {
	b := appendHeader(make([]byte, 0, 4096), snapshotMagic, s.log, s.writer, s.state.Index, len(s.fences))
	for _, f := range s.fences {
		b = binary.BigEndian.AppendUint64(b, f)
	}
	at := len(b)
	b = s.state.Append(append(b, make([]byte, 8)...))
	binary.BigEndian.PutUint64(b[at:], uint64(len(b)-at-8))
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// decodeSnapshot returns a snapshot that is to be of index.
func decodeSnapshot(index uint64, b []byte) (snapshot, error) {
	n := len(b) - sha256.Size
	if n < commonHeader+8 {
		return snapshot{}, errLength
	}
	if sha256.Sum256(b[:n]) != [sha256.Size]byte(b[n:]) {
		return snapshot{}, errChecksum
	}
	log, writer, at, count, err := header(b, snapshotMagic)
	if err != nil {
		return snapshot{}, err
	}
	s := snapshot{log: log, writer: writer}
	b = b[commonHeader:n]
	if count > (len(b)-8)/8 {
		return snapshot{}, errLength
	}
	s.fences = make([]uint64, count)
	for i := range s.fences {
		s.fences[i] = binary.BigEndian.Uint64(b)
		b = b[8:]
	}
	if binary.BigEndian.Uint64(b) != uint64(len(b)-8) {
		return snapshot{}, errLength
	}
	if s.state, err = driverlog.DecodeState(b[8:]); err != nil {
		return snapshot{}, err
	}
	if s.state.Index != index || at != index {
		return snapshot{}, errors.New("another index than its name says")
	}
	return s, nil
}
