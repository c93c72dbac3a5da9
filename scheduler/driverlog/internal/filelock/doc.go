// Package filelock keeps other processes from the files of a driver log, and says who has them.
//
// A [Lock] is a file that the kernel locks for a process, with a line that names it.
//
//	lock, err := filelock.Take(dir+"/lock", dir, 0)
//	if err != nil {
//		return err // *driverlog.LockedError names the owner
//	}
//	defer lock.Release()
//
// Guarantees: of several processes one has the lock. It goes with the process, however that ends, so what the file says counts only while
// somebody holds it.
//
// Not here: locks between machines.
package filelock
