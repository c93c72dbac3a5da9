package receivers

import "context"

// EachSink is the further power of a [Sink] that takes several records as single ones, with one call. The sink of a
// supervisor has it. [StoreEach] finds it by assertion.
type EachSink[T any] interface {
	// StoreEach is Store for each record in turn, and returns how many were taken. It copies them: records is the
	// caller's again when it returns. An error means that the record after those was not taken.
	StoreEach(ctx context.Context, records []T) (taken int, err error)
}

// StoreEach stores the records one by one, as [Sink.Store] does, and returns how many the sink took. It is for a source
// that has several records at hand, such as the lines of one read.
//
// Cost: one turn for all records that pass the rate limit and fit in the block, where the sink is an [EachSink].
// Errors: that of the sink; the record after those taken was not taken.
func StoreEach[T any](ctx context.Context, sink Sink[T], records []T) (taken int, err error) {
	if each, ok := sink.(EachSink[T]); ok {
		return each.StoreEach(ctx, records)
	}
	for i, record := range records {
		if err := sink.Store(ctx, record); err != nil {
			return i, err
		}
	}
	return len(records), nil
}

// StoreEach adds the records to the current block in turn, and those that find it full to the next. Each waits for the
// rate limit and while the block is full, as with Store. It returns how many were taken. The slice is copied.
//
// Errors: as [Generator.Store]; the record after those taken was not taken.
func (g *Generator[T]) StoreEach(ctx context.Context, records []T) (taken int, err error) {
	for taken < len(records) {
		if err := g.lock(ctx, 1); err != nil {
			return taken, err
		}
		n := 1 + g.allowed(min(len(records)-taken, g.opts.MaxBlockRecords-len(g.buffer))-1)
		g.add(records[taken : taken+n]...)
		g.mu.Unlock()
		taken += n
	}
	return taken, nil
}

// allowed returns how many of up to n further records the rate lets pass at once.
func (g *Generator[T]) allowed(n int) int {
	if n <= 0 || !g.limit.limited() {
		return max(n, 0)
	}
	taken, _ := g.limit.take(n)
	return taken
}

// StoreEach adds records to the blocks being gathered.
func (s *attemptSink[T]) StoreEach(ctx context.Context, records []T) (taken int, err error) {
	if s.closed.Load() {
		return 0, ErrSinkClosed
	}
	return s.sup.gen.StoreEach(ctx, records)
}
