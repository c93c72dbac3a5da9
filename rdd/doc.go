// Package rdd holds resilient distributed datasets: immutable, partitioned collections that know how
// each of their partitions is computed, so that what is lost is computed again.
// That knowledge is the RDD's lineage: [RDD.Node] is it as a graph of package lineage, [RDD.DebugString] prints it.
//
// An [RDD] is made by a source ([Parallelize], [Range], [TextFile]), transformed by operators ([Map],
// [FlatMap], [ReduceByKey], [Join] and so on) and evaluated by actions ([RDD.Collect], [RDD.Count],
// [RDD.Reduce]). Operators run nothing; an action makes a job of the graph and gives it to the
// context's [Runner]. The exceptions are sorts, which sample their keys when they are called.
//
//	c, err := rdd.NewContext(sched, rdd.Options{})
//	lines := rdd.TextFile(c, "book.txt", 2)
//	words := rdd.FlatMap(lines, strings.Fields)
//	ones := rdd.Map(words, func(w string) rdd.Pair[string, int64] {
//		return rdd.Pair[string, int64]{Key: w, Value: 1}
//	})
//	counts, err := rdd.ReduceByKey(ones, func(a, b int64) int64 { return a + b }).Collect(ctx)
//
// # How records move
//
// A task pushes its partition through all operators of a stage in typed chunks of some hundreds of records.
// There is no channel, no interface value and no allocation per record. Whatever a function is handed
// is its own to change: what is kept (a persisted partition, a bucket of a shuffle, the rows of
// Parallelize) is copied chunk by chunk on the way out, deep where records hold references.
//
// # Memory
//
// Operators that hold records, which is those that deal out, combine, group and sort, ask the executor for the memory
// and use the task's scratch files where it is refused, so that a partition may be larger than what there is. What
// must fit are single things: a record, a combiner, the values of one key that GroupByKey and its kin hand over as a
// slice. Spilling changes nothing visible: the records, their order, and for each key the order and grouping of the
// calls of the program's functions are those of a run without files. Only where several functions would fail can it be
// another one that does first. Records that package codec has no encoding for stay in memory.
//
// # What holds
//
// Recomputing a partition gives the same records in the same order: hashes are fixed functions, tables
// keep insertion order, buckets are read in the order of the map partitions. Operators that keep T are
// methods, those that change it are functions. A call with arguments that can never work makes an
// RDD whose actions return a [*BuildError] naming the call's file and line; a function that fails or
// panics in a task gives a [*UserError] naming the operator, the partition and the record.
//
// # Besides records
//
// A function that is given a context.Context runs in a task and may ask it, with [TaskFrom], who it is and to be
// called when it ends. A [Broadcast] brings it a value, an [Accumulator] takes what it counts; [MapWith] and its kin
// look both up once a partition. [RDD.Checkpoint] and [RDD.LocalCheckpoint] cut lineages, and [Explain] says what
// an action would do. What executors hold of RDDs and broadcasts that nobody can reach any more is dropped, some
// time after a garbage collection has found out.
//
// Everything may be called from any goroutine, except that actions must not be called inside tasks.
// Running tasks, retrying them and keeping blocks is the business of package scheduler and its backends.
//
// Source: Zaharia et al., "Resilient Distributed Datasets", NSDI 2012.
package rdd
