package faultdisk

import (
	"context"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
)

// A file is an open file of a disk.
type file struct {
	*fs.LoopbackFile
	node *node
}

// PassthroughFd says that there is none: the kernel would write to the real file by itself.
func (f *file) PassthroughFd() (int, bool) { return 0, false }

func (f *file) Write(ctx context.Context, data []byte, off int64) (uint32, syscall.Errno) {
	if errno := f.node.gate.pass(Writes, f.node.path("")); errno != 0 {
		return 0, errno
	}
	return f.LoopbackFile.Write(ctx, data, off)
}

func (f *file) Writev(ctx context.Context, data [][]byte, off int64) (uint32, syscall.Errno) {
	if errno := f.node.gate.pass(Writes, f.node.path("")); errno != 0 {
		return 0, errno
	}
	return f.LoopbackFile.Writev(ctx, data, off)
}

func (f *file) Allocate(ctx context.Context, off, size uint64, mode uint32) syscall.Errno {
	if errno := f.node.gate.pass(Writes, f.node.path("")); errno != 0 {
		return errno
	}
	return f.LoopbackFile.Allocate(ctx, off, size, mode)
}

func (f *file) Fsync(ctx context.Context, flags uint32) syscall.Errno {
	if errno := f.node.gate.pass(Flushes, f.node.path("")); errno != 0 {
		return errno
	}
	return f.LoopbackFile.Fsync(ctx, flags)
}

// opened is what an open folder can do.
type opened interface {
	fs.FileReaddirenter
	fs.FileSeekdirer
	fs.FileReleasedirer
	fs.FileFsyncdirer
}

// A folder is an open folder of a disk.
type folder struct {
	opened
	node *node
}

func (d *folder) Fsyncdir(ctx context.Context, flags uint32) syscall.Errno {
	if errno := d.node.gate.pass(Flushes, d.node.path("")); errno != 0 {
		return errno
	}
	return d.opened.Fsyncdir(ctx, flags)
}
