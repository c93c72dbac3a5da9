// Package lines cuts a stream of bytes into lines, for the receivers of text.
//
// # Nouns
//
// A [Reader] reads a stream and returns the lines that each read completed. A line ends with \n, \r\n or \r; the end of
// the stream ends the last line, too. [Cut] does the same for a text that is there already.
//
// # A program
//
//	r := lines.NewReader(conn, 1<<20)
//	for {
//		batch, err := r.Next(batch[:0])
//		store(batch)
//		if err != nil {
//			return err
//		}
//	}
//
// # Guarantees
//
// Lines come in order, without their terminators, byte for byte: text that is not valid UTF-8 is kept as it is. A line
// comes with the read that completed it and waits for nothing more; one ended by \r does not wait whether a \n follows. At
// most one buffer of 32 KiB and one line of the longest length allowed are held.
//
// Lines of one read share their memory: in pieces of about 4 KiB or, where a read brings 16 KiB or more, all of them. So
// a line costs no allocation of its own, and one that is kept for long keeps 32 KiB at most, or what is as long as itself.
//
// # Who may call what
//
// A Reader belongs to one goroutine.
//
// # What is not here
//
// Other encodings than those in which \n and \r are single bytes.
package lines
