package lineage

import "context"

// A Block is the rows of a partition, or of one bucket of it, as one typed value (a pointer to
// columns or a slice in disguise). Type is erased here, once a partition, never once a record. A
// Block that has been handed over is never changed again.
type Block any

// A Codec turns blocks of one type into bytes and back where they cross a process border, or
// where they are to be kept encoded.
//
// Both methods may be called from several goroutines at once. Decode must check every length
// against the bytes at hand before it allocates, and answer damaged input with an error.
type Codec interface {
	Encode(block Block) ([]byte, error)
	Decode(data []byte) (Block, error)
}

// A Shuffle redistributes the records of a parent over NumReducers buckets.
type Shuffle struct {
	ID          ShuffleID
	Parent      Node
	NumReducers int
	// Write drains parent partition part and returns its buckets, NumReducers of them; an empty
	// bucket is nil. It runs inside a task, and again whenever an output is lost: the same buckets,
	// in the same order, must come out.
	Write func(ctx context.Context, env Env, part int) (buckets []Block, err error)
	Codec Codec
}

// Persistence says how a persisted partition is to be kept.
type Persistence struct {
	// Encoded asks for the encoded form: smaller, and a fresh copy at every read.
	Encoded bool
	Codec   Codec
}

// Attempt says which attempt of which task is running.
type Attempt struct {
	Job, Stage, StageAttempt int
	Partition                int
	Number                   int // attempts of this partition before this one, within the stage attempt
}

// An Env is what a running task may ask of the executor it runs on. It is good for that task
// only, and only from the task's own goroutine.
type Env interface {
	// Attempt is the running attempt.
	Attempt() Attempt
	// Persisted returns partition part of a persisted node: the kept block if there is one here or on
	// another executor, else what compute returns, which is then kept. Of several tasks of one
	// executor that ask for the same partition one computes and the others wait, unless ctx ends.
	Persisted(ctx context.Context, node NodeID, part int, p Persistence, compute func() (Block, error)) (Block, error)
	// Fetch yields the buckets for reducer reduce in the order of the map partitions, leaving out
	// empty ones. An output that cannot be had ends it with the executor's fetch error, which the
	// caller must return unchanged. The yielded block is shared: read only.
	Fetch(ctx context.Context, s *Shuffle, reduce int, yield func(mapPart int, b Block) error) error
}

// A Job is one action: run a function over partitions of a node and bring the results home.
type Job struct {
	Name  string // the action, as in "collect"
	Site  string // file and line of its call
	Scope Scope  // the batch it belongs to, zero outside of batches
	Final Node
	Parts []int // partitions of Final, in the order of the results; may repeat
	// Run computes the result of one partition, inside a task.
	Run func(ctx context.Context, env Env, part int) (Block, error)
	// Codec carries results over process borders.
	Codec Codec
	// Trimmed leaves out of the job's stages what lies above nodes that executors hold whole; a stage
	// that turns out to be needed, because something was lost, is added then. The job costs what has to
	// run and not the length of its lineage, which a window or a running state makes long.
	Trimmed bool
	// Done receives the result for position i of Parts, once per position, in any order, never two
	// at a time. An error fails the job. It runs on the scheduler's loop and must be quick.
	Done func(i int, result Block) error
}
