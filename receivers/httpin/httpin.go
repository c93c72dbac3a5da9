package httpin

import (
	"context"
	"net/http"

	"github.com/leat-io/leat/receivers"
)

// Receiver is a receiver of what is posted to it. Make it with [Lines] or [JSON].
type Receiver[T any] struct {
	addr   string
	opts   Options
	bad    error // what is wrong with the options
	decode func(body []byte, limit int) ([]T, error)
	cross  *http.CrossOriginProtection
	held   chan struct{} // bounded: a token for each request that is held
	runs   runs[T]
}

// Lines returns a receiver of the lines of what is posted to addr, a host and port. Lines end with \n, \r\n or \r, the end
// of the body ends the last one. With an empty addr it has no server, and is a handler for the program's own.
//
// Shape: a request is a block, hence a partition of its batch: post many lines at once.
// Errors: a line that is not valid UTF-8 is a bad record. Receive returns options and addresses that cannot be used,
// [*InsecureAddrError] among them, what the server failed with, and the error of the sink.
func Lines(addr string, opts Options) *Receiver[string] { return newReceiver(addr, opts, decodeLines) }

// JSON returns a receiver of the JSON values posted to addr, a host and port. A body is any number of values, one after the
// other, with or without white space between them; each is decoded as encoding/json does. With an empty addr it has no
// server, and is a handler for the program's own.
//
// Shape and Errors: as [Lines]; a value that is no JSON or does not fit T is a bad record.
func JSON[T any](addr string, opts Options) *Receiver[T] {
	return newReceiver(addr, opts, decodeJSON[T])
}

func newReceiver[T any](addr string, opts Options, decode func([]byte, int) ([]T, error)) *Receiver[T] {
	r := &Receiver[T]{addr: addr, opts: opts.withDefaults(), bad: opts.Validate(), decode: decode, cross: http.NewCrossOriginProtection()}
	r.held = make(chan struct{}, max(r.opts.MaxRequests, 0))
	return r
}

// Validate returns what is wrong with options and address, without looking up names.
func (r *Receiver[T]) Validate() error {
	if r.bad != nil || r.addr == "" {
		return r.bad
	}
	return checkAddr(r.addr, r.opts.TLS != nil)
}

// String returns the address and the options in effect.
func (r *Receiver[T]) String() string { return r.addr + ": " + r.opts.String() }

// Receive takes requests until ctx ends, its server fails or the sink refuses a block.
func (r *Receiver[T]) Receive(ctx context.Context, sink receivers.Sink[T]) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.Validate(); err != nil {
		return err
	}
	failing, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	run := newRun(ctx, sink, fail)
	r.runs.open(run)
	// However this ends, no request stores anything afterwards.
	defer r.runs.close(run, r.opts.Grace)
	if r.addr == "" {
		<-failing.Done()
		return context.Cause(failing)
	}
	return r.serve(failing)
}
