package faultdisk

import (
	"fmt"
	"strings"
	"syscall"
	"time"
)

// Calls are kinds of calls that a disk gets.
type Calls uint8

// The kinds of calls. Reads are none of them: they are always answered.
const (
	Writes   Calls = 1 << iota // bytes are written, files and folders made, files made longer
	Moves                      // files and folders are renamed or removed, files made shorter
	Flushes                    // files and folders are flushed, with or without their times
	AllCalls = Writes | Moves | Flushes
)

// String returns the kinds, separated by '+'.
func (c Calls) String() string {
	var kinds []string
	for i, name := range [...]string{"writes", "moves", "flushes"} {
		if c&(1<<i) != 0 {
			kinds = append(kinds, name)
		}
	}
	return strings.Join(kinds, "+")
}

// A Fault is what is wrong with a disk. The zero value is nothing.
type Fault struct {
	Calls Calls         // those it meets
	Under string        // a path within the disk: it meets calls for that and what is below. "" is all
	Hang  bool          // they wait until another fault is set, and meet that
	Delay time.Duration // they take that much longer
	Err   syscall.Errno // they are not made, and answered with this. 0: they are made
	Full  bool          // the disk says that nothing is free
}

// Hung returns the fault of a disk that answers no call.
func Hung() Fault { return Fault{Calls: AllCalls, Hang: true} }

// FlushErrors returns the fault of a disk on which nothing becomes durable: flushes answer EIO.
func FlushErrors() Fault { return Fault{Calls: Flushes, Err: syscall.EIO} }

// WriteErrors returns the fault of a disk that takes nothing: writes and flushes answer EIO.
func WriteErrors() Fault { return Fault{Calls: Writes | Flushes, Err: syscall.EIO} }

// Full returns the fault of a disk without room: writes answer ENOSPC. Files can be removed.
func Full() Fault { return Fault{Calls: Writes, Err: syscall.ENOSPC, Full: true} }

// Slow returns the fault of a disk whose calls take longer by d.
func Slow(d time.Duration) Fault { return Fault{Calls: AllCalls, Delay: d} }

// String returns the fault in words.
func (f Fault) String() string {
	if f.Calls == 0 && !f.Full {
		return "none"
	}
	s := f.Calls.String()
	if f.Under != "" {
		s += " under " + f.Under
	}
	if f.Hang {
		s += " hang"
	}
	if f.Delay > 0 {
		s += fmt.Sprintf(" take %s longer", f.Delay)
	}
	if f.Err != 0 {
		s += fmt.Sprintf(" answer %q", f.Err.Error())
	}
	if f.Full {
		s += ", nothing is free"
	}
	return s
}

// meets tells whether a call for a path within the disk meets the fault.
func (f *Fault) meets(call Calls, path string) bool {
	if f.Calls&call == 0 {
		return false
	}
	under := strings.Trim(f.Under, "/")
	return under == "" || path == under || strings.HasPrefix(path, under+"/")
}
