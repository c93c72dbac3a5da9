// Package scheduler runs jobs over lineage graphs: it cuts them into stages, runs the stages' tasks on
// the executors of a backend, and runs again what is lost.
//
// A [Scheduler] takes a lineage.Job. A stage ([lineage.Stage]) is what lies between shuffles; a map stage writes one
// shuffle, the result stage brings the job's results. An attempt of a stage is a set of tasks, one for
// every partition that is still missing; a [Task] is one attempt of one partition. A [Backend] runs
// tasks on executors and tells a [Sink] what became of them. A [Listener] is told what happens.
//
//	s := scheduler.New(local.New(local.Options{}), scheduler.Options{})
//	defer s.Close()
//	err := s.Run(ctx, lineage.Job{
//		Name: "count", Final: node, Parts: []int{0, 1},
//		Run:  func(ctx context.Context, env lineage.Env, part int) (lineage.Block, error) { return count(ctx, env, part) },
//		Done: func(i int, result lineage.Block) error { total += result.(int64); return nil },
//	})
//	s.Forget(scope) // what the batch left behind
//
// Guarantees. Every position of a job's Parts has its result once, whatever is lost and however often
// tasks run. A shuffle whose outputs are all there is not written again, by no job: its stage is
// skipped. What is lost costs what held it: a map output its map task, a persisted partition that
// partition. A task that fails is run again up to MaxFailures times, unless [Retryable] says that it is
// no use; a fetch failure is nobody's fault and runs the map tasks in question, then the stage, again.
// Reports of what was done on an executor before it lost its outputs are not believed. Jobs are served
// in the order of submission, or by pools ([Pool]). A task goes to an executor that holds the persisted partition it needs,
// else to a place its nodes name ([lineage.Placed]), else to a host that holds much of what it reads; to any
// other if none of these has a free slot, at once or after Options.LocalityWait. [Speculation] runs copies
// of slow tasks, [Exclusion] keeps tasks from executors that fail; both are off by default. A [Summary] is a
// listener that adds up what jobs did.
//
// Where a node says that its rows may be others the next time ([lineage.Classed]), an output that is lost takes
// along all others of its shuffle and what active jobs have made of them; a job that has been given results of
// the old rows fails with [ErrCannotRollBack]. Of the attempts of a partition one at most is told that it may
// commit ([Sink]), until it fails. Accumulators are updated once for each result, and at each success of a map
// task.
//
// All state belongs to one goroutine, the loop, to which callers and backend send events. It starts
// with the first Run; a goroutine per listener and the one that runs the backend start with it. Close
// ends them all. Any goroutine may call Run, but no task: a job that waits for a job inside a task may
// wait for its own slot.
//
// Errors are values with fields: [TaskError], [FetchError], [JobError], [CanceledError] and the rest.
// [EncodeError] and [DecodeError] carry them to another process so that errors.Is and errors.As answer
// alike on both sides.
//
// Not here: executors (package local, package executor), typed operators (package rdd), decisions that outlive
// the scheduler (package driverlog).
//
// Sources: Zaharia et al., "Resilient Distributed Datasets", NSDI 2012, sections "Job Scheduling" and
// "Representing RDDs"; Zaharia et al., "Discretized Streams", SOSP 2013, section on fault recovery.
package scheduler
