// Package local runs executors as goroutines of this process.
//
// A [Cluster] is a scheduler.Backend of so many executors with so many slots each; a slot is one
// resident goroutine that runs one task at a time. Every executor has its own block store, memory and folder,
// so that losing one loses what it held: [Cluster.Kill] does that at any instant, [Cluster.Add] brings a
// new one, [Cluster.Damage] spoils something. The default is one executor with a slot per CPU.
//
//	cluster := local.New(local.Options{Executors: 2, Slots: 2, Memory: 1 << 30})
//	s := scheduler.New(cluster, scheduler.Options{})
//	defer s.Close() // also stops the cluster, and removes its files
//	err := s.Run(ctx, job)
//	cluster.Kill(cluster.Executors()[0]) // blocks gone, tasks cancelled; jobs go on
//
// Guarantees: without Isolate, blocks, results and errors are handed over as they are and must not be
// changed by whoever reads them; nothing is encoded but what goes to disk. With Isolate
// each executor is treated as a process of its own: a task goes there as the bytes of its address and
// its work is looked up, buckets, persisted partitions, results and errors go through their codecs. A
// value without a codec, or one that cannot be encoded, then fails its job at once. Both give the
// same results; tests run both.
//
// Memory is bounded by Options.Memory; what has no room goes to files. A cluster that writes some makes a folder
// named leat- and a number in Options.Dir, with a lock in it that ends with the process, and removes it when it
// stops. When a cluster starts it removes the folders of those whose processes were killed.
//
// The methods of Cluster may be called from any goroutine. It starts its goroutines in Run, which the
// scheduler calls, and Run waits for them; removing files that nobody needs is Run's own. A task that ignores its
// context holds that up. Lock order: the cluster's, then an executor's, then the folder's.
//
// Not here: processes, the network.
package local
