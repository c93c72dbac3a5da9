// Package blobstore is what checkpoints, and a driver log, need of storage: named blobs that are there whole and durable,
// or not at all.
//
// A [Store] keeps blobs under names. [Store.Put] streams one of any size; [Store.PutIfAbsent] decides a name once and for all;
// [Store.CompareAndSwap] changes a small record that several processes compete for, told apart by [Tag]. [CheckName] says
// what may be a name, [All] goes through the names of a store.
//
//	err := store.Put(ctx, "state/000042/part-00000", func(w io.Writer) error { return encode(w, rows) })
//	if err != nil {
//		return err // the name is as it was
//	}
//	err = store.PutIfAbsent(ctx, "commits/000042", manifest)
//	if errors.Is(err, blobstore.ErrExists) {
//		return errors.New("another driver has decided this batch")
//	}
//
// Guarantees: when a call returns nil, what it wrote survives the end of the process and of the machine, as far as the storage
// keeps what it acknowledged. Nobody ever sees a part of a blob. Of several that create or swap at the same time one wins,
// in whatever process they are. What one call has shown is seen by all later ones. Names are listed in the order of their bytes.
//
// Any goroutine may call anything. Two stores of one place, in one process or two, are as good as one. Stores start no
// goroutines that outlive a call.
//
// What is not here: folders, which are only a way to read names; permissions; times; a blob that grows. One name must not be a
// folder of another ("a" and "a/b"), and names should not differ in the case of letters alone: some stores cannot keep them apart.
//
// One package a folder implements Store: folder on a local file system, s3store on an object store. Package blobtest is the suite
// that each must pass, and a store in memory that fails as told.
//
// Sources: Amazon, "Amazon S3 User Guide", section on conditional requests; Pillai et al., "All File Systems Are Not Created
// Equal", OSDI 2014.
package blobstore
