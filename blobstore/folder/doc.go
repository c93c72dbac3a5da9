// Package folder is a blob store in a folder of a local file system, a file for each blob.
//
// A [Store] is opened by [Open]. What it asks of the file system is an [FS]; [OS] is the one of the operating system.
//
//	dir/state/000042/part-00000   the blob of this name
//	dir/.leat-tmp/                blobs that are being written
//	dir/.leat-lock                held while a blob is swapped
//
//	store, err := folder.Open("/data/checkpoints", folder.Options{})
//	if err != nil {
//		return err
//	}
//	return store.Put(ctx, "state/000042/part-00000", encode)
//
// Guarantees: those of package blobstore, as long as the file system keeps what was synced. A blob is written under another
// name, synced, and renamed or linked to its own, whose folders are synced before the call returns. Creation is a hard link, which of
// several processes one gets; swaps hold a lock that the kernel takes from a process that ends. A process that is stopped
// while it has the lock keeps others from swapping, until their contexts end.
//
// A name's characters that a file system may not take are written as a percent sign and two hexadecimal digits. A name with so many
// of them that a file's name would pass 255 bytes is refused. Reading checks nothing: who must notice a file that was
// damaged keeps a checksum.
//
// Any goroutine and any process may call anything.
//
// What is not here: file systems without hard links, which are refused by Open. Network file systems, unless they have working
// locks and links.
//
// Source: Pillai et al., "All File Systems Are Not Created Equal", OSDI 2014, on what must be synced for a name to last.
package folder
