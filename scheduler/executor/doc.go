// Package executor runs tasks in one process and keeps the blocks they make.
//
// An [Executor] runs a map task (it calls the shuffle's Write and keeps the buckets) or a result task
// (it calls the job's Run and hands the block to the report). It holds the blocks of its process in
// one store: shuffle buckets by shuffle, map and reducer, persisted partitions by node and partition.
// To running tasks it is their lineage.Env. [Peers] is how it reads what other executors hold,
// [Resolver] how it finds the work that a task only names.
//
//	e := executor.New(executor.Options{ID: "a", Peers: cluster})
//	end := e.Run(ctx, task)          // blocks; one call per slot
//	held, ok := e.Bucket(shuffle, 3, 0) // what a peer reads
//	e.Drop(scheduler.Drop{Scopes: scopes})
//
// Guarantees: of the tasks that ask for the same persisted partition one computes it and the others
// wait, or give up when their context ends. Buckets are read in map order. A fetch failure that user
// code has swallowed still ends its task. A panic ends the attempt as an error with its stack, never
// the process. A partition stored by a task that fails later stays: it is complete.
//
// All methods may be called from any goroutine. The package starts none.
//
// With Options.Isolate blocks are kept as bytes, written and read by the codecs of the shuffle, the
// persistence and the job, as if every block had another process to go to. Without it blocks are kept
// and handed over as they are, and Persistence.Encoded has no effect.
//
// Not here: a bound on the memory that blocks take, spilling to disk, replication.
//
// Sources: Zaharia et al., "Resilient Distributed Datasets", NSDI 2012, section "Implementation".
package executor
