package receivedlog_test

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

var errDisk = errors.New("input/output error")

// memFS is a disk that knows what of it is durable, and that fails when told to.
type memFS struct {
	mu      sync.Mutex
	files   map[string]*memFile // as the process sees them
	durable map[string]*memFile // the names that a crash leaves

	room       int64  // bytes that can be written yet; negative: without end
	failSyncs  int    // so many flushes of files fail and lose what was written
	failWrites int    // so many writes write half and fail
	noTruncate bool   // truncating fails
	onSync     func() // called in every flush of a file
	syncs      int
}

type memFile struct {
	fs           *memFS
	data, synced []byte
}

func newMemFS() *memFS {
	return &memFS{files: map[string]*memFile{}, durable: map[string]*memFile{}, room: -1}
}

func (m *memFS) MkdirAll(string) error { return nil }

func (m *memFS) List(string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var names []string
	for path := range m.files {
		names = append(names, filepath.Base(path))
	}
	slices.Sort(names)
	return names, nil
}

func (m *memFS) Create(path string) (receivedlog.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.room == 0 {
		return nil, &fs.PathError{Op: "create", Path: path, Err: syscall.ENOSPC}
	}
	f := &memFile{fs: m}
	m.files[path] = f
	return f, nil
}

func (m *memFS) Open(path string) (receivedlog.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f, ok := m.files[path]; ok {
		return f, nil
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
}

func (m *memFS) Edit(path string) (receivedlog.File, error) { return m.Open(path) }

func (m *memFS) Remove(path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.files[path]; !ok {
		return &fs.PathError{Op: "remove", Path: path, Err: fs.ErrNotExist}
	}
	delete(m.files, path)
	return nil
}

func (m *memFS) SyncDir(string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.durable = maps.Clone(m.files)
	return nil
}

func (f *memFile) Close() error { return nil }

func (f *memFile) Size() (int64, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return int64(len(f.data)), nil
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if off >= int64(len(f.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) WriteAt(p []byte, off int64) (n int, err error) {
	m := f.fs
	m.mu.Lock()
	defer m.mu.Unlock()
	n = len(p)
	if m.failWrites > 0 {
		m.failWrites--
		n, err = n/2, errDisk
	}
	if m.room >= 0 && int64(n) > m.room {
		n, err = int(m.room), syscall.ENOSPC
	}
	if m.room >= 0 {
		m.room -= int64(n)
	}
	if grown := off + int64(n) - int64(len(f.data)); grown > 0 {
		f.data = append(f.data, make([]byte, grown)...)
	}
	copy(f.data[off:], p[:n])
	return n, err
}

func (f *memFile) Truncate(size int64) error {
	m := f.fs
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.noTruncate {
		return errDisk
	}
	if m.room >= 0 {
		m.room += int64(len(f.data)) - size
	}
	f.data = f.data[:size]
	return nil
}

func (f *memFile) Sync() error {
	m := f.fs
	m.mu.Lock()
	if m.onSync != nil {
		wait := m.onSync
		m.mu.Unlock()
		wait()
		m.mu.Lock()
	}
	defer m.mu.Unlock()
	m.syncs++
	if m.failSyncs > 0 {
		m.failSyncs--
		return errDisk
	}
	f.synced = slices.Clone(f.data)
	return nil
}

// crash returns what the disk holds after the power has gone: of what was not flushed nothing, the beginning, or any of its blocks.
func (m *memFS) crash(kind string, r *rand.Rand) *memFS {
	m.mu.Lock()
	defer m.mu.Unlock()
	after := newMemFS()
	for _, path := range slices.Sorted(maps.Keys(m.durable)) {
		f := m.durable[path]
		data := slices.Clone(f.synced)
		switch kind {
		case "torn":
			if n := len(f.data) - len(data); n > 0 {
				data = append(data, f.data[len(data):len(data)+r.IntN(n+1)]...)
			}
		case "half":
			const block = 64
			for len(data) < len(f.data) {
				n := min(block-len(data)%block, len(f.data)-len(data))
				part := f.data[len(data) : len(data)+n]
				if r.IntN(2) == 0 {
					part = make([]byte, n)
				}
				data = append(data, part...)
			}
		}
		kept := &memFile{fs: after, data: data, synced: slices.Clone(data)}
		after.files[path], after.durable[path] = kept, kept
	}
	return after
}
