package executor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// A disk is the folder of an executor's files. It is made when the first of them is. mu guards all
// fields and the files' references.
type disk struct {
	folder func() (string, error) // nil: a folder of its own
	remove func(paths ...string)
	create func(path string) (newFile, error)

	mu     sync.Mutex
	path   string // empty until it is made
	closed bool
	made   int64 // files so far
	files  map[string]*file
}

// A newFile is a file that is being written.
type newFile interface {
	io.Writer
	io.ReaderAt
	io.Closer
	Name() string
}

// A file holds the segments of a map output, with an index, or the one of a persisted partition. It is
// removed when nobody refers to it any more.
type file struct {
	disk     *disk
	path     string
	index    string // empty: one segment, the whole file
	segments int
	size     int64
	refs     int
}

func newDisk(folder func() (string, error), remove func(paths ...string)) *disk {
	if folder == nil {
		folder = func() (string, error) { return os.MkdirTemp("", "leat-") }
	}
	if remove == nil {
		remove = func(paths ...string) {
			for _, p := range paths {
				_ = os.Remove(p) // only room is lost
			}
		}
	}
	create := func(path string) (newFile, error) {
		return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	}
	return &disk{folder: folder, remove: remove, create: create, files: map[string]*file{}}
}

// temp makes a file that is to be removed or renamed.
func (d *disk) temp(name string) (newFile, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, &FileError{Path: name, Doing: "make", Err: errClosed}
	}
	if d.path == "" {
		path, err := d.folder()
		if err != nil {
			return nil, &FileError{Path: name, Doing: "make the folder of", Err: err}
		}
		d.path = path
	}
	d.made++
	path := filepath.Join(d.path, fmt.Sprintf("%s.%d.tmp", name, d.made))
	f, err := d.create(path)
	if err != nil {
		return nil, &FileError{Path: path, Doing: "make", Err: err}
	}
	return f, nil
}

// discard closes and removes a temporary file.
func (d *disk) discard(f newFile) error {
	err := f.Close()
	return errors.Join(err, os.Remove(f.Name()))
}

// publish closes a temporary file of one segment and makes it one that is referred to once. If that cannot
// be done the file is still open, or removed.
func (d *disk) publish(f newFile, size int64) (*file, error) {
	tmp := f.Name()
	path := tmp[:len(tmp)-len(".tmp")]
	if err := f.Close(); err != nil {
		_ = os.Remove(tmp)
		return nil, &FileError{Path: tmp, Doing: "close", Err: err}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := os.Rename(tmp, path); err != nil {
		_ = os.Remove(tmp)
		return nil, &FileError{Path: tmp, Doing: "rename", Err: err}
	}
	p := &file{disk: d, path: path, segments: 1, size: size, refs: 1}
	d.files[path] = p
	return p, nil
}

// publishPair makes temporary files of data and index the output called name. Where there is a valid one
// of that name it stays, and its lengths are returned.
func (d *disk) publishPair(name string, data, index newFile, lengths []int64) (*file, []int64, error) {
	err := errors.Join(data.Close(), index.Close())
	defer func() {
		if err != nil {
			_, _ = os.Remove(data.Name()), os.Remove(index.Name())
		}
	}()
	if err != nil {
		return nil, nil, &FileError{Path: data.Name(), Doing: "close", Err: err}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	base := filepath.Join(d.path, name)
	f := &file{disk: d, path: base + ".data", index: base + ".index", segments: len(lengths), refs: 1}
	if kept, ok := f.valid(); ok {
		_, _ = os.Remove(data.Name()), os.Remove(index.Name())
		lengths = kept
	} else if err = errors.Join(os.Rename(data.Name(), f.path), os.Rename(index.Name(), f.index)); err != nil {
		return nil, nil, &FileError{Path: f.path, Doing: "rename", Err: err}
	}
	for _, n := range lengths {
		f.size += n
	}
	if old := d.files[f.path]; old != nil {
		old.refs++
		old.size = f.size
		return old, lengths, nil
	}
	d.files[f.path] = f
	return f, lengths, nil
}

// valid returns the lengths of the segments if both files are there and fit each other.
func (f *file) valid() ([]int64, bool) {
	info, err := os.Stat(f.index)
	if err != nil || info.Size() != 8*(int64(f.segments)+1) {
		return nil, false
	}
	index, err := os.ReadFile(f.index)
	if err != nil {
		return nil, false
	}
	lengths, total, ok := lengthsOf(index, f.segments)
	if info, err := os.Stat(f.path); !ok || err != nil || info.Size() != total {
		return nil, false
	}
	return lengths, true
}

func (f *file) ref() {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.refs++
}

// unref removes the file if it was the last one to refer to it. A nil file is none.
func (f *file) unref() {
	if f == nil {
		return
	}
	f.disk.mu.Lock()
	f.refs--
	last := f.refs == 0
	if last {
		delete(f.disk.files, f.path)
	}
	f.disk.mu.Unlock()
	switch {
	case !last:
	case f.index == "":
		f.disk.remove(f.path)
	default:
		f.disk.remove(f.path, f.index)
	}
}

// read yields the frames of a segment from number first on. damage is a *FileError.
func (f *file) read(segment, first int, yield func(Held) error) (damage, stop error) {
	data, err := os.Open(f.path)
	if err != nil {
		return &FileError{Path: f.path, Doing: "open", Err: err}, nil
	}
	defer data.Close()
	info, err := data.Stat()
	if err != nil {
		return &FileError{Path: f.path, Doing: "read", Err: err}, nil
	}
	if info.Size() != f.size {
		return &FileError{Path: f.path, Doing: "read", Err: fmt.Errorf("%d bytes of %d: %w", info.Size(), f.size, errDamaged)}, nil
	}
	from, to := int64(0), f.size
	if f.index != "" {
		if from, to, err = f.bounds(segment); err != nil {
			return &FileError{Path: f.index, Doing: "read", Err: err}, nil
		}
		if from == to {
			return nil, nil
		}
	}
	damage, stop = readFrames(io.NewSectionReader(data, from, to-from), segment, first, -1, yield)
	if damage != nil {
		damage = &FileError{Path: f.path, Doing: "read", Err: damage}
	}
	return damage, stop
}

// bounds returns where a segment begins and ends.
func (f *file) bounds(segment int) (from, to int64, err error) {
	index, err := os.Open(f.index)
	if err != nil {
		return 0, 0, err
	}
	defer index.Close()
	var b [16]byte
	if _, err := index.ReadAt(b[:], 8*int64(segment)); err != nil {
		return 0, 0, err
	}
	begin, end := binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])
	if begin > end || end > uint64(f.size) {
		return 0, 0, errDamaged
	}
	return int64(begin), int64(end), nil
}

// close removes the folder with all files, and refuses to make others.
func (d *disk) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.path == "" {
		return nil
	}
	if err := os.RemoveAll(d.path); err != nil {
		return &FileError{Path: d.path, Doing: "remove", Err: err}
	}
	return nil
}
