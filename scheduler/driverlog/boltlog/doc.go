// Package boltlog keeps a driver log in a file of bbolt: for a driver that must find its batches again after it was killed.
//
// A [Log] is opened by [Open] and implements [driverlog.Log]. Its file holds entries, one for each command that took effect,
// and a snapshot of the state that takes the place of those before them. [Dump] and [Verify] read the file without
// owning it.
//
//	log, err := boltlog.Open(filepath.Join(dir, "driver.db"), boltlog.Options{Node: "driver-1"})
//	if err != nil {
//		return err // *LockedError names the owner, *CorruptError the file and the place in it
//	}
//	defer log.Close()
//	return driverlog.WhileLeading(ctx, log, runBatches)
//
// Guarantees: a command that was answered is there after the process is killed or the machine fails, but for the last Committed
// ones, which are answered before they are durable and become so with the next command of another kind. Commands of one
// ProposeAll are there together. The file does not grow with the number of batches. The first error of the file
// system ends the log: nothing is written after it, and only another Open finds out what had become durable.
//
// A log has one owner at a time. The file path.lock is locked by it and names it; the kernel unlocks it when the owner ends,
// so it is never in the way and must never be removed.
//
// Open reads the whole file and checks it before anything is written: every page of bbolt that is in use, a CRC-32C of
// each entry and a SHA-256 of the snapshot, that no index is missing, and that every entry follows from those before it.
// It notices a file that is cut short, a bit that is flipped in anything in use, and, by the small file path.tail, that the
// newest transaction was lost or that the file was removed or replaced by another or an older one. All this is a
// [*CorruptError] and leaves the files as they are. A file of which nothing was ever acknowledged is made anew.
//
// A transaction is flushed to the disk once: Open finds out whether all of it is there, and goes back to the one before it if
// the machine failed in the middle. The tail says which transactions were answered, so damage to one of them is not taken for
// that. The tail itself is not flushed. So two things are not noticed: damage to the last transaction, and to nothing else,
// that comes together with a failure of the machine; and an older file with its older tail, or without one. Copy or move a
// log with both its files, and without an owner.
//
// Any goroutine may call anything at any time. No goroutine is started: of the callers that wait one writes for all.
//
// What is not here: protection of a file that is damaged while its owner runs. bbolt reads pages through a memory map; a
// page that cannot be read ends the log where it is met, but where bbolt meets it in a goroutine of its own the process ends.
// The inputs kept of a registered application are bounded in number, not in bytes, and are part of each snapshot, which
// bbolt bounds at two gigabytes.
//
// Sources: the file format and the order of flushes of go.etcd.io/bbolt; Pillai et al., "All File Systems Are Not Created
// Equal", OSDI 2014, section on the persistence of directory operations; Rebello et al., "Can Applications Recover from
// fsync Failures?", USENIX ATC 2020.
package boltlog
