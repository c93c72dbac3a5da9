package streamingcontext

import (
	"io"
	"iter"
	"net"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/socket"
)

// SocketText declares the stream of the text lines that the server at addr, a host and port, sends. It
// connects when the context starts, once, and again whenever the connection ends.
//
// Shape, Order, Time and Cost: as Receive.
// Errors: Start reports an addr without a port. A connection that cannot be made or ends is told to
// listeners, and tried again after Options.RestartDelay. A socket cannot be read again: a program that
// is started anew begins with what the server sends then.
func (c *Context) SocketText(addr string) *dstream.DStream[string] {
	return fromSocket(c, "socketText", "Socket stream", addr, socket.Text(addr, socket.Options{}))
}

// SocketStream declares the stream of the records that decode makes of what the server at addr, a host and
// port, sends. decode is called once a connection; it reads until the stream ends, and bounds what it
// allocates.
//
// Shape, Order, Time and Cost: as Receive; records are stored one by one.
// Errors: as SocketText; Start reports a nil decode. An error that decode yields ends the connection.
func SocketStream[T any](ssc *Context, addr string, decode func(io.Reader) iter.Seq2[T, error]) *dstream.DStream[T] {
	return fromSocket(ssc, "socketStream", "Socket stream", addr, socket.Stream(addr, decode, socket.Options{}))
}

// RawSocket declares the stream of the blocks that the server at addr, a host and port, sends in frames: four
// bytes of length, most significant first, and as many bytes that the codec of T made of rows. See
// socket.WriteFrame; socket.Frames takes other encodings.
//
// Shape: as Receive, a partition for each frame with rows.
// Order, Time and Cost: as Receive; no rate limit applies, a frame waits until the one before is stored.
// Errors: as SocketText; Start reports a T that has no codec. A damaged or too long frame ends the
// connection.
func RawSocket[T any](ssc *Context, addr string) *dstream.DStream[T] {
	return fromSocket(ssc, "rawSocket", "Raw socket stream", addr, socket.Rows[T](addr, socket.Options{}))
}

func fromSocket[T any](c *Context, op, name, addr string, r receivers.Receiver[T]) *dstream.DStream[T] {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		c.refuse(op, err)
		return dstream.NewInput[T](c.graph, op, name, noInput[T]{})
	}
	return receive(c, op, name, r)
}
