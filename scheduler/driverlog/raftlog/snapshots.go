package raftlog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

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
	stall   time.Duration // what each step of writing one may take before stalled is told; 0: any
	stalled func(error)

	mu      sync.Mutex
	writing map[string]bool // the ids of those that are being written
}

// watched runs a step of writing a snapshot. Where it takes too long the node stops: raft waits for it, and on a member that is being sent one
// everything else waits too. The step itself goes on.
func (s *snapshots) watched(step func() error) error {
	if s.stall > 0 {
		defer time.AfterFunc(s.stall, func() {
			s.stalled(&PoisonError{Dir: s.dir, Op: "write snapshot", Err: &StallError{After: s.stall}})
		}).Stop()
	}
	return step()
}

// openSnapshots opens the snapshots below dir, after removing what an interrupted snapshot has left.
func openSnapshots(dir string, stop <-chan struct{}, logger hclog.Logger) (*snapshots, error) {
	files, err := raft.NewFileSnapshotStoreWithLogger(dir, retained, logger)
	if err != nil {
		return nil, fmt.Errorf("open driver log snapshots: %w", err)
	}
	s := &snapshots{FileSnapshotStore: files, dir: snapshotDir(dir), stop: stop, writing: make(map[string]bool)}
	if err := s.clean(); err != nil {
		return nil, fmt.Errorf("open driver log snapshots: %w", err)
	}
	return s, nil
}

// clean removes what is left of snapshots that nobody writes any more. Raft leaves it where a flush fails.
func (s *snapshots) clean() error {
	names, err := os.ReadDir(s.dir)
	for _, n := range names {
		if id, ok := strings.CutSuffix(n.Name(), ".tmp"); ok && !s.writing[id] {
			err = errors.Join(err, os.RemoveAll(filepath.Join(s.dir, n.Name())))
		}
	}
	return err
}

// Create begins a snapshot.
func (s *snapshots) Create(version raft.SnapshotVersion, index, term uint64, configuration raft.Configuration,
	configurationIndex uint64, trans raft.Transport) (raft.SnapshotSink, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sink raft.SnapshotSink
	err := s.watched(func() (err error) {
		sink, err = s.FileSnapshotStore.Create(version, index, term, configuration, configurationIndex, trans)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("create driver log snapshot: %w", errors.Join(err, s.clean()))
	}
	s.writing[sink.ID()] = true
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
func (k *snapshotSink) Write(p []byte) (n int, err error) {
	select {
	case <-k.store.stop:
		return 0, errors.New("write driver log snapshot: the node is being closed")
	default:
	}
	err = k.store.watched(func() (err error) {
		n, err = k.SnapshotSink.Write(p)
		return err
	})
	return n, err
}

// Close makes the snapshot durable and reads it again. One that does not read as it should is removed.
func (k *snapshotSink) Close() error {
	if k.done {
		return nil
	}
	k.done = true
	err := k.store.watched(k.SnapshotSink.Close)
	if err = k.ended(err); err != nil {
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
	return k.ended(k.store.watched(k.SnapshotSink.Cancel))
}

// ended takes note that the snapshot is there, or not to be, and removes what is left of one whose writing ended with an error.
func (k *snapshotSink) ended(err error) error {
	k.store.mu.Lock()
	defer k.store.mu.Unlock()
	delete(k.store.writing, k.ID())
	if err != nil {
		err = errors.Join(err, k.store.clean())
	}
	return err
}
