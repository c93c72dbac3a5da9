// Package socket is receivers of what a TCP server sends.
//
// # Nouns
//
// [Text] returns a receiver of text lines, [Stream] one of whatever a function decodes, [Frames] one of blocks that
// arrive encoded, each in a frame: four bytes of length, most significant first, and the payload. [Rows] is Frames
// for blocks encoded by package codec. [WriteFrame] is for the server that sends them.
//
// # A program
//
//	lines := socket.Text("localhost:9999", socket.Options{})
//	stream := streamingcontext.Receive(ssc, lines) // or ssc.SocketText("localhost:9999")
//
// # Guarantees
//
// A receiver makes one connection each time it is started, and none before. A server that goes away is connected to again
// after the restart delay, for as long as the stream lives: the end of the stream is an error like any other. At most one
// connection is open. It is dialled; nothing listens.
//
// Lines are stored one by one, in order, without their terminators \n, \r\n or \r, byte for byte: text that is not valid
// UTF-8 is kept as it is. A line ended by \r is stored at once, without waiting whether a \n follows; the end of the
// stream ends the last line, too. At most one line of MaxLine bytes and one buffer of 32 KiB is held. What Stream decodes
// is stored record by record as well.
//
// The rows of a frame are stored as one block. At most one frame of MaxFrame bytes and its rows are held.
//
// A socket cannot be read again. What the server sent while no connection was open, the line, record or frame that was
// incomplete when the connection broke, and what was in a block that was not stored yet when the process died, is lost; a
// program that is started again begins with what the server sends then, whatever it had read before.
//
// # Who may call what
//
// Receive from one goroutine at a time, as the supervisor does. The receivers keep nothing from one call to the next.
//
// # What is not here
//
// Listening for connections: package httpin does that for HTTP.
//
// Sources: Spark Streaming Programming Guide, "A Quick Example" and "Basic Sources".
package socket
