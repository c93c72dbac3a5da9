//go:build !unix

package main

import "time"

// clockName says what cpuTime measures.
const clockName = "wall"

var started = time.Now()

// cpuTime returns wall time, where the time of a process is not to be had.
func cpuTime() time.Duration { return time.Since(started) }
