// Package progress keeps what is known of a streaming program that runs: its batches, inputs, receivers and jobs.
//
// # Nouns
//
// A [Store] listens to a streaming context and to the scheduler its jobs run on. A [Snapshot] is what it knows at one
// moment: batches that wait, that run and that have completed, inputs, receivers, totals. [Store.Jobs] has the jobs of
// an output of a batch, with their stages and RDDs. [SchedulerCounts] are totals over jobs, stages and tasks.
//
// # A program
//
//	ssc := streamingcontext.New(streamingcontext.Options{App: "counts", Interval: time.Second})
//	store := progress.New(progress.Options{})
//	detach := store.Attach(ssc)
//	defer detach()
//	... declare streams and outputs, start ssc ...
//	now := store.Snapshot()
//	fmt.Println(now.CompletedBatches, "batches,", now.ProcessedRecords, "records")
//
// Packages streamingcontext/metrics and streamingcontext/web show a store to Prometheus and to people.
//
// # Guarantees
//
// Memory is bounded: by Options.RetainedBatches, Options.RetainedJobs, and the batches that a context may have
// open. Reading never holds up the program: a reader copies under a lock and then works on its copy. A listener
// that falls behind loses events; the store counts them, and what it tells is short by what they said.
//
// A job is linked to its output by the properties that the context gives an output's jobs, also in a job group of
// their own. Jobs that a function starts with a context that does not derive from the one it was given are not linked.
//
// # Who may call what
//
// Any goroutine any method. A store follows one context; a stopped context leaves it as it is.
//
// # What is not here
//
// History beyond the last batches, and anything on disk; drawing.
//
// Source: Spark Streaming Programming Guide, section "Monitoring Applications".
package progress
