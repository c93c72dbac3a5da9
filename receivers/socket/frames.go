package socket

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"

	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/receivers"
)

// A frame on the wire:
//
//	length  4 bytes, big-endian, of the payload alone
//	payload length bytes
const frameHeader = 4

// growth is how much of a payload is made room for at once: a length that lies costs no more memory than arrives.
const growth = 1 << 20

// FrameTooLongError says that a frame announced a longer payload than is allowed.
type FrameTooLongError struct {
	Addr   string
	Offset int64 // of the frame, from the beginning of the connection
	Length int64 // announced
	Limit  int   // in bytes
}

// Error returns the address, the offset, the length and the limit.
func (e *FrameTooLongError) Error() string {
	return fmt.Sprintf("frame at byte %d from %s announces %d bytes, more than %d", e.Offset, e.Addr, e.Length, e.Limit)
}

// FrameError says that the payload of a frame could not be decoded.
type FrameError struct {
	Addr   string
	Offset int64 // of the frame, from the beginning of the connection
	Length int   // of its payload
	Err    error // what the decoder said
}

// Error returns the address, the offset, the length and the cause.
func (e *FrameError) Error() string {
	return fmt.Sprintf("decode frame of %d bytes at byte %d from %s: %v", e.Length, e.Offset, e.Addr, e.Err)
}

// Unwrap returns the cause.
func (e *FrameError) Unwrap() error { return e.Err }

// WriteFrame writes payload as one frame, with one call of w where w is a connection. A payload without bytes is a
// sign of life that receivers skip.
//
// Errors: a payload of 4 GiB or more; what w returned, after which the stream is of no further use.
func WriteFrame(w io.Writer, payload []byte) error {
	if int64(len(payload)) > math.MaxUint32 {
		return fmt.Errorf("write frame: %d bytes do not fit in one", len(payload))
	}
	head := binary.BigEndian.AppendUint32(make([]byte, 0, frameHeader), uint32(len(payload)))
	frame := net.Buffers{head, payload}
	if _, err := frame.WriteTo(w); err != nil {
		return fmt.Errorf("write frame of %d bytes: %w", len(payload), err)
	}
	return nil
}

// Rows returns a receiver of the blocks that the server at addr, a host and port, sends in frames: each payload is what
// the codec of T made of the block's rows. See [WriteFrame].
//
// Order, Time and Errors: as [Frames]; a damaged payload is a [*FrameError] that wraps a [*codec.CorruptError]. Receive
// returns a [*codec.TypeError] for a T that has no codec.
func Rows[T any](addr string, opts Options) receivers.Receiver[T] {
	rows, err := codec.For[T]()
	if err != nil {
		return &frames[T]{server: server{addr: addr, opts: opts}, err: err}
	}
	return Frames(addr, rows.Decode, opts)
}

// Frames returns a receiver of the blocks that the server at addr, a host and port, sends in frames. decode makes the
// rows of a payload, which it must not keep.
//
// Order: a frame is stored as one block, frame after frame; the next is read when the block is stored.
// Time: no rate limit applies to blocks; a full block log makes the server wait.
// Errors: Receive returns options that cannot be used; a failed connection; [*FrameTooLongError], before memory is
// made; [*FrameError]; an error that wraps [io.EOF] when the server ends the stream, [io.ErrUnexpectedEOF] within a
// frame. All of them have the supervisor connect again.
func Frames[T any](addr string, decode func(payload []byte) ([]T, error), opts Options) receivers.Receiver[T] {
	r := &frames[T]{server: server{addr: addr, opts: opts}, decode: decode}
	if decode == nil {
		r.err = errNilDecode
	}
	return r
}

type frames[T any] struct {
	server
	decode func(payload []byte) ([]T, error)
	err    error // why there is none
}

// Validate returns what is wrong with options, type and function.
func (r *frames[T]) Validate() error { return errors.Join(r.server.Validate(), r.err) }

// Receive connects and stores blocks until ctx ends or the connection does.
func (r *frames[T]) Receive(ctx context.Context, sink receivers.Sink[T]) error {
	if err := r.Validate(); err != nil {
		return err
	}
	return r.connected(ctx, func(opts Options, in *counted) error {
		var payload []byte
		for {
			var err error
			if payload, err = r.next(in, payload[:0], opts.MaxFrame); err != nil {
				return err
			}
			if len(payload) == 0 {
				continue
			}
			begin := in.offset - int64(len(payload)) - frameHeader
			rows, err := r.decode(payload)
			if err != nil {
				return &FrameError{Addr: r.addr, Offset: begin, Length: len(payload), Err: err}
			}
			if len(rows) == 0 {
				continue
			}
			if err := sink.StoreBlock(ctx, rows); err != nil {
				return err
			}
			if cap(payload) > growth {
				payload = nil // one large frame must not hold its memory for good
			}
		}
	})
}

// next reads the payload of the next frame into the room of payload, or more.
func (r *frames[T]) next(in *counted, payload []byte, limit int) ([]byte, error) {
	var head [frameHeader]byte
	begin := in.offset
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, &readError{err}
	}
	length := int64(binary.BigEndian.Uint32(head[:]))
	if length > int64(limit) {
		return nil, &FrameTooLongError{Addr: r.addr, Offset: begin, Length: length, Limit: limit}
	}
	for left := int(length); left > 0; {
		n := min(left, growth)
		payload = slices.Grow(payload, n)
		part := payload[len(payload) : len(payload)+n]
		if _, err := io.ReadFull(in, part); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, &readError{err}
		}
		payload = payload[:len(payload)+n]
		left -= n
	}
	return payload, nil
}
