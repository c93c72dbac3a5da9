//go:build unix

package main

import (
	"syscall"
	"time"
)

// clockName says what cpuTime measures.
const clockName = "processor"

// cpuTime returns the time this process has had a processor, in user and in system mode. On a busy
// machine it says what a program costs, where wall time says how long it had to wait as well.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
