package protocol

import (
	"fmt"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// Do says what an Action wants done.
type Do uint8

// What is to be done. Those up to Tell are answered with Core.Answered; the others end a chain of actions.
const (
	Propose      Do = 1 + iota // Commands, in one group
	ReadBlob                   // Blob is its reference; the answer has the data
	WriteBlob                  // Blob is what is in it; the answer has the reference
	CommitOutput               // Staged of Output, of Batch, after Wait
	CleanOutput                // what tries at Output of Batch have left; a failure is not answered
	Planned                    // Batch is begun without being open: what was held from planning on may go
	Forget                     // Batch is committed: nobody needs what it was made of
	Checkpoint                 // write what a checkpoint after Batch consists of
	Sweep                      // the checkpoint counts: remove what it makes superfluous
	Tell                       // Batch counts as settled next
	Run                        // Batch is begun: queue its jobs, or end it where it has none
	End                        // the driver ends with Err
)

// String returns the word for it.
func (d Do) String() string {
	if d == 0 {
		return "nothing"
	}
	if int(d) <= len(doNames) {
		return doNames[d-1]
	}
	return fmt.Sprintf("do %d", uint8(d))
}

var doNames = [...]string{"propose", "read blob", "write blob", "commit", "clean", "planned", "forget", "checkpoint", "sweep", "tell", "run", "end"}

// An Action is what a driver has to do next; the zero Action is nothing. Its slices are the Core's until it is answered.
type Action struct {
	Do       Do
	Point    Point // where in the protocol it is
	Batch    Batch
	Commands []driverlog.Command
	Output   string
	Staged   []byte
	Wait     time.Duration
	Blob     []byte
	Keep     int64 // Sweep: the first batch whose inputs stay
	Err      error

	lane lane
}

// A Batch names a batch.
type Batch struct {
	ID       int64
	Time     int64 // milliseconds
	Repeated bool  // it is committed, and run again for its outputs with free effects alone
}

// An Answer is what came of an action. The zero Answer says that it is done.
type Answer struct {
	// Err says that it is not done, and ends the term, unless Again is set.
	Err error
	// Again, of a CommitOutput: it may go well the next time. Of a Checkpoint: it is tried after the next batch.
	Again bool
	// Data is what was read of a blob, the reference to one that was written, or the manifest of a checkpoint.
	Data []byte
	// Changed, of a Forget: state has been written since the last checkpoint.
	Changed bool
	// App, of a Checkpoint: what the log knows of the application.
	App *driverlog.App
	// Keep, of a Checkpoint: what Core.Keep says of it, or less where checkpoints before it stay and need more.
	Keep int64
}

// lane is one of the chains of actions of a Core.
type lane uint8

const (
	planning lane = iota // begins batches
	deciding             // recovers, commits, and does in one step what there is nothing to run of
)
