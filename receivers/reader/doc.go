// Package reader is a receiver of the text lines of an io.Reader, such as standard input or a pipe.
//
// # Nouns
//
// [Lines] returns the receiver. A line ends with \n, \r\n or \r; the end of the input ends the last line, too.
//
// # A program
//
//	lines := reader.Lines(os.Stdin, reader.Options{Ended: stop})
//	stream := streamingcontext.Receive(ssc, lines) // or ssc.ReaderText(os.Stdin)
//
// # Guarantees
//
// Lines are stored one by one, in order, without their terminators, byte for byte. The next lines are read when those
// before are stored; at most one line of MaxLine bytes and one buffer of 32 KiB is held.
//
// The receiver goes on where it was when it is started again: each line is stored once in the life of the process. What was
// read from the input and not processed when the process ends is lost, where the input cannot be read again.
//
// The end of the input is the end for good: the receiver then waits for its context and reads no more. Another error of the
// input has it started again, and read on. A line that is too long is reported and left out.
//
// # Reads that wait
//
// A read that waits for input has to be woken when the context ends. Network connections and pipes are woken by a deadline
// for reads, which is taken back afterwards; others by Options.Interrupt. Where there is neither, as on a terminal, the read
// cannot be woken: Receive returns all the same, and one goroutine waits until the next line or the end of the input
// comes. That line is not lost; the next Receive has it. A process that ends need not wait for it.
//
// # Who may call what
//
// Receive from one goroutine at a time, as the supervisor does. Nobody else may read from the input.
//
// # What is not here
//
// Files that appear in a folder or grow: packages file and custom.
package reader
