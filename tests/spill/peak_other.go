//go:build !linux

package main

import "runtime"

func resetPeak() {}

// peakMemory is what the runtime has obtained, which is an upper bound of what was resident.
func peakMemory() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
