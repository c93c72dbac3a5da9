package raftlog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"
)

func dbPath(dir string) string { return filepath.Join(dir, "raft.db") }

// A disk is what store needs of raft-boltdb.
type disk interface {
	raft.LogStore
	raft.StableStore
	Close() error
}

// openDisk opens the file of a node's log and votes. The list of free pages is not written: that would cost more than the
// entries do, and is found again by a scan at open.
//
// Errors: *CorruptError where the file's pages do not fit together.
func openDisk(dir string, readOnly bool) (d disk, err error) {
	path := dbPath(dir)
	// A file that is to be written is read first: bbolt looks for the free pages in a goroutine of its own, where a damaged one ends
	// the process. One that is just made holds nothing.
	if info, err := os.Stat(path); err == nil && !readOnly && info.Size() > 4*int64(os.Getpagesize()) {
		if err := checkFile(dir); err != nil {
			return nil, err
		}
	}
	err = guard(dir, func() error {
		d, err = openFile(path, readOnly)
		return err
	})
	return d, err
}

func checkFile(dir string) error {
	d, err := openDisk(dir, true)
	if err != nil {
		return err
	}
	return errors.Join(walk(dir, d), d.Close())
}

func openFile(path string, readOnly bool) (disk, error) {
	if info, err := os.Stat(path); err == nil && info.Size() == 0 && readOnly {
		return nil, &CorruptError{Dir: path, What: "empty file"}
	}
	db, err := raftboltdb.New(raftboltdb.Options{Path: path, BoltOptions: &bbolt.Options{
		NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, Timeout: time.Second, ReadOnly: readOnly,
	}})
	if err != nil {
		// The folder is locked by us, so whoever has the file is no node.
		return nil, fmt.Errorf("open driver log %s: %w", path, err)
	}
	return db, nil
}

// guard runs f, which reads the file of a node, and returns the panic or the fault by which bbolt meets a damaged page.
//
// Errors: *CorruptError for those; f's.
func guard(dir string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = &CorruptError{Dir: dbPath(dir), What: fmt.Sprint(p)}
		}
	}()
	return f()
}

// walk reads every entry and what is beside them. Raft would meet a page that is damaged in a goroutine of its own, where it ends the
// process.
func walk(dir string, d disk) error {
	return guard(dir, func() error {
		if _, err := d.Get(nodeKey); err != nil && err.Error() != raftNotFound {
			return err
		}
		first, err := d.FirstIndex()
		last, err2 := d.LastIndex()
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		for index := first; index > 0 && index <= last; index++ {
			var log raft.Log
			if err := d.GetLog(index, &log); err != nil {
				return &CorruptError{Dir: dir, Entry: index, What: "it cannot be read", Err: err}
			}
			if log.Index != index || log.Type == raft.LogConfiguration && !decodes(log.Data) {
				return &CorruptError{Dir: dir, Entry: index, What: "it is not what it should be"}
			}
		}
		return nil
	})
}

// A store passes writes to a disk, one at a time and each for a bounded time. The first one that fails or takes too long
// poisons it for good: nothing is written after it, so a write that was given up cannot be followed by another. What a
// failed flush left in the file is not known, and a later one that succeeds says nothing about it.
//
// Reads are passed on even then. They change nothing, and raft ends the process when it cannot read an entry.
type store struct {
	disk  disk
	dir   string
	stall time.Duration

	running  atomic.Bool // raft has the store
	onPoison func(*PoisonError)
	poisoned chan struct{}
	work     chan write
	quit     chan struct{} // closed by close: the worker ends after the write it is in
	ended    chan struct{} // closed by the worker, after disk and lock are given up
	ending   error         // of that; valid once ended is closed
	closing  sync.Once

	mu     sync.Mutex
	poison *PoisonError
	busy   bool // the worker is in a write
}

type write struct {
	run  func() error
	done chan error // of one
}

// newStore returns a store over d that calls finish, after d is closed, as the last thing. It starts the goroutine that
// writes, which ends with close.
func newStore(d disk, dir string, stall time.Duration, onPoison func(*PoisonError), finish func() error) *store {
	s := &store{
		disk: d, dir: dir, stall: stall, onPoison: onPoison,
		poisoned: make(chan struct{}), work: make(chan write), quit: make(chan struct{}), ended: make(chan struct{}),
	}
	go s.writer(finish)
	return s
}

func (s *store) writer(finish func() error) {
	defer close(s.ended)
	for {
		select {
		case w := <-s.work:
			if s.begin() {
				err := w.run()
				s.end()
				w.done <- err
			} else {
				w.done <- s.err()
			}
		case <-s.quit:
			s.ending = errors.Join(s.disk.Close(), finish())
			return
		}
	}
}

// begin tells whether a write may be passed on.
func (s *store) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = s.poison == nil
	return s.busy
}

func (s *store) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = false
}

// err returns the poison, nil if there is none.
func (s *store) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.poison == nil {
		return nil
	}
	return s.poison
}

// fail poisons the store, unless it is already, and returns the poison.
func (s *store) fail(op string, cause error) error {
	s.mu.Lock()
	first := s.poison == nil
	if first {
		s.poison = &PoisonError{Dir: s.dir, Op: op, Err: cause}
		close(s.poisoned)
	}
	poison := s.poison
	s.mu.Unlock()
	if first && s.onPoison != nil {
		s.onPoison(poison)
	}
	return poison
}

// write passes one write on.
//
// Errors: *PoisonError, whatever goes wrong.
func (s *store) write(op string, run func() error) error {
	if err := s.err(); err != nil {
		return err
	}
	timer := time.NewTimer(s.stall)
	defer timer.Stop()
	w := write{run: run, done: make(chan error, 1)}
	select {
	case s.work <- w:
	case <-s.poisoned:
		return s.err()
	case <-s.ended:
		return s.fail(op, os.ErrClosed)
	case <-timer.C:
		return s.fail(op, &StallError{After: s.stall})
	}
	select {
	case err := <-w.done:
		if err != nil {
			return s.fail(op, err)
		}
		return s.err() // another write may have failed meanwhile; then nothing more is said to be there
	case <-timer.C:
		return s.fail(op, &StallError{After: s.stall})
	}
}

// must ends the goroutine, which is one of raft's, if a vote or a term could not be written: raft knows no answer to that but to end the
// process. Its deferred calls run, so whoever waits for it is answered, and raft's Shutdown does not wait for it.
func (s *store) must(err error) error {
	if err != nil && s.running.Load() {
		runtime.Goexit()
	}
	return err
}

// close ends the store and gives the disk and the lock up. A write that hangs is not waited for: they are given up when it
// returns, and until then nobody else can open the folder.
func (s *store) close() error {
	s.closing.Do(func() { close(s.quit) })
	s.mu.Lock()
	stuck := s.busy && s.poison != nil
	s.mu.Unlock()
	if stuck {
		return s.err()
	}
	<-s.ended
	return s.ending
}

// FirstIndex returns the index of the first entry, 0 if there is none.
func (s *store) FirstIndex() (uint64, error) { return s.disk.FirstIndex() }

// LastIndex returns the index of the last entry, 0 if there is none.
func (s *store) LastIndex() (uint64, error) { return s.disk.LastIndex() }

// GetLog reads the entry at index into log.
func (s *store) GetLog(index uint64, log *raft.Log) error { return s.disk.GetLog(index, log) }

// StoreLog writes an entry.
func (s *store) StoreLog(log *raft.Log) error { return s.StoreLogs([]*raft.Log{log}) }

// StoreLogs writes entries, together.
func (s *store) StoreLogs(logs []*raft.Log) error {
	return s.write("write entries", func() error { return s.disk.StoreLogs(logs) })
}

// DeleteRange removes the entries from one index to another.
func (s *store) DeleteRange(from, to uint64) error {
	return s.write("remove entries", func() error { return s.disk.DeleteRange(from, to) })
}

// Get returns the value of a key.
func (s *store) Get(key []byte) ([]byte, error) { return s.disk.Get(key) }

// GetUint64 returns the number under a key.
func (s *store) GetUint64(key []byte) (uint64, error) { return s.disk.GetUint64(key) }

// Set writes a value.
func (s *store) Set(key, value []byte) error {
	return s.must(s.write("write "+string(key), func() error { return s.disk.Set(key, value) }))
}

// SetUint64 writes a number.
func (s *store) SetUint64(key []byte, value uint64) error {
	return s.must(s.write("write "+string(key), func() error { return s.disk.SetUint64(key, value) }))
}
