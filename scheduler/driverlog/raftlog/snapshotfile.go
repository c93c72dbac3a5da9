package raftlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// A snapshot begins with these letters and a byte for the format version.
const (
	snapshotMagic   = "LRL"
	snapshotVersion = 1
	// snapshotHead is the size of the header: magic, version, cluster, raft index, entries, digest, length, checksum.
	snapshotHead = len(snapshotMagic) + 1 + clusterSize + 8 + 8 + sha256.Size + 8 + crc32.Size
	// maxSnapshot bounds the bytes of a state.
	maxSnapshot = 2 << 30
)

// An image is a state with all that belongs to it, as a snapshot holds it.
//
// Shape: "LRL", version byte 1, cluster 16 bytes (zeros where it is not known), raft index, number of entries of commands, SHA-256 of
// the state, length of the state, CRC-32C of the header, then the state as driverlog.State.Append writes it. Numbers have
// eight bytes, little endian.
type image struct {
	cluster clusterID
	index   uint64 // raft index of the last entry in it
	applied uint64 // entries of commands in it
	digest  Digest
	state   driverlog.State
}

func (m *image) writeTo(w io.Writer) error {
	state := m.state.Append(nil)
	if len(state) > maxSnapshot {
		return fmt.Errorf("driver log state of %d bytes, at most %d can be in a snapshot", len(state), maxSnapshot)
	}
	head := make([]byte, 0, snapshotHead)
	head = append(head, snapshotMagic...)
	head = append(head, snapshotVersion)
	head = append(head, m.cluster[:]...)
	head = binary.LittleEndian.AppendUint64(head, m.index)
	head = binary.LittleEndian.AppendUint64(head, m.applied)
	digest := sha256.Sum256(state)
	head = append(head, digest[:]...)
	head = binary.LittleEndian.AppendUint64(head, uint64(len(state)))
	head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(head, castagnoli))
	if _, err := w.Write(head); err != nil {
		return err
	}
	// In parts, so that a writer that has been told to stop can.
	for len(state) > 0 {
		n := min(len(state), 256<<10)
		if _, err := w.Write(state[:n]); err != nil {
			return err
		}
		state = state[n:]
	}
	return nil
}

// readImage reads a snapshot up to its end and checks all of it.
//
// Errors: *driverlog.VersionError for a version that is not known; others.
func readImage(r io.Reader) (*image, error) {
	head := make([]byte, snapshotHead)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, fmt.Errorf("header of the snapshot: %w", err)
	}
	if string(head[:len(snapshotMagic)]) != snapshotMagic {
		return nil, errors.New("magic of the snapshot")
	}
	at := len(snapshotMagic)
	if v := head[at]; v != snapshotVersion {
		return nil, &driverlog.VersionError{Got: int(v), Known: snapshotVersion}
	}
	body := snapshotHead - crc32.Size
	if crc32.Checksum(head[:body], castagnoli) != binary.LittleEndian.Uint32(head[body:]) {
		return nil, errors.New("checksum of the snapshot's header")
	}
	m := &image{}
	at++
	at += copy(m.cluster[:], head[at:])
	m.index = binary.LittleEndian.Uint64(head[at:])
	m.applied = binary.LittleEndian.Uint64(head[at+8:])
	at += 16
	at += copy(m.digest[:], head[at:])
	size := binary.LittleEndian.Uint64(head[at:])
	if size > maxSnapshot {
		return nil, errors.New("length of the snapshot")
	}
	var buf bytes.Buffer // grows with what is there, not with what the header says
	if n, err := io.Copy(&buf, io.LimitReader(r, int64(size))); err != nil || uint64(n) != size {
		return nil, fmt.Errorf("snapshot of %d bytes, %d are there: %w", size, n, errors.Join(err, io.ErrUnexpectedEOF))
	}
	if Digest(sha256.Sum256(buf.Bytes())) != m.digest {
		return nil, errors.New("digest of the snapshot")
	}
	var end [1]byte
	if n, err := io.ReadFull(r, end[:]); n != 0 || !errors.Is(err, io.EOF) {
		return nil, errors.New("bytes behind the snapshot")
	}
	state, err := driverlog.DecodeState(buf.Bytes())
	if err != nil {
		return nil, err
	}
	m.state = state
	return m, nil
}
