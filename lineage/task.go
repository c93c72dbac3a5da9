package lineage

import "context"

// A Block is the rows of a partition, or of one bucket of it, as one typed value (a pointer to
// columns or a slice in disguise). Type is erased here, once a partition, never once a record. A
// Block that has been handed over is never changed again.
type Block any

// A Codec turns blocks of one type into bytes and back where they cross a process border, are kept
// encoded, or go to disk.
//
// All methods may be called from several goroutines at once. Decode must check every length
// against the bytes at hand before it allocates, and answer damaged input with an error.
type Codec interface {
	Encode(block Block) ([]byte, error)
	Decode(data []byte) (Block, error)
	// Size estimates the memory a block takes, in bytes: never 0 for one with rows. It may look at a
	// sample of the rows.
	Size(block Block) int64
}

// A Shuffle redistributes the records of a parent over NumReducers buckets.
type Shuffle struct {
	ID          ShuffleID
	Parent      Node
	NumReducers int
	// Write drains parent partition part into out. It runs inside a task, and again whenever an
	// output is lost: the same rows must come out in the same order, however they are cut into blocks.
	Write func(ctx context.Context, env Env, part int, out Buckets) error
	Codec Codec
}

// Buckets takes what one map task writes. It is the task's, like Env.
type Buckets interface {
	// Put appends a block to the bucket of a reducer. The blocks of a bucket are read in the order they
	// were put. The block is the bucket's from then on; one without rows is not put. What the task had
	// reserved for its rows it gives back itself.
	Put(reduce int, b Block) error
}

// Attempt says which attempt of which task is running.
type Attempt struct {
	Job, Stage, StageAttempt int
	Partition                int
	Number                   int   // attempts of this partition before this one, within the stage attempt
	Task                     int64 // unique in the application
}

// A Job is one action: run a function over partitions of a node and bring the results home. A job
// with Map set brings home nothing but what a shuffle's buckets measure.
type Job struct {
	Name       string // the action, as in "collect"
	Site       string // file and line of its call
	Scope      Scope  // the batch it belongs to, zero outside of batches
	Properties Properties
	Final      Node
	Parts      []int // partitions of Final, in the order of the results; may repeat
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
	// Update receives what a task has added to an accumulator: for a result task with its result, once
	// per position; for a map task at each success. It runs on the scheduler's loop, before Done of the
	// same task, and must be quick; it may be nil.
	Update func(u Update)

	// Map makes this a job that only writes a shuffle: Final is the shuffle's parent; Parts, Run, Codec and Done are not
	// used. Sizes receives, once all outputs are there, the bytes of every bucket by map partition and
	// reducer, each at most a tenth too large.
	Map   *Shuffle
	Sizes func(sizes [][]int64)
}
