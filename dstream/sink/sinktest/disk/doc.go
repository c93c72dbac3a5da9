// Package disk is a disk in memory whose power can be cut, for tests of whatever must survive that.
//
// A [Disk] has the calls of the sinks' file systems. It keeps apart what was written and what was synced: the bytes of a file
// until Sync, the names of a folder until SyncDir. [Disk.After] returns the disk that the next start would find, under a [Loss]:
// a process that was killed loses nothing, a power cut loses what was not synced: all of it, a part, or the end of the last write. A plan
// ([Disk.CrashAt], [Disk.FailAt], [Disk.SetRoom]) makes a call the last one, makes one fail, or fills the disk.
//
//	for n := 1; ; n++ {
//		d := disk.New()
//		d.CrashAt(n, disk.Before)
//		write(d)
//		if !d.Crashed() {
//			break // there is no n-th call
//		}
//		for _, loss := range disk.Losses {
//			check(t, d.After(loss, seed))
//		}
//	}
//
// Guarantees: the same calls and the same seed give the same disk. It is harsher than most real ones: syncing a file says nothing of
// its name, names in one folder can be lost in any order, and lost blocks of a file are zeros. What was synced is never lost, and
// a rename is kept or lost as a whole. Any goroutine may call anything.
//
// What is not here: permissions, times, overwriting in place; files only grow.
//
// Source: Pillai et al., "All File Systems Are Not Created Equal", OSDI 2014, on what a crash may leave.
package disk
