package disk

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// ErrCrashed is what every call returns once the disk has crashed.
var ErrCrashed = errors.New("disk: the process has ended")

// ErrFault is what a call that was made to fail returns.
var ErrFault = errors.New("disk: a fault of the test")

// A File is a file that is being written.
type File = interface {
	io.Writer
	Sync() error
	Close() error
}

// A Disk keeps files in memory. It has a root folder and nothing else when it is new.
type Disk struct {
	mu      sync.Mutex // guards all that follows
	root    *node
	ids     uint64 // of nodes and calls
	calls   int
	crashAt int
	when    When
	crashed bool
	failAt  int
	last    Op
	full    bool // room counts
	room    int64
}

// New returns an empty disk.
func New() *Disk { return &Disk{root: newDir(0)} }

// call counts a call and runs its effect, unless the plan has another idea.
func (d *Disk) call(kind, name string, effect func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.crashed {
		return ErrCrashed
	}
	d.calls++
	d.ids++
	d.last = Op{N: d.calls, Kind: kind, Name: name}
	switch d.calls {
	case d.failAt:
		if kind != "write" {
			return &fs.PathError{Op: kind, Path: name, Err: ErrFault}
		}
	case d.crashAt:
		d.crashed = true
		if d.when == After {
			_ = effect()
		}
		return ErrCrashed
	}
	if err := effect(); err != nil {
		return &fs.PathError{Op: kind, Path: name, Err: err}
	}
	return nil
}

// find returns the node of a name, nil if there is none.
func (d *Disk) find(name string) *node {
	at := d.root
	for _, element := range elements(name) {
		if at == nil || !at.dir {
			return nil
		}
		at = at.names[element]
	}
	return at
}

// parent returns the folder of a name and the name within it.
func (d *Disk) parent(name string) (dir *node, base string, err error) {
	path := elements(name)
	if len(path) == 0 {
		return nil, "", fs.ErrExist
	}
	dir = d.find(filepath.Dir(filepath.Clean(name)))
	switch {
	case dir == nil:
		return nil, "", fs.ErrNotExist
	case !dir.dir:
		return nil, "", syscall.ENOTDIR
	}
	return dir, path[len(path)-1], nil
}

func elements(name string) []string {
	name = filepath.ToSlash(filepath.Clean(name)[len(filepath.VolumeName(name)):])
	return strings.FieldsFunc(name, func(r rune) bool { return r == '/' })
}

// add gives a node a name that must be free.
func (d *Disk) add(name string, n *node) error {
	dir, base, err := d.parent(name)
	if err != nil {
		return err
	}
	if dir.names[base] != nil {
		return fs.ErrExist
	}
	if d.full && d.room < 1 {
		return syscall.ENOSPC
	}
	d.room--
	dir.set(d.ids, base, n)
	return nil
}

// Mkdir creates a folder in one that is there.
func (d *Disk) Mkdir(name string) error {
	return d.call("mkdir", name, func() error { return d.add(name, newDir(d.ids)) })
}

// Create creates a file that must not be there.
func (d *Disk) Create(name string) (File, error) {
	f := &file{disk: d, name: name}
	err := d.call("create", name, func() error {
		f.node = &node{id: d.ids}
		return d.add(name, f.node)
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Open reads a file as it is now.
func (d *Disk) Open(name string) (io.ReadCloser, error) {
	var data []byte
	err := d.call("open", name, func() error {
		n := d.find(name)
		switch {
		case n == nil:
			return fs.ErrNotExist
		case n.dir:
			return syscall.EISDIR
		}
		data = n.data[:len(n.data):len(n.data)] // files only grow
		return nil
	})
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// Stat describes a file or a folder. It has no times.
func (d *Disk) Stat(name string) (fs.FileInfo, error) {
	var i info
	err := d.call("stat", name, func() error {
		n := d.find(name)
		if n == nil {
			return fs.ErrNotExist
		}
		i = n.info(filepath.Base(name))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return i, nil
}

// ReadDir returns what a folder holds, by name.
func (d *Disk) ReadDir(name string) ([]fs.DirEntry, error) {
	var entries []fs.DirEntry
	err := d.call("readdir", name, func() error {
		n := d.find(name)
		switch {
		case n == nil:
			return fs.ErrNotExist
		case !n.dir:
			return syscall.ENOTDIR
		}
		for _, base := range sorted(n.names) {
			entries = append(entries, n.names[base].info(base))
		}
		return nil
	})
	return entries, err
}

// Link gives a file a second name, which must be free.
func (d *Disk) Link(oldname, newname string) error {
	return d.call("link", newname, func() error {
		n := d.find(oldname)
		switch {
		case n == nil:
			return fs.ErrNotExist
		case n.dir:
			return syscall.EPERM
		}
		return d.add(newname, n)
	})
}

// Rename moves a file, over another if there is one.
func (d *Disk) Rename(oldname, newname string) error {
	return d.call("rename", newname, func() error {
		from, base, err := d.parent(oldname)
		if err != nil {
			return err
		}
		to, target, err := d.parent(newname)
		if err != nil {
			return err
		}
		n := from.names[base]
		switch old := to.names[target]; {
		case n == nil:
			return fs.ErrNotExist
		case old == n:
			return nil
		case old != nil && (old.dir || n.dir):
			return fs.ErrExist
		}
		to.set(d.ids, target, n)
		from.set(d.ids, base, nil)
		return nil
	})
}

// Remove removes a file or an empty folder.
func (d *Disk) Remove(name string) error {
	return d.call("remove", name, func() error {
		dir, base, err := d.parent(name)
		if err != nil {
			return err
		}
		n := dir.names[base]
		switch {
		case n == nil:
			return fs.ErrNotExist
		case n.dir && len(n.names) > 0:
			return syscall.ENOTEMPTY
		}
		dir.set(d.ids, base, nil)
		return nil
	})
}

// SyncDir makes the names in a folder durable.
func (d *Disk) SyncDir(name string) error {
	return d.call("syncdir", name, func() error {
		n := d.find(name)
		switch {
		case n == nil:
			return fs.ErrNotExist
		case !n.dir:
			return syscall.ENOTDIR
		}
		n.sync()
		return nil
	})
}
