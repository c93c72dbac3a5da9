package crashtest

import (
	"errors"
	"fmt"

	"github.com/leat-io/leat/dstream/sink/sinktest/disk"
)

// A Fault is what happens to an operation of a process.
type Fault int

// The faults.
const (
	None        Fault = iota
	DiesBefore        // the process dies, the operation has no effect
	DiesAfter         // the process dies, the operation has had its effect
	Fails             // the operation returns an error, and has no effect
	SeemsToFail       // the operation returns an error, and has had its effect
)

// faults are those that cases have.
var faults = [...]Fault{DiesBefore, DiesAfter, Fails, SeemsToFail}

// String returns the fault in words.
func (f Fault) String() string {
	switch f {
	case None:
		return "no fault"
	case DiesBefore:
		return "dies before"
	case DiesAfter:
		return "dies after"
	case Fails:
		return "fails"
	case SeemsToFail:
		return "seems to fail"
	}
	return fmt.Sprintf("fault %d", int(f))
}

// dies reports whether the process ends with the fault.
func (f Fault) dies() bool { return f == DiesBefore || f == DiesAfter }

// ErrDied is what every operation of a process returns once it has died.
var ErrDied = errors.New("the process has died")

// ErrInjected is what an operation returns that the kit lets fail.
var ErrInjected = errors.New("a fault of the test")

// losses are what the disk loses with a process.
var losses = [...]disk.Loss{disk.All, disk.Half, disk.Torn}

// A spot is a point of a process, and which time it comes, from 1.
type spot struct {
	point string
	nth   int
}

// A shot is a fault at a spot.
type shot struct {
	spot
	fault Fault
}

func (s shot) String() string { return fmt.Sprintf("%v %s (time %d)", s.fault, s.point, s.nth) }

// A trial is a case: the shots of the processes, one after the other, of which the last is the one that is tried, and what each process
// loses as it ends.
type trial struct {
	shots []shot
	loss  disk.Loss
	seed  uint64
}

// tried returns the shot that is tried.
func (t trial) tried() shot { return t.shots[len(t.shots)-1] }

// depths names the recoveries by the number of deaths before the shot that is tried.
var depths = [...]string{"first run", "recovery", "recovery of recovery"}
