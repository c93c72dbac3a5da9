package raftlog

import (
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// freeSpace returns how many bytes of the disk of a folder programs may write yet, and how many it has.
func freeSpace(dir string) (free, total int64, err error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, 0, &os.PathError{Op: "free space", Path: dir, Err: err}
	}
	var mine, all uint64
	if err := windows.GetDiskFreeSpaceEx(path, &mine, &all, nil); err != nil {
		return 0, 0, &os.PathError{Op: "free space", Path: dir, Err: err}
	}
	return int64(min(mine, math.MaxInt64)), int64(min(all, math.MaxInt64)), nil
}
