// Package streamingcontext runs streaming programs: it cuts time into batches, gives each batch what the
// inputs received, runs its outputs and keeps account of what is decided and done.
//
// # Nouns
//
// A [Context] is one program. An [Engine] is what its jobs run on: executors, scheduler and the context
// in which RDDs are made. Inputs are declared with [Receive], [Context.SocketText], [SocketStream], [RawSocket],
// [Context.ReaderText], [Context.TextFiles], [Context.BinaryRecords], [FileStream], [QueueStream], [Slices] and
// [Constant], streams and outputs with package dstream. A [Clock] says when a batch
// is due: [SystemClock], or a [ManualClock] in tests (package streamtest moves it batch by batch). A
// [Listener] is told what happens. A batch is begun, then prepared, then committed, in the driver log
// (package scheduler/driverlog). A batch is settled when its jobs have ended for good, well or not; it is pending from its
// begin to its commit. A [FailurePolicy] says what becomes of a batch that fails: it ends the context, or is run again,
// or is set aside. An overload is when batches wait for their turn for more than an interval. Blocks are groups of received records (package receivers).
//
// # A program
//
//	ssc := streamingcontext.New(streamingcontext.Options{App: "counts", Interval: time.Second})
//	lines := ssc.SocketText("localhost:9999")
//	words := dstream.FlatMap(lines, strings.Fields)
//	dstream.Print(dstream.CountByValue(words), os.Stdout, 10)
//	if err := ssc.Run(ctx); err != nil { // until ctx ends, or a batch fails
//		log.Fatal(err)
//	}
//
// # The life of a batch
//
//  1. A receiver stores records; its supervisor gathers them into a block, which waits in the block log.
//     While too many records are not processed yet, the block waits, and the receiver with it.
//  2. The timer reaches the batch time t, and the loop waits until fewer than 64 batches are open.
//  3. The loop gives all blocks that wait, of all receivers, to batch t.
//  4. The graph makes the RDDs of t and one job for each output that has one. Files are listed and queues
//     are popped now; nothing is computed.
//  5. Begin goes to the driver log: the batch's id, its time, and what each input gave.
//  6. The jobs are queued. A slot runs them, one after the other; each starts the RDD jobs it needs, and
//     the scheduler runs their tasks on the executors.
//  7. The last job has ended. Outputs that failed run again as often as the policy says. Then what the outputs made for
//     themselves is forgotten. If all ended well, or the batch is set aside, and all batches before t are committed,
//     Prepared goes to the log, then Committed.
//  8. Streams forget the RDDs, and the block log the blocks, that no later batch will ask for; receivers that
//     waited for room go on.
//  9. With back-pressure each receiver gets a new rate; executors are added or released, if they are to follow the load.
//     Listeners are told, and the batch is settled.
//
// A batch without jobs goes from 5 to 7 at once, so ids in the log have no gaps and the log knows all
// inputs. So does a batch that could not be generated: no output runs, and its blocks stay with it for windows that look
// back.
//
// # Too much input
//
// Three things hold a receiver back, each for itself. A full block makes it wait for the end of the block interval. While
// Options.MaxPendingRecords of its records are stored and not processed, no further block is taken, then the queue of
// blocks fills, then it waits: this bounds memory, always, for every kind of store. And a rate limits the records that it
// stores one by one: Options.MaxRate, Backpressure.InitialRate, and with Backpressure.Enabled what a controller makes of
// each batch (package receivers/rate), so that batches wait little and none is much larger than another. Time that
// records are held back for before they come into a batch counts there as time that the batch has waited.
//
// # Where receivers run
//
// Each receiver is placed on an executor, spread evenly unless it names a host (receivers.Placed). With several executors
// the tasks that read its blocks prefer that one. When it is lost, the receiver is placed again before the next
// batch. [Context.Receivers] and listeners tell where it is.
//
// # When a batch fails
//
// An error or a panic of an output, or of a function in a task that the scheduler has tried often enough, fails its
// batch. The other outputs of the batch still run, so that all that is wrong with it is known. Then, by
// Options.OnFailure:
//
//	FailurePolicy{}                        the context ends, once the batches before are done, with the batch's
//	                                       error. Jobs of later batches are not started; those that run are cancelled.
//	FailurePolicy{Retries: n}              what failed runs again, after a delay, up to n times. Later batches wait.
//	FailurePolicy{Then: SetAside}          the batch is committed in its turn, with a manifest that says which
//	                                       outputs failed and why, and the stream goes on. [Context.SetAside] and
//	                                       Listener.BatchSetAside tell of it, and its blocks are forgotten as any's.
//
// A batch that cannot be generated is not tried again. A batch that ended the context stays pending, and nothing behind
// it is committed or cleaned. Its error is what [Context.Run], [Context.Await] and [Context.Err] return. Where batches are
// set aside, Await and Err return the first error, too, but Run goes on: this is what other engines do.
//
// Setting aside is for outputs that fail, and for functions whose results no later batch needs. State is made of the state
// of the batch before: where a function that it depends on fails for a record each time, every later batch of that state
// fails, too. In front of state or a window, leave bad records out (with FlatMap, for instance) in place of failing.
//
// Batches that are slower than the interval wait in a queue; receivers are held back once too much waits. A listener's
// Overloaded and a warning say so when a batch is an interval late, each time the delay has doubled, and when it is over,
// with the stage that took the most of the last batch.
//
// # Guarantees
//
// Batch times are the multiples of the interval: a clock that jumps, or batches that are slower than the
// interval, delay batches and neither drop nor merge any. With one job at a time, outputs run in the
// order declared and batches in the order of their times. What an input gave to a batch is in the driver log before
// any work of the batch.
//
// Each received record is in exactly one batch, whatever fails on the executors. A graceful stop processes
// everything that receivers had stored; a stop at once, and the end of the process, lose what is not
// processed, unless the receiver's source can send it again. Outputs happen at least once: a task that fails is
// run again.
//
// A context also ends when its driver no longer leads, or the log does not answer. A stop comes back within its limit,
// with an error, also where functions of the program never return; their goroutines are left behind then.
//
// # Goroutines
//
//	goroutine      number           started by   owns                        ends when
//	batch loop     1                Start        allocation, generation,     the timer is finished, the context is
//	                                             Begin                       dropped
//	job slot       ConcurrentJobs   Start        jobs; the last of a batch   the slots are closed
//	                                             commits it, or waits to run
//	                                             what failed again
//	supervisor     1 a receiver     Start        one receiver (its block     it is told, and all it stored is in
//	                                             generator has two more)     the block log
//	term watch     1                Start        nothing                     the term or the context ends
//	listeners      1                Start        calls of listeners          everything else has, queue empty
//	stop           1                first Stop,  the order of the stop       the context is Stopped
//	                                or an error
//
// Locks: Start's own before Context.mu; ledger.deciding before the graph's and the block log's, and before
// ledger.mu; the graph's lock of generation before its own; ledger.mu before a batch's; the block log's before the receiver tracker's, and that before the
// listeners'. A rate controller and the allocator of executors have one each, taken under ledger.deciding and before the
// tracker's. All others are leaves.
//
// # Who may call what
//
// Any goroutine may call any method of a Context, an Engine or a ManualClock. Stop is refused from a listener and
// from a batch, which it would wait for; start a goroutine there. Functions given to ForeachRDD run while a
// slot waits for them, those given to Transform while the loop does, each on a goroutine of its own; listeners must not
// block.
//
// # What is not here
//
// Operators (package dstream) and what sinks must keep (package dstream/sink). A context of New keeps nothing itself: a later process goes
// on with ids and times where the log ends, and gives up what was open; GetOrCreate is for going on with the same batch. Executors in
// other processes: receivers run in this one, whatever executor they are placed on, and their blocks do not die with it.
//
// Sources: Zaharia et al., "Discretized Streams: Fault-Tolerant Streaming Computation at Scale", SOSP 2013,
// sections "System Architecture" and "Fault and Straggler Recovery"; Spark Streaming Programming Guide.
package streamingcontext
