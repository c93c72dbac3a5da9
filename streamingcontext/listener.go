package streamingcontext

import "github.com/leat-io/leat/dstream"

// A Listener is told what happens in a context. Any function may be nil.
//
// Calls come in the order of the facts, one at a time, from one goroutine that serves all listeners
// of a context, some time after the fact. A function must not block: while it runs, later events wait,
// and past Options.ListenerQueue of them they are dropped. Stop delivers what is queued; nothing is
// delivered after it has returned. A panic is logged.
//
// For a batch, with one job at a time: BatchSubmitted, BatchStarted, then OutputStarted and
// OutputCompleted for each output, then BatchCompleted, which also comes when outputs failed. Outputs that are run
// again come again before BatchCompleted. A batch without jobs has no events, and one that could not be generated
// only that of being set aside.
type Listener struct {
	// StreamingStarted is told the clock's time, in milliseconds, at which the context started.
	StreamingStarted func(at int64)
	// ReceiverStarted is called before each start of a receiver.
	ReceiverStarted func(ReceiverInfo)
	// ReceiverError is called for what a receiver reported without ending.
	ReceiverError func(ReceiverInfo)
	// ReceiverStopped is called after each end of a receiver; it is started again unless the context
	// stops.
	ReceiverStopped func(ReceiverInfo)
	// ReceiverChanged is called when the rate or the executor of a receiver has changed.
	ReceiverChanged func(ReceiverInfo)
	// BatchSubmitted is called when the batch's jobs are queued.
	BatchSubmitted func(BatchInfo)
	// BatchStarted is called when its first job starts.
	BatchStarted func(BatchInfo)
	// BatchCompleted is called when its last job has ended.
	BatchCompleted func(BatchInfo)
	// BatchCommitted is called when the driver log has a batch as committed: its rows of SaveTo are in their sinks, and no
	// later driver runs it again. Batches without jobs have it too, and those that an earlier driver has prepared.
	BatchCommitted func(CommittedBatch)
	// BatchSetAside is called for a batch that failed and that the context goes on without, behind its
	// BatchCompleted if it has one.
	BatchSetAside func(SetAsideBatch)
	// OutputStarted is called when a job starts, again if it is run again.
	OutputStarted func(OutputInfo)
	// OutputCompleted is called when a job has ended.
	OutputCompleted func(OutputInfo)
	// Overloaded is called when batches start to wait for their turn for more than an interval, when that delay
	// has doubled, and when it is over.
	Overloaded func(OverloadInfo)
	// Dropped is told how many events were dropped since the last call, as soon as there is room.
	Dropped func(events int)
}

// A CommittedBatch is what BatchCommitted is told.
type CommittedBatch struct {
	Time  dstream.Time
	ID    int64  // in the driver log, from 0, without gaps
	Epoch uint64 // of the term that committed it
	At    int64  // when, by the context's clock, in milliseconds
}
