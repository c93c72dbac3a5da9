// Package faultdisk is a disk that goes bad when a test says so: its writes and flushes hang, fail, find no room or take long, for every
// program that uses the folder it is mounted on.
//
// A [Disk] shows a real folder at another place, by [Mount], through FUSE. A [Fault] says what goes wrong, and with which [Calls]; [Disk.Set]
// switches it while programs run. [Counts] say how many calls have met it.
//
//	disk, err := faultdisk.Mount(dir, real)
//	if err != nil {
//		return err // *UnavailableError where there is no FUSE, or no right to mount
//	}
//	defer disk.Close()
//	node, err := proctest.Start(proctest.Options{Path: program, Args: []string{"-dir", dir}})
//	disk.Set(faultdisk.Hung())
//	err = disk.AwaitHeld(ctx) // a write of the node hangs
//	disk.Set(faultdisk.Fault{}) // the disk is mended: it goes on, and lands
//
// Guarantees: what a program has written and was told so is in the real folder, in the order in which it was written. A call that hangs waits in the kernel, as with
// a disk that does not answer: its process can be killed and is not gone before the call returns. Close lets every call return, those that hang with
// an error. Locks of files, memory maps and flushes work as on a disk; programs on two disks over one folder do not see each other's locks.
//
// Any goroutine may call anything. The process that has mounted a disk must not map files of it into memory, nor must anything else that
// keeps its threads from running: it is the one to serve them. Programs under test are processes of their own.
//
// What is not here: reads that go wrong; loss of what was not flushed, for which [github.com/leat-io/leat/dstream/sink/sinktest/disk] is; systems other
// than Linux, where Mount says so.
//
// Sources: Rebello et al., "Can Applications Recover from fsync Failures?", USENIX ATC 2020; Vangoor et al., "To FUSE or Not to FUSE", FAST 2017.
package faultdisk
