// Package executor runs tasks in one process and keeps the blocks they make, in memory and on disk.
//
// An [Executor] runs a map task (it calls the shuffle's Write and keeps the buckets) or a result task
// (it calls the job's Run and hands the block to the report). It holds the blocks of its process in
// one store: shuffle buckets by shuffle, map and reducer, persisted partitions by node and partition.
// To running tasks it is their lineage.Env. [Peers] is how it reads what other executors hold and sends
// them copies, [Resolver] how it finds the work that a task only names.
//
//	e := executor.New(executor.Options{ID: "a", Memory: 1 << 30, Peers: cluster})
//	defer e.Close()                  // forgets its blocks, removes its files
//	end := e.Run(ctx, task)          // blocks; one call per slot
//	err := e.Bucket(shuffle, 3, 0, 0, send) // what a peer reads
//	e.Drop(lineage.Drop{Scopes: scopes})
//
// Memory. One budget is shared by what tasks reserve and by the blocks that are kept. Of n tasks that have
// reserved something, each may hold up to an n-th, and waits until it has half of that, as long as another
// task can give something back; otherwise it is refused, and spills. Blocks may use what tasks do not, but
// tasks push out those that take more than half; blocks never push out tasks. A block that needs room pushes out
// the least recently used ones, but none that is being read, none of its own node, and none at all unless
// that gives it room. What is pushed out goes to disk, if it is a map output or its level says so;
// else it is gone, and Options.Lost is told.
//
// Disk. A map output that does not fit in memory is written to one data file, the buckets one after the other,
// and an index of where each begins; a persisted partition to one file. A block is a frame with two
// checksums, of its bytes and of its place. Files have temporary names until they are whole, and are removed when
// nobody reads them any more. Reading goes block by block, so that a bucket may be larger than memory.
//
// Guarantees: of the tasks that ask for the same persisted partition one computes it and the others
// wait, or give up when their context ends. A partition is kept whole or not at all; where there is no room
// for it, its blocks go straight to the task. Buckets are read in map order. A fetch failure or a denied
// commit that user code has swallowed still ends its task. A panic ends the attempt as an error with its
// stack, never the process. A partition stored by a task that fails later stays: it is complete. Damaged or
// vanished bytes are never handed on: a bucket is a fetch failure, which for one of another executor is
// asked for twice; a persisted partition fails the attempt, and the next one computes it. Memory and
// temporary files of a task are given back when it ends, however it ends.
//
// All methods may be called from any goroutine. The package starts none. The locks are leaves, taken in the order
// store, disk or pool; Options.Lost and the functions of Options are called with none of the first and last held.
//
// With Options.Isolate blocks are kept as bytes, written and read by the codecs of the shuffle, the
// persistence and the job, as if every block had another process to go to. Without it blocks are kept
// and handed over as they are, encoded only on their way to disk or, where a level asks for the
// encoded form, when memory is short.
//
// Not here: compression, keeping files across processes, restoring copies that were lost.
//
// Sources: Zaharia et al., "Resilient Distributed Datasets", NSDI 2012, sections "Implementation" and "Memory
// Management".
package executor
