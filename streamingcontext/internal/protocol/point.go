package protocol

import "fmt"

// A Point is a moment of the protocol at which a driver may die: just before or just after an action has its effect. Tests
// fail that do not meet each of them.
type Point uint8

// The points, in the order in which a term and a batch meet them. What a crash there means is in the documentation of the package.
const (
	NoPoint         Point = iota
	Lead                  // write: the leader start of a term
	Recover               // the state of the log is read
	RollRead              // a manifest of an earlier term that is in a blob is read
	RollCommit            // write: a sink output of a batch that an earlier term has prepared is committed
	RollCommitted         // write: Committed of such a batch
	RollClean             // what tries at such a batch have left is removed
	GiveUpManifest        // write: the manifest of a batch that is given up, where that is a blob
	GiveUp                // write: Prepared and Committed of a batch of an earlier term that nobody can run again
	RunAgain              // the jobs of a batch of an earlier term are queued
	P0Plan                // the inputs of a batch are chosen
	P1Begin               // write: Begin
	P1WholeManifest       // write: the manifest of a batch without jobs, where that is a blob
	P1Whole               // write: Begin, Prepared and Committed of a batch without jobs
	P2Run                 // the jobs of a batch are queued
	P2Stage               // write: a job has staged its rows
	P3Manifest            // write: the manifest, where it is a blob
	P4Prepared            // write: Prepared, the commit point
	P5Commit              // write: a sink output is committed
	P6Committed           // write: Committed
	P7Clean               // what tries at the batch have left is removed
	P7Forget              // the graph and the received blocks of the batch are let go
	P7Checkpoint          // write: the file of a checkpoint
	P7Checkpointed        // write: Checkpointed
	P7Sweep               // what no checkpoint needs is removed
	P7Tell                // those who wait for the batch are told
	points
)

var pointNames = [points]string{
	"none", "lead", "recover", "roll: read", "roll: commit", "roll: committed", "roll: clean", "give up: manifest", "give up", "run again",
	"P0 plan", "P1 begin", "P1 whole: manifest", "P1 whole", "P2 run", "P2 stage", "P3 manifest", "P4 prepared", "P5 commit", "P6 committed",
	"P7 clean", "P7 forget", "P7 checkpoint", "P7 checkpointed", "P7 sweep", "P7 tell",
}

// String returns the point's name.
func (p Point) String() string {
	if p < points {
		return pointNames[p]
	}
	return fmt.Sprintf("point %d", uint8(p))
}

// Points returns all points, in order.
func Points() []Point {
	var all []Point
	for p := NoPoint + 1; p < points; p++ {
		all = append(all, p)
	}
	return all
}
