// Package socket is a receiver of text lines from a TCP server.
//
// # Nouns
//
// [Text] returns the receiver. A line ends with \n, \r\n or \r; the end of the stream ends the last line, too.
//
// # A program
//
//	lines := socket.Text("localhost:9999", socket.Options{})
//	s, err := receivers.NewSupervisor(0, lines, blocks, receivers.Options{})
//	err = s.Run(ctx)
//
// # Guarantees
//
// Lines are stored one by one, in order, without their terminators, byte for byte: text that is not valid UTF-8 is kept
// as it is. A line ended by \r is stored at once, without waiting whether a \n follows. A server that goes away is
// connected to again after the restart delay, for as long as the stream lives. At most one connection is open, and at
// most one line of MaxLine bytes and one buffer of 64 KiB is held.
//
// A socket cannot be read again. Lines that the server sent while no connection was open, the line that was incomplete
// when the connection broke, and lines in a block that was not stored yet when the process died, are lost.
//
// # Who may call what
//
// Receive from one goroutine at a time, as the supervisor does. The receiver keeps nothing from one call to the next.
//
// # What is not here
//
// Framed and encoded input, and listening for connections.
//
// Sources: Spark Streaming Programming Guide, "A Quick Example" and "Basic Sources".
package socket
