package scheduler

import "github.com/leat-io/leat/lineage"

// A Task is one attempt of one partition of a stage, as handed to a backend.
type Task struct {
	ID       TaskID
	Attempt  lineage.Attempt
	Executor ExecutorID
	// Epoch is the scheduler's epoch at launch. It tells reports from before an executor's failure
	// from reports after it.
	Epoch int64
	// Address names the work in any process that built the same graph.
	Address Address
	// Inputs are the map outputs of the shuffles the task may read.
	Inputs []Input
	// Cached are the persisted partitions the task may read from other executors.
	Cached []CachedBlock
	// Properties are those of the job the task is launched for.
	Properties lineage.Properties
	// Job is the work of a result task, Shuffle that of a map task. Exactly one is set while the task
	// is in the scheduler's process; neither crosses a process border.
	Job     *lineage.Job     `msgpack:"-"`
	Shuffle *lineage.Shuffle `msgpack:"-"`
}

// An Address names the work of a task without pointing at it.
type Address struct {
	Job   int
	Stage int
	// Name is the action, Scope the batch of the job.
	Name  string
	Scope lineage.Scope
	// Node is the node whose partition is computed.
	Node lineage.NodeID
	// Map is set for a map task; Shuffle is then what it writes.
	Map     bool
	Shuffle lineage.ShuffleID
}

// An Input is where the outputs of one shuffle are, by map partition.
type Input struct {
	Shuffle lineage.ShuffleID
	Maps    []MapOutput
}

// A MapOutput is where one map task's buckets are and which of them hold rows. The zero MapOutput is
// an output that is not there.
type MapOutput struct {
	Executor ExecutorID
	MapStatus
}

// A MapStatus says what a map task wrote.
type MapStatus struct {
	// Sizes are the bytes of the buckets by reducer; nil: no bucket holds rows.
	Sizes Sizes
}

// A CachedBlock is a persisted partition and the executors that hold it.
type CachedBlock struct {
	BlockID
	Executors []ExecutorID
}

// A BlockID names a persisted partition.
type BlockID struct {
	Node lineage.NodeID
	Part int
}

// A TaskEnd is the report of an attempt that is over.
type TaskEnd struct {
	Task TaskID
	// Result is the block of a result task that succeeded. ResultData is set in its place between the
	// executor and its backend where results are carried as bytes; the scheduler reads Result only.
	Result     lineage.Block
	ResultData []byte
	// Status is set by a map task that succeeded.
	Status MapStatus
	// Cached are the persisted partitions the attempt stored, with the executors that hold them now, also
	// if it failed later.
	Cached []CachedBlock
	// Updates are what a task that succeeded added to accumulators.
	Updates []lineage.Update
	Metrics lineage.Metrics
	Err     error
}
