package receivers

import (
	"context"
	"iter"
	"slices"
)

// Receiver reads one source and stores its records in a sink.
//
// The supervisor calls Receive from one goroutine, never twice at the same time, and again after every end, as often
// as it takes. Receive blocks. It returns when ctx ends, promptly, and otherwise only when the source has ended or
// failed or the sink refused a record; whether it returns nil or an error, it is called again after the restart delay.
// So a receiver with nothing more to say waits for ctx. It leaves no goroutine behind.
type Receiver[T any] interface {
	// Receive stores records in sink until ctx ends, the source ends or something fails.
	Receive(ctx context.Context, sink Sink[T]) error
}

// Sink takes the records of one run of a receiver. It may be used from several goroutines, until Receive returns;
// after that it refuses everything with [ErrSinkClosed].
type Sink[T any] interface {
	// Store hands over one record, which joins the block of the current block interval. It waits while that block is
	// full or the rate limit asks for it; this wait is the push-back that keeps a fast source from filling memory.
	// An error means that the record was not taken.
	Store(ctx context.Context, record T) error

	// StoreBlock hands over records as one block of their own and returns when the block is stored and acknowledged,
	// which is the moment to acknowledge the source. No rate limit applies. The sink owns records afterwards. After an
	// error the block may or may not be stored, so a source that replays may double it.
	StoreBlock(ctx context.Context, records []T) error

	// ReportError makes a problem known that the receiver can live with. It does not end the receiver.
	ReportError(err error)
}

// Func is a function used as a [Receiver].
type Func[T any] func(ctx context.Context, sink Sink[T]) error

// Receive calls f.
func (f Func[T]) Receive(ctx context.Context, sink Sink[T]) error { return f(ctx, sink) }

// StoreSeq stores everything seq yields as one block, as [Sink.StoreBlock] does.
//
// Cost: the whole sequence is held in memory before it is stored.
func StoreSeq[T any](ctx context.Context, sink Sink[T], seq iter.Seq[T]) error {
	return sink.StoreBlock(ctx, slices.Collect(seq))
}
