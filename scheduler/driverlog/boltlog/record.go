package boltlog

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// fileFormat is the version of everything that this package writes around the encodings of package driverlog.
const fileFormat = 1

// Names in the file. The three buckets are made with the file and hold nothing else:
//
//	entries    big-endian index -> entry
//	log        identity, head
//	snapshot   state, once there is one
var (
	entriesBucket  = []byte("entries")
	logBucket      = []byte("log")
	snapshotBucket = []byte("snapshot")
	identityKey    = []byte("identity")
	headKey        = []byte("head")
	stateKey       = []byte("state")
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// An identity names one log for its life, so that files of two are not taken for one.
type identity [16]byte

// A head says what the file holds, a second time: without it the loss of the last entries would look like their
// never having been there.
type head struct {
	last     uint64 // index of the last entry that is durable, with the snapshot
	snapshot uint64 // index of the snapshot, 0 without one; the entries behind it are all there
	txid     uint64 // of the transaction of bbolt that wrote it, which is every one
}

var (
	errVersion  = errors.New("unknown format version")
	errLength   = errors.New("wrong length")
	errChecksum = errors.New("wrong checksum")
)

// entryHeader is the version, the length and the checksum in front of a command.
const entryHeader = 1 + 4 + 4

// appendEntry returns dst with the entry of cmd behind it: version, length, CRC-32C of the index, the version, the
// length and the command; then the command.
func appendEntry(dst []byte, index uint64, cmd driverlog.Command) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, entryHeader)...)
	dst = cmd.Append(dst)
	e := dst[start:]
	e[0] = fileFormat
	binary.BigEndian.PutUint32(e[1:], uint32(len(e)-entryHeader))
	binary.BigEndian.PutUint32(e[5:], entrySum(index, e))
	return dst
}

func entrySum(index uint64, e []byte) uint32 {
	key := entryKey(index)
	sum := crc32.Update(0, castagnoli, key[:])
	sum = crc32.Update(sum, castagnoli, e[:5])
	return crc32.Update(sum, castagnoli, e[entryHeader:])
}

func entryKey(index uint64) (key [8]byte) {
	binary.BigEndian.PutUint64(key[:], index)
	return key
}

// decodeEntry returns the command of the entry e, found at index.
func decodeEntry(index uint64, e []byte) (driverlog.Command, error) {
	switch {
	case len(e) < entryHeader || uint64(binary.BigEndian.Uint32(e[1:])) != uint64(len(e)-entryHeader):
		return driverlog.Command{}, errLength
	case binary.BigEndian.Uint32(e[5:]) != entrySum(index, e):
		return driverlog.Command{}, errChecksum
	case e[0] != fileFormat:
		return driverlog.Command{}, errVersion
	}
	return driverlog.DecodeCommand(e[entryHeader:])
}

// encodeIdentity returns the version, the id and a checksum.
func encodeIdentity(id identity) []byte {
	b := append([]byte{fileFormat}, id[:]...)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func decodeIdentity(b []byte) (id identity, err error) {
	if err := checked(b, 1+len(id)); err != nil {
		return id, err
	}
	return identity(b[1:]), nil
}

// encodeHead returns the version, both indexes, the transaction and a checksum.
func encodeHead(h head) []byte {
	b := binary.BigEndian.AppendUint64([]byte{fileFormat}, h.last)
	b = binary.BigEndian.AppendUint64(b, h.snapshot)
	b = binary.BigEndian.AppendUint64(b, h.txid)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

func decodeHead(b []byte) (head, error) {
	if err := checked(b, 1+24); err != nil {
		return head{}, err
	}
	return head{
		last: binary.BigEndian.Uint64(b[1:]), snapshot: binary.BigEndian.Uint64(b[9:]), txid: binary.BigEndian.Uint64(b[17:]),
	}, nil
}

// checked returns nil if b is n bytes of a known version with their checksum behind them.
func checked(b []byte, n int) error {
	switch {
	case len(b) != n+crc32.Size:
		return errLength
	case binary.BigEndian.Uint32(b[n:]) != crc32.Checksum(b[:n], castagnoli):
		return errChecksum
	case b[0] != fileFormat:
		return errVersion
	}
	return nil
}

// snapshotHeader is the version, the index and the length in front of a snapshot's digest.
const snapshotHeader = 1 + 8 + 8

// encodeSnapshot returns the version, the index and the length of the encoded state, a SHA-256 of these and the state,
// and the state.
func encodeSnapshot(s *driverlog.State) []byte {
	b := make([]byte, snapshotHeader+sha256.Size, 4096)
	b = s.Append(b)
	b[0] = fileFormat
	binary.BigEndian.PutUint64(b[1:], s.Index)
	binary.BigEndian.PutUint64(b[9:], uint64(len(b)-snapshotHeader-sha256.Size))
	sum := snapshotSum(b)
	copy(b[snapshotHeader:], sum[:])
	return b
}

func snapshotSum(b []byte) (sum [sha256.Size]byte) {
	h := sha256.New()
	h.Write(b[:snapshotHeader])
	h.Write(b[snapshotHeader+sha256.Size:])
	h.Sum(sum[:0])
	return sum
}

// decodeSnapshot returns the state of a snapshot that is to be of index.
func decodeSnapshot(index uint64, b []byte) (driverlog.State, error) {
	n := len(b) - snapshotHeader - sha256.Size
	switch {
	case n < 0 || binary.BigEndian.Uint64(b[9:]) != uint64(n):
		return driverlog.State{}, errLength
	case snapshotSum(b) != [sha256.Size]byte(b[snapshotHeader:]):
		return driverlog.State{}, errChecksum
	case b[0] != fileFormat:
		return driverlog.State{}, errVersion
	}
	s, err := driverlog.DecodeState(b[snapshotHeader+sha256.Size:])
	if err == nil && (s.Index != index || binary.BigEndian.Uint64(b[1:]) != index) {
		err = errors.New("another index than the head says")
	}
	return s, err
}
