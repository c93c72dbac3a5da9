// Package custom is a receiver that shows how receivers are made: it follows a text file that grows, as a log does.
//
// # Nouns
//
// [Tail] returns the receiver. A line ends with \n or \r\n. The file is what is found under its path: it may be
// rotated, which is a new file under the old name, or truncated.
//
// # A program
//
//	lines := custom.Tail("/var/log/app.log", custom.Options{})
//	stream := streamingcontext.Receive(ssc, lines)
//
// # Guarantees
//
// Each line is stored once, in order, when its end is there: what is written of a line so far waits for the rest. A
// file that another takes the place of while it is followed is read to its end, which ends its last line, before the new
// one is opened. A file is known by its number and its first 64 bytes: one that was truncated is read again from its
// beginning, also if it has grown past its old size meanwhile. A missing file is waited for.
//
// What is not seen: the rest of a file that is replaced while the receiver is not running, and that a file which was
// truncated and grew again is another, where its first 64 bytes are the same.
//
// The position is kept from one start of the receiver to the next, not from one process to the next: lines
// written while no process runs are read again, or, with FromEnd, left out. One file and one buffer of ReadSize bytes are held,
// and a line of MaxLine bytes.
//
// # Who may call what
//
// Receive from one goroutine at a time, as the supervisor does.
//
// # What is not here
//
// Files that appear whole in a folder: package file. Compressed files.
//
// Sources: receivers/README.md; POSIX, "tail", option -f.
package custom
