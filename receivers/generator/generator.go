package generator

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/leat-io/leat/receivers"
)

// Options configures a [Receiver]. The zero value makes records as fast as the sink takes them, without end.
type Options struct {
	// Rate is the number of records due per second. Zero means that all are due at once.
	Rate int64

	// Limit is the number of records in all, counted from index 0. Zero means no limit.
	Limit int64

	// From is the index of the first record. Zero is the beginning; a program that resumes passes an earlier Next.
	From int64

	// BlockSize is the number of records stored as one block, once all of them are due. Zero means one by one,
	// through the block generator.
	BlockSize int

	// Clock tells when a record is due. Nil means [receivers.SystemClock].
	Clock receivers.Clock
}

// Validate returns a [*receivers.OptionError] for the first option that cannot be used.
func (o Options) Validate() error {
	for _, f := range []struct {
		option string
		value  int64
	}{{"Rate", o.Rate}, {"Limit", o.Limit}, {"From", o.From}, {"BlockSize", int64(o.BlockSize)}} {
		if f.value < 0 {
			return &receivers.OptionError{Option: f.option, Value: f.value, Reason: "want zero or more"}
		}
	}
	return nil
}

// String returns the options in words.
func (o Options) String() string {
	return fmt.Sprintf("rate %d/s, limit %d, from %d, block size %d", o.Rate, o.Limit, o.From, o.BlockSize)
}

// Receiver makes records from their index. See [New].
type Receiver[T any] struct {
	record func(i int64) T
	opts   Options
	next   atomic.Int64
}

// New returns a receiver whose record i is record(i).
//
// Errors: [*receivers.OptionError] for an option that cannot be used.
func New[T any](record func(i int64) T, opts Options) (*Receiver[T], error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if opts.Clock == nil {
		opts.Clock = receivers.SystemClock{}
	}
	r := &Receiver[T]{record: record, opts: opts}
	r.next.Store(opts.From)
	return r, nil
}

// Next returns the index of the first record that no sink has taken yet.
func (r *Receiver[T]) Next() int64 { return r.next.Load() }

// Receive stores records from Next on, each when it is due, until ctx ends or the sink refuses one.
func (r *Receiver[T]) Receive(ctx context.Context, sink receivers.Sink[T]) error {
	first, start := r.next.Load(), r.opts.Clock.Now()
	for {
		i := r.next.Load()
		n := int64(max(r.opts.BlockSize, 1))
		if r.opts.Limit > 0 {
			n = min(n, r.opts.Limit-i)
		}
		if n <= 0 {
			<-ctx.Done()
			return ctx.Err()
		}
		if err := r.await(ctx, start, i+n-1-first); err != nil {
			return err
		}
		if err := r.store(ctx, sink, i, n); err != nil {
			return err
		}
		r.next.Store(i + n)
	}
}

// await returns when the k-th record after the start is due.
func (r *Receiver[T]) await(ctx context.Context, start, k int64) error {
	if r.opts.Rate == 0 {
		return ctx.Err()
	}
	// Whole seconds and the rest apart, so that k may be large.
	due := start + k/r.opts.Rate*1000 + k%r.opts.Rate*1000/r.opts.Rate
	return r.opts.Clock.WaitUntil(ctx, due)
}

func (r *Receiver[T]) store(ctx context.Context, sink receivers.Sink[T], i, n int64) error {
	if r.opts.BlockSize == 0 {
		return sink.Store(ctx, r.record(i))
	}
	records := make([]T, n)
	for k := range records {
		records[k] = r.record(i + int64(k))
	}
	return sink.StoreBlock(ctx, records)
}
