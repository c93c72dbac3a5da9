package raftlog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// retained is the number of snapshots that stay: where the newest cannot be read raft goes back to an older one.
const retained = 3

// snapshotDir is where raft's FileSnapshotStore puts snapshots below dir.
func snapshotDir(dir string) string { return filepath.Join(dir, "snapshots") }

// snapshots keeps snapshots in files, and reads each once more after it was written.
type snapshots struct {
	*raft.FileSnapshotStore
	dir     string
	stop    <-chan struct{} // closed: snapshots that are being written are given up
	failed  func(error)     // told of a snapshot that is there and cannot be read; may be nil
	written func(index uint64)
}

// openSnapshots opens the snapshots below dir, after removing what an interrupted snapshot has left.
func openSnapshots(dir string, stop <-chan struct{}, logger hclog.Logger) (*snapshots, error) {
	files, err := raft.NewFileSnapshotStoreWithLogger(dir, retained, logger)
	if err != nil {
		return nil, fmt.Errorf("open driver log snapshots: %w", err)
	}
	s := &snapshots{FileSnapshotStore: files, dir: snapshotDir(dir), stop: stop}
	names, err := os.ReadDir(s.dir)
	for _, n := range names {
		if strings.HasSuffix(n.Name(), ".tmp") {
			err = errors.Join(err, os.RemoveAll(filepath.Join(s.dir, n.Name())))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open driver log snapshots: %w", err)
	}
	return s, nil
}

// Create begins a snapshot.
func (s *snapshots) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration,
	configurationIndex uint64, trans raft.Transport) (raft.SnapshotSink, error) {
	sink, err := s.FileSnapshotStore.Create(version, index, term, configuration, configurationIndex, trans)
	if err != nil {
		return nil, fmt.Errorf("create driver log snapshot: %w", err)
	}
	return &snapshotSink{SnapshotSink: sink, store: s, index: index}, nil
}

// Open returns a snapshot to read. One that is there and cannot be read stops the node: it would go on leading members that need it.
func (s *snapshots) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	meta, r, err := s.FileSnapshotStore.Open(id)
	if err != nil {
		err = &CorruptError{Dir: filepath.Join(s.dir, id), What: "snapshot", Err: err}
		if s.failed != nil && !errors.Is(err, os.ErrNotExist) { // one that is gone was replaced by newer ones
			s.failed(err)
		}
		return nil, nil, err
	}
	return meta, r, nil
}

// verify reads a snapshot from end to end.
func (s *snapshots) verify(id string) (*image, error) {
	_, r, err := s.FileSnapshotStore.Open(id)
	if err != nil {
		return nil, &CorruptError{Dir: filepath.Join(s.dir, id), What: "snapshot", Err: err}
	}
	defer r.Close()
	m, err := readImage(r)
	if err != nil {
		return nil, &CorruptError{Dir: filepath.Join(s.dir, id), What: "snapshot", Err: err}
	}
	return m, nil
}

// A snapshotSink is a snapshot that is being written.
type snapshotSink struct {
	raft.SnapshotSink
	store *snapshots
	index uint64
	done  bool
}

// Write writes a part, unless the node is being closed.
func (k *snapshotSink) Write(p []byte) (int, error) {
	select {
	case <-k.store.stop:
		return 0, errors.New("write driver log snapshot: the node is being closed")
	default:
	}
	return k.SnapshotSink.Write(p)
}

// Close makes the snapshot durable and reads it again. One that does not read as it should is removed.
func (k *snapshotSink) Close() error {
	if k.done {
		return nil
	}
	k.done = true
	if err := k.SnapshotSink.Close(); err != nil {
		return fmt.Errorf("write driver log snapshot: %w", err)
	}
	if _, err := k.store.verify(k.ID()); err != nil {
		return errors.Join(err, os.RemoveAll(filepath.Join(k.store.dir, k.ID())))
	}
	if k.store.written != nil {
		k.store.written(k.index)
	}
	return nil
}

// Cancel gives the snapshot up and removes what was written of it.
func (k *snapshotSink) Cancel() error {
	if k.done {
		return nil
	}
	k.done = true
	return k.SnapshotSink.Cancel()
}
