package executor

import (
	"sync"
	"syscall"
)

// A FullDisk is one with so many bytes left, of which many goroutines write.
type FullDisk struct {
	mu   sync.Mutex
	left int
}

// FillDisk leaves so many bytes on the executor's disk.
func (e *Executor) FillDisk(left int) {
	full := &FullDisk{left: left}
	create := e.disk.create
	e.disk.create = func(path string) (newFile, error) {
		f, err := create(path)
		if err != nil {
			return nil, err
		}
		return &fullFile{f, full}, nil
	}
}

type fullFile struct {
	newFile
	disk *FullDisk
}

func (f *fullFile) Write(p []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if len(p) <= f.disk.left {
		f.disk.left -= len(p)
		return f.newFile.Write(p)
	}
	n, err := f.newFile.Write(p[:f.disk.left])
	f.disk.left -= n
	if err == nil {
		err = syscall.ENOSPC
	}
	return n, err
}
