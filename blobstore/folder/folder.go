package folder

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/leat-io/leat/blobstore"
)

// Options says how a Store is opened. The zero value is that of a folder of the operating system.
type Options struct {
	// FS is the file system. Nil is OS.
	FS FS
	// ReadOnly opens a folder that must be there and makes nothing in it, for those who only look: whatever would write is refused.
	ReadOnly bool
}

// Validate returns nil: no options are wrong.
func (o Options) Validate() error { return nil }

// String returns the options as they are used.
func (o Options) String() string {
	text := "file system of the operating system"
	if o.FS != nil {
		text = fmt.Sprintf("file system %T", o.FS)
	}
	if o.ReadOnly {
		text += ", read only"
	}
	return text
}

// leftover is the age past which a file that is being written is taken for one of a process that has ended.
const leftover = 24 * time.Hour

// Store is a blobstore.Store in a folder.
type Store struct {
	dir      string
	fs       FS
	readOnly bool

	mu   sync.Mutex             // guards the fields below
	made map[string]fs.FileInfo // folders whose names, and those above them, are known to be durable
}

// Open returns the store in the folder dir, which is made if it is not there. What processes that ended left unfinished more than
// a day ago is removed.
//
// Cost: a few calls of the file system and two files that are made and removed; with Options.ReadOnly one call.
// Errors: *blobstore.UnsupportedError for a file system without hard links; those of the file system.
func Open(dir string, opts Options) (*Store, error) {
	s := &Store{dir: filepath.Clean(dir), fs: opts.FS, readOnly: opts.ReadOnly, made: make(map[string]fs.FileInfo)}
	if s.fs == nil {
		s.fs = OS{}
	}
	if err := s.prepare(); err != nil {
		return nil, fmt.Errorf("open blob store %s: %w", dir, err)
	}
	return s, nil
}

// String returns "folder" and the path.
func (s *Store) String() string { return "folder " + s.dir }

// writable returns why nothing is written, if nothing is.
func (s *Store) writable() error {
	if s.readOnly {
		return &blobstore.UnsupportedError{Store: s.String(), What: "was opened to be read only"}
	}
	return nil
}

// prepare makes the folders and finds out what the file system can.
func (s *Store) prepare() error {
	if s.readOnly {
		info, err := s.fs.Stat(s.dir)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("it is no folder: %w", fs.ErrInvalid)
		}
		return err
	}
	tmp := filepath.Join(s.dir, tmpFolder)
	if err := s.mkdirAll(tmp); err != nil {
		return err
	}
	// Folders up to the root of the file system were there before, or have been synced now.
	if err := s.fs.SyncDir(s.dir); err != nil {
		return err
	}
	entries, err := s.fs.ReadDir(tmp)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && !info.ModTime().IsZero() && time.Since(info.ModTime()) > leftover {
			_ = s.fs.Remove(filepath.Join(tmp, e.Name())) // it only takes room
		}
	}
	probe := s.temporary()
	f, err := s.fs.Create(probe)
	if err != nil {
		return err
	}
	err = f.Close()
	linked := s.fs.Link(probe, probe+"-link")
	again := s.fs.Link(probe, probe+"-link")
	if linked != nil || !errors.Is(again, fs.ErrExist) {
		err = errors.Join(err, &blobstore.UnsupportedError{Store: s.String(), What: "has no hard links"}, linked)
	}
	if linked == nil {
		err = errors.Join(err, s.fs.Remove(probe+"-link"))
	}
	return errors.Join(err, s.fs.Remove(probe))
}

// temporary returns a path that nobody else uses.
func (s *Store) temporary() string { return filepath.Join(s.dir, tmpFolder, rand.Text()) }

// mkdirAll makes a folder and those above it, each durable.
func (s *Store) mkdirAll(dir string) error {
	err := s.fs.Mkdir(dir)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
		if err := s.mkdirAll(filepath.Dir(dir)); err != nil {
			return err
		}
		err = s.fs.Mkdir(dir)
	}
	switch {
	case err == nil:
		return s.fs.SyncDir(filepath.Dir(dir))
	case errors.Is(err, fs.ErrExist):
		return nil
	}
	if info, serr := s.fs.Stat(dir); serr == nil && info.IsDir() {
		return nil // a root that may not be written, as that of a drive
	}
	return err
}

// syncUp makes durable the names in dir, and those of the folders that lead to it from the root of the store. The latter cost
// nothing when it has been done before: whoever made a folder may have ended before it was synced.
func (s *Store) syncUp(dir string) error {
	if err := s.fs.SyncDir(dir); err != nil || dir == s.dir {
		return err
	}
	info, err := s.fs.Stat(dir)
	if err != nil {
		return err
	}
	s.mu.Lock()
	known := s.made[dir]
	s.mu.Unlock()
	if known != nil && os.SameFile(known, info) {
		return nil
	}
	for up := filepath.Dir(dir); ; up = filepath.Dir(up) {
		if err := s.fs.SyncDir(up); err != nil {
			return err
		}
		if up == s.dir || !strings.HasPrefix(up, s.dir) {
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.made) >= maxMade {
		clear(s.made) // they are synced once more
	}
	s.made[dir] = info
	return nil
}

// maxMade bounds the folders that are remembered.
const maxMade = 4096

// failed returns err with what was being done.
func failed(op, name string, err error) error {
	var bad *blobstore.NameError
	if err == nil || errors.As(err, &bad) {
		return err
	}
	return &blobstore.Error{Op: op, Name: name, Err: err}
}

// lock takes the lock of the store.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	if err := s.writable(); err != nil {
		return nil, err
	}
	l, err := s.fs.Lock(ctx, filepath.Join(s.dir, lockFile))
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", s.dir, err)
	}
	return func() { _ = l.Close() }, nil // what was done under it is done
}
