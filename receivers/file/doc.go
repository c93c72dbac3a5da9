// Package file selects the files of a directory that belong to a batch.
//
// # Nouns
//
// A [Selector] answers, for a batch time, which files have appeared since the batches before. A [File] is a path with
// its modification time and size. The remember duration is how late a file may become visible after its modification
// time, and how long the selector remembers what it selected.
//
// # A program
//
//	sel, err := file.NewSelector("/logs/day=*", file.Options{Start: now, Interval: time.Second})
//	files, warnings := sel.Select(batchTime)
//	for _, f := range files {
//		read(f.Path)
//	}
//	sel.Forget(completedBatchTime)
//
// # Guarantees
//
// Batch t selects the regular files that lie directly in a directory the pattern matches, that the filter accepts,
// that were modified at t or before and after max(Start, t - remember), and that no remembered batch has. So a file
// that becomes visible in time, whole and for good, belongs to exactly one batch, also when batches that a stopped
// program missed are made up for later. The files of a batch are sorted by path. The answer for a remembered batch
// does not change, whatever happens to the directory.
//
// A limit ([Selector.SelectAtMost]) leaves files to later batches, the newest first to be left. They wait however long it takes: the
// remember duration says how late a file may be seen, not how late it may be selected; and batches stay remembered back to the oldest file
// that waits. A program that comes back finds them again.
//
// A program that comes back goes on from a [State], and from what was recorded of the batches since ([Selector.Record],
// [Selector.Replay]): those batches have the files they had, which are not selected again, and the first new batch finds what
// appeared while the program was away, also what is older than the remember duration by now. The start stays that of the
// first run.
//
// A directory that is missing or cannot be listed is a warning and no failure: its files are selected by a later
// batch, as long as they are within the remember duration.
//
// Files have to appear whole (write them elsewhere in the same file system and move them in) and must not be changed
// afterwards. A file is known by its path and by its modification time, which a move keeps: one that is moved in with a
// time of before Start, or of longer ago than the remember duration, is never selected; touch it first. A file
// that is changed or replaced after it was selected is not selected again for the remember duration; if it is younger than
// that then, it counts as a new file. The clocks of the file system and of the program that names the batch times have to
// agree.
//
// # Who may call what
//
// A Selector belongs to one goroutine, the one that makes batches. It reads no clock and starts nothing.
//
// # What is not here
//
// Reading and decoding of files, the checkpoint that holds a [State], whether files are still what they were, and the warning that listing takes longer than the
// batch interval: the caller has the clock.
//
// Sources: Spark Streaming Programming Guide, "File Streams", "How Directories are Monitored".
package file
