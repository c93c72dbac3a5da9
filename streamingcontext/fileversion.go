package streamingcontext

import (
	"context"
	"fmt"
	"os"

	"github.com/leat-io/leat/receivers/file"
)

// A FileChangedError says that a file is not what it was when it was selected for a batch.
type FileChangedError struct {
	Path             string
	Size, Was        int64 // bytes, now and then
	ModTime, WasTime int64 // milliseconds since the epoch, now and then
}

// Error returns the path, and size and time now and then.
func (e *FileChangedError) Error() string {
	return fmt.Sprintf("read %s: the file has %d bytes of time %d, it was selected with %d of time %d", e.Path, e.Size, e.ModTime, e.Was, e.WasTime)
}

// versionReader reads the version of a file that was selected.
type versionReader struct {
	*os.File
	ctx    context.Context // of the task, with which the reader ends
	want   file.File
	offset int64 // bytes read
}

// openVersion opens a file, if it is the version that was selected.
func openVersion(ctx context.Context, f file.File) (*versionReader, error) {
	open, err := os.Open(f.Path)
	if err != nil {
		return nil, err
	}
	r := &versionReader{File: open, ctx: ctx, want: f}
	if err := r.unchanged(); err != nil {
		_ = open.Close() // nothing was written
		return nil, err
	}
	return r, nil
}

// unchanged returns an error if the open file is another version now.
func (r *versionReader) unchanged() error {
	info, err := r.Stat()
	if err != nil {
		return err
	}
	return sameVersion(info, r.want)
}

// checkVersion returns an error if the file at want's path is another version now, or gone.
func checkVersion(want file.File) error {
	info, err := os.Stat(want.Path)
	if err != nil {
		return err
	}
	return sameVersion(info, want)
}

func sameVersion(info os.FileInfo, want file.File) error {
	if size, mod := info.Size(), info.ModTime().UnixMilli(); size != want.Size || mod != want.ModTime {
		return &FileChangedError{Path: want.Path, Size: size, Was: want.Size, ModTime: mod, WasTime: want.ModTime}
	}
	return nil
}

// Read reads, until the task ends.
func (r *versionReader) Read(p []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	n, err := r.File.Read(p)
	r.offset += int64(n)
	return n, err
}

// ReadAt reads, until the task ends.
func (r *versionReader) ReadAt(p []byte, off int64) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.File.ReadAt(p, off)
}
