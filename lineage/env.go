package lineage

import (
	"context"
	"io"
)

// An Env is what a running task may ask of the executor it runs on. It is good for that task
// only, and only from the task's own goroutine.
type Env interface {
	// Attempt is the running attempt.
	Attempt() Attempt
	// Properties are those of the job the attempt was launched for.
	Properties() Properties
	// Metrics is where the task counts what it does; it is reported when the task ends.
	Metrics() *Metrics

	// Reserve asks for n more bytes of memory for what the task holds; it may wait for other tasks. False
	// means that there is no room: the task should write something to Scratch, give its memory back and go
	// on. It may go on without as well, within reason: a refusal enforces nothing.
	Reserve(ctx context.Context, n int64) bool
	// Release gives n bytes back. What is still reserved when the task ends is given back then.
	Release(n int64)
	// Scratch makes a temporary file. It is removed when it is closed, or else when the task ends.
	Scratch() (Scratch, error)

	// Persisted yields the blocks of partition part of a persisted node, in order: those that are kept here
	// or on another executor, else those that compute puts, which are then kept as p says where there is
	// room. Of several tasks of one executor that ask for the same partition one computes and the
	// others wait, unless ctx ends. A yielded block is shared: read only. An error of yield ends it and
	// is returned unchanged.
	Persisted(ctx context.Context, node NodeID, part int, p Persistence, compute func(put func(Block) error) error, yield func(Block) error) error
	// Fetch yields the blocks for reducer reduce in the order of the map partitions, and of one map
	// partition in the order they were put. An output that cannot be had ends it with the executor's fetch
	// error, which the caller must return unchanged. A yielded block is shared: read only.
	Fetch(ctx context.Context, s *Shuffle, reduce int, yield func(mapPart int, b Block) error) error

	// Broadcast returns the value of a broadcast, one for all tasks of the executor: read only.
	Broadcast(ctx context.Context, b *Broadcast) (Block, error)
	// Accumulate returns the task's own part of an accumulator, which is a.Zero() at first. What it is
	// when the task ends is sent with the task's success.
	Accumulate(a *Accumulator) Block
	// Commit asks whether this attempt is the one whose output may become visible. An error means that it
	// must not, and must be returned unchanged.
	Commit(ctx context.Context) error
}

// Scratch is a temporary file of a task, written from front to back and read anywhere.
type Scratch interface {
	io.Writer
	io.ReaderAt
	io.Closer
}

// Metrics are what a task has done. Times are in nanoseconds.
type Metrics struct {
	RunTime, WaitTime           int64 // WaitTime waiting for blocks of other executors
	EncodeTime, DecodeTime      int64 // of results, blocks and kept partitions
	ResultBytes                 int64
	PeakMemory                  int64 // most that the task had reserved at once
	SpilledBytes, SpilledRows   int64 // written to Scratch
	InputBytes, InputRows       int64 // read from sources and kept partitions
	OutputBytes, OutputRows     int64 // written by savers
	LocalBlocks, RemoteBlocks   int64 // read from shuffles
	FetchedBytes, FetchedRows   int64
	ShuffleBytes, ShuffleRows   int64 // written to shuffles
	ShuffleTime                 int64
	KeptPartitions, KeptFailed  int64 // persisted partitions stored, and those there was no room for
	EvictedBlocks, EvictedBytes int64 // what storing them pushed out
}
