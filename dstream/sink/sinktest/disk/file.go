package disk

import (
	"io/fs"
	"syscall"
)

// file is a file that is being written.
type file struct {
	disk *Disk
	name string
	node *node
	shut bool
}

func (f *file) Write(p []byte) (n int, err error) {
	err = f.disk.call("write", f.name, func() error {
		d := f.disk
		if f.shut {
			return fs.ErrClosed
		}
		n = len(p)
		var short error
		switch {
		case d.calls == d.failAt:
			n, short = n/2, ErrFault
		case d.calls == d.crashAt:
			n, short = n/2, ErrCrashed
		case d.full && d.room < int64(n):
			n, short = int(max(d.room, 0)), syscall.ENOSPC
		}
		d.room -= int64(n)
		f.node.data = append(f.node.data, p[:n]...)
		return short
	})
	return n, err
}

func (f *file) Sync() error {
	return f.disk.call("sync", f.name, func() error {
		if f.shut {
			return fs.ErrClosed
		}
		f.node.synced = len(f.node.data)
		return nil
	})
}

func (f *file) Close() error {
	return f.disk.call("close", f.name, func() error {
		if f.shut {
			return fs.ErrClosed
		}
		f.shut = true
		return nil
	})
}
