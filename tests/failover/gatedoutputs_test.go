package failover

import (
	"context"
	"io"
	"strings"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/dstream/sink"
)

// gatedSink is the sink as a driver has it.
type gatedSink struct {
	sink.Sink[string]
	p *process
}

func (s gatedSink) Begin(ctx context.Context, b sink.Batch, parts int) error {
	return s.p.doFor(ctx, "sink begin", func() error { return s.Sink.Begin(ctx, b, parts) })
}

func (s gatedSink) Part(ctx context.Context, b sink.Batch, part int, attempt string) (w sink.Writer[string], err error) {
	err = s.p.do("sink part", func() error {
		w, err = s.Sink.Part(ctx, b, part, attempt)
		return err
	})
	return gatedWriter{w, s.p}, err
}

func (s gatedSink) Seal(ctx context.Context, b sink.Batch, notes [][]byte) (staged []byte, err error) {
	err = s.p.doFor(ctx, "sink seal", func() error {
		staged, err = s.Sink.Seal(ctx, b, notes)
		return err
	})
	return staged, err
}

// Commit checks that what is committed is prepared, as far as this driver's node knows. Shows I6.
func (s gatedSink) Commit(ctx context.Context, b sink.Batch, staged []byte) error {
	return s.p.doFor(ctx, "sink commit", func() error {
		state, err := s.p.log.State(ctx)
		if err != nil {
			return err
		}
		app := state.App(b.App)
		if open, ok := app.Batch(b.ID); b.ID >= app.Oldest() && (!ok || open.Prepared == 0) {
			s.p.c.mu.Lock()
			s.p.c.breach("%v is committed in the sink and not prepared", b)
			s.p.c.mu.Unlock()
		}
		return s.Sink.Commit(ctx, b, staged)
	})
}

func (s gatedSink) Clean(ctx context.Context, b sink.Batch) error {
	return s.p.doFor(ctx, "sink clean", func() error { return s.Sink.Clean(ctx, b) })
}

func (s gatedSink) Last(ctx context.Context, app, output string) (m sink.Mark, err error) {
	err = s.p.doFor(ctx, "sink last", func() error {
		m, err = s.Sink.Last(ctx, app, output)
		return err
	})
	return m, err
}

// gatedWriter is the writer of a part as a driver has it.
type gatedWriter struct {
	sink.Writer[string]
	p *process
}

func (w gatedWriter) Write(rows []string) error {
	if err := w.p.stand(); err != nil {
		return err
	}
	return w.Writer.Write(rows)
}

func (w gatedWriter) Finish(ctx context.Context) (note []byte, err error) {
	err = w.p.do("sink finish", func() error {
		note, err = w.Writer.Finish(ctx)
		return err
	})
	return note, err
}

func (w gatedWriter) Abort(ctx context.Context) error {
	if err := w.p.stand(); err != nil {
		return err
	}
	return w.Writer.Abort(ctx)
}

// gatedStore is the store as a driver has it.
type gatedStore struct {
	blobstore.Store
	p *process
}

func (s gatedStore) Put(ctx context.Context, name string, write func(io.Writer) error) error {
	return s.p.do("store put "+kindOf(name), func() error { return s.Store.Put(ctx, name, write) })
}

func (s gatedStore) PutIfAbsent(ctx context.Context, name string, data []byte) error {
	return s.p.do("store put "+kindOf(name), func() error { return s.Store.PutIfAbsent(ctx, name, data) })
}

func (s gatedStore) CompareAndSwap(ctx context.Context, name string, old blobstore.Tag, data []byte) (tag blobstore.Tag, err error) {
	err = s.p.do("store swap "+kindOf(name), func() error {
		tag, err = s.Store.CompareAndSwap(ctx, name, old, data)
		return err
	})
	return tag, err
}

func (s gatedStore) Remove(ctx context.Context, names ...string) error {
	return s.p.do("store remove", func() error { return s.Store.Remove(ctx, names...) })
}

func kindOf(name string) string {
	kind, _, _ := strings.Cut(name, "/")
	return kind
}
