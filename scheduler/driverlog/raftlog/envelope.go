package raftlog

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// envelopeVersion is the format version of entries. An entry of another stops the node.
const envelopeVersion = 1

const (
	clusterSize  = 16
	envelopeHead = 2 + clusterSize // version, kind, cluster
	maxGroup     = 4 << 20         // bytes of an entry
)

// A clusterID names a cluster for ever. The zero one is none.
type clusterID [clusterSize]byte

// String returns the id in hexadecimal, "" for none.
func (c clusterID) String() string {
	if c == (clusterID{}) {
		return ""
	}
	return hex.EncodeToString(c[:])
}

// An EntryKind says what an entry holds.
type EntryKind uint8

// The kinds of entries.
const (
	CommandsEntry EntryKind = 1 + iota // commands of drivers, applied as one
	ClusterEntry                       // the id of a new cluster
	DigestEntry                        // the digest of the leader's state
)

// String returns the kind's name.
func (k EntryKind) String() string {
	switch k {
	case CommandsEntry:
		return "commands"
	case ClusterEntry:
		return "cluster"
	case DigestEntry:
		return "digest"
	}
	return "unknown"
}

// An envelope is what an entry of raft holds for us.
//
// Shape: version byte 1, kind byte, cluster 16 bytes, payload, and CRC-32C of all that in four bytes, little endian. The payload
// of commands is an unsigned count, then of each its length and driverlog.Command.Append; that of a cluster is empty, as the id is in front;
// that of a digest is the unsigned number of entries applied, then 32 bytes.
type envelope struct {
	kind    EntryKind
	cluster clusterID
	payload []byte
}

func (e envelope) append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, envelopeVersion, byte(e.kind))
	dst = append(dst, e.cluster[:]...)
	dst = append(dst, e.payload...)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// decodeEnvelope returns the envelope in data, whose payload stays there.
//
// Errors: *driverlog.VersionError; others.
func decodeEnvelope(data []byte) (envelope, error) {
	var e envelope
	if len(data) < 1 {
		return e, errors.New("empty entry")
	}
	if data[0] != envelopeVersion {
		return e, &driverlog.VersionError{Got: int(data[0]), Known: envelopeVersion}
	}
	body := len(data) - crc32.Size
	if body < envelopeHead || len(data) > maxGroup {
		return e, errors.New("length of the entry")
	}
	if crc32.Checksum(data[:body], castagnoli) != binary.LittleEndian.Uint32(data[body:]) {
		return e, errors.New("checksum of the entry")
	}
	e.kind = EntryKind(data[1])
	copy(e.cluster[:], data[2:])
	e.payload = data[envelopeHead:body]
	if e.kind < CommandsEntry || e.kind > DigestEntry {
		return e, errors.New("kind of the entry")
	}
	if e.cluster == (clusterID{}) {
		return e, errors.New("cluster of the entry")
	}
	return e, nil
}

func appendCommands(dst []byte, cmds []driverlog.Command) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(cmds)))
	var buf []byte
	for i := range cmds {
		buf = cmds[i].Append(buf[:0])
		dst = binary.AppendUvarint(dst, uint64(len(buf)))
		dst = append(dst, buf...)
	}
	return dst
}

func decodeCommands(data []byte) ([]driverlog.Command, error) {
	n, at := binary.Uvarint(data)
	// Each command takes more than a byte, so the count is checked before room is made for it.
	if at <= 0 || n == 0 || n > uint64(len(data)) {
		return nil, errors.New("count of commands")
	}
	data = data[at:]
	cmds := make([]driverlog.Command, 0, min(n, 64))
	for range n {
		size, at := binary.Uvarint(data)
		if at <= 0 || size > uint64(len(data)-at) {
			return nil, errors.New("length of a command")
		}
		cmd, err := driverlog.DecodeCommand(data[at : at+int(size)])
		if err != nil {
			return nil, err
		}
		cmds = append(cmds, cmd)
		data = data[at+int(size):]
	}
	if len(data) != 0 {
		return nil, errors.New("bytes behind the commands")
	}
	return cmds, nil
}

// A point is the digest of a state and where it was taken.
type point struct {
	applied uint64 // entries of commands before it
	digest  Digest
}

func (p point) append(dst []byte) []byte {
	return append(binary.AppendUvarint(dst, p.applied), p.digest[:]...)
}

func decodePoint(data []byte) (point, error) {
	applied, at := binary.Uvarint(data)
	if at <= 0 || len(data)-at != len(Digest{}) {
		return point{}, errors.New("digest entry")
	}
	return point{applied: applied, digest: Digest(data[at:])}, nil
}
