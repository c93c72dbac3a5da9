//go:build linux || darwin

package raftlog

import (
	"math"
	"os"
	"syscall"
)

// freeSpace returns how many bytes of the disk of a folder programs may write yet, and how many it has.
func freeSpace(dir string) (free, total int64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	bytes := func(blocks uint64) int64 {
		size := uint64(s.Bsize)
		if size > 0 && blocks > math.MaxInt64/size {
			return math.MaxInt64
		}
		return int64(blocks * size)
	}
	return bytes(s.Bavail), bytes(s.Blocks), nil
}
