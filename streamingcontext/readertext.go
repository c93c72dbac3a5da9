package streamingcontext

import (
	"io"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/receivers/reader"
)

// ReaderText declares the stream of the text lines of r, such as os.Stdin. When r ends, the stream has no more
// records; the program is told through the options of reader.Lines, with Receive.
//
// Shape, Order, Time and Cost: as Receive.
// Errors: Start reports a nil r. Reading that fails is told to listeners and tried again after
// Options.RestartDelay. A read that cannot be woken, as of a terminal, is left behind by Stop.
func (c *Context) ReaderText(r io.Reader) *dstream.DStream[string] {
	return receive(c, "readerText", "Reader stream", reader.Lines(r, reader.Options{}))
}
