//go:build !linux && !darwin && !windows

package raftlog

import "errors"

// freeSpace returns an error: what is free is not asked for on this system.
func freeSpace(string) (free, total int64, err error) { return 0, 0, errors.ErrUnsupported }
