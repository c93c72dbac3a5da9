package socket

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/leat-io/leat/receivers"
)

// errNilDecode is the error of a receiver made without a function to decode with.
var errNilDecode = &receivers.OptionError{Option: "decode", Value: nil, Reason: "want a function"}

// Stream returns a receiver of the records that decode makes of what the server at addr, a host and port, sends. decode
// is called once a connection, on the goroutine of Receive; it reads until the stream ends and yields records, or an error
// that ends the connection. It bounds what it allocates for one record.
//
// Order: as decode yields them; stored one by one. While the sink waits, decode is not resumed.
// Errors: Receive returns options that cannot be used; a failed connection; the error that decode yields, with address
// and offset; an error that wraps [io.EOF] when decode ends. All of them have the supervisor connect again.
func Stream[T any](addr string, decode func(io.Reader) iter.Seq2[T, error], opts Options) receivers.Receiver[T] {
	return &stream[T]{server{addr: addr, opts: opts}, decode}
}

type stream[T any] struct {
	server
	decode func(io.Reader) iter.Seq2[T, error]
}

// Validate returns what is wrong with options and function.
func (r *stream[T]) Validate() error {
	if r.decode == nil {
		return errors.Join(r.server.Validate(), errNilDecode)
	}
	return r.server.Validate()
}

// Receive connects and stores what is decoded until ctx ends or the connection does.
func (r *stream[T]) Receive(ctx context.Context, sink receivers.Sink[T]) error {
	if err := r.Validate(); err != nil {
		return err
	}
	return r.connected(ctx, func(_ Options, in *counted) error {
		for record, err := range r.decode(in) {
			if err != nil {
				return &readError{err}
			}
			if err := sink.Store(ctx, record); err != nil {
				return err
			}
		}
		return &readError{io.EOF}
	})
}
