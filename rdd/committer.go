package rdd

import (
	"context"
	"io"

	"github.com/leat-io/leat/lineage"
)

// A Committer makes what the tasks of one save write visible, as a whole and once. SaveWith takes one;
// NewFileCommitter is one.
//
// The action calls SetupJob before any task, and then either CommitJob after the last part was committed, or AbortJob.
// If SetupJob fails nothing else is called. Tasks call CreatePart, from many goroutines at once: several attempts at one
// partition may run at the same time, and each has a writer of its own.
type Committer interface {
	// SetupJob prepares for the parts 0 to parts-1. Its error ends the save before any task.
	SetupJob(ctx context.Context, parts int) error
	// CreatePart returns where an attempt at a partition writes. Nobody may see it as output before it is
	// committed. The attempt is different for each attempt of the running program.
	CreatePart(ctx context.Context, part int, attempt lineage.Attempt) (PartWriter, error)
	// CommitJob makes the save visible as a whole. notes are what the commits of the parts returned, by part. If it
	// fails AbortJob is called.
	CommitJob(ctx context.Context, notes [][]byte) error
	// AbortJob removes what the save has written. Attempts that have not noticed yet may still write; they get no leave
	// to commit, and remove what is theirs.
	AbortJob(ctx context.Context) error
}

// A PartWriter is what one attempt writes a partition to, from one goroutine. An empty partition has one as
// well.
type PartWriter interface {
	io.Writer
	// Commit ends the part and makes it the partition's output. It is called at most once, and only by the one attempt
	// that has leave to. The note, which may be nil, goes to CommitJob.
	Commit(ctx context.Context) (note []byte, err error)
	// Abort removes what was written. It is called after any error, one of Commit included.
	Abort(ctx context.Context) error
}

// mayCommit asks whether this attempt may make its part visible: of several at one partition one may. Its error
// must go back unchanged.
func mayCommit(t *task) error { return t.env.Commit(t.ctx) }
