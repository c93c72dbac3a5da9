package httpsink

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/internal/spool"
)

// A Sink posts rows.
type Sink[T any] struct {
	spool  *spool.Spool
	url    string
	opts   Options[T]
	client http.Client
	log    *slog.Logger
	bad    error // why nothing can be written

	mu   sync.Mutex // guards done
	done map[[2]string]position
}

// A position is where a batch stands that was not posted to its end: a later call goes on there. It is kept in memory only.
type position struct {
	batch int64
	part  int
	row   int64 // the next
}

// New returns a sink that keeps rows in files below dir until the server at url has taken them.
//
// Errors: the first call reports options, and a url, that have no meaning.
func New[T any](dir, url string, opts Options[T]) *Sink[T] {
	s := &Sink[T]{spool: spool.New(dir, opts.FS), url: url, opts: opts, log: opts.Logger, done: make(map[[2]string]position)}
	if s.bad = opts.Validate(); s.bad == nil {
		s.bad = checkURL(url)
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.client = http.Client{Timeout: defaultTimeout}
	if opts.Client != nil {
		s.client = *opts.Client
	}
	// A POST that is followed as a GET would be answered, and lost.
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return s
}

// String returns address and options.
func (s *Sink[T]) String() string { return fmt.Sprintf("POST %s, %v", s.url, s.opts) }

// Promise returns sink.AtLeastOnce.
func (s *Sink[T]) Promise() sink.Promise { return sink.AtLeastOnce }

// Begin makes the folders of the output.
//
// Errors: *sink.FencedError where a later driver has committed.
func (s *Sink[T]) Begin(ctx context.Context, b sink.Batch, parts int) error {
	if s.bad != nil {
		return s.bad
	}
	return s.spool.Begin(ctx, b, parts)
}

// Part returns the writer of an attempt.
func (s *Sink[T]) Part(ctx context.Context, b sink.Batch, index int, attempt string) (sink.Writer[T], error) {
	if s.bad != nil {
		return nil, s.bad
	}
	w, err := s.spool.Part(ctx, b, index, attempt)
	if err != nil {
		return nil, err
	}
	return &writer[T]{Writer: w, sink: s, batch: b, index: index}, nil
}

// A writer makes bytes of rows.
type writer[T any] struct {
	*spool.Writer
	sink  *Sink[T]
	batch sink.Batch
	index int
}

// Write takes the next rows.
func (w *writer[T]) Write(rows []T) error {
	for i := range rows {
		if err := w.Failed(); err != nil {
			return err
		}
		data, err := w.sink.encode(&rows[i])
		if err != nil {
			return w.Fail(&RowError{Batch: w.batch, Part: w.index, Row: w.Count(), Err: err})
		}
		if err := w.Add(data); err != nil {
			return err
		}
	}
	return w.Failed()
}

var errNewline = errors.New("holds a newline")

// encode returns the bytes of a row.
func (s *Sink[T]) encode(row *T) (data []byte, err error) {
	if s.opts.Row == nil {
		return json.Marshal(row)
	}
	data, err = s.opts.Row(row)
	if err == nil && s.opts.rows() > 1 && bytes.IndexByte(data, '\n') >= 0 {
		err = errNewline
	}
	return data, err
}

// Seal names the parts that count, and how many rows go into a request: it must be the same in every process, since the keys
// depend on it.
func (s *Sink[T]) Seal(ctx context.Context, b sink.Batch, notes [][]byte) ([]byte, error) {
	if s.bad != nil {
		return nil, s.bad
	}
	return s.spool.Seal(ctx, b, notes, int64(s.opts.rows()))
}

// Commit posts the batch, and waits and posts again until the server has taken all of it or ctx ends.
//
// Errors: *sink.ConflictError and *sink.FencedError, which are final; *RefusedError; ctx's. After these the next call goes on
// with the first request that was not answered.
func (s *Sink[T]) Commit(ctx context.Context, b sink.Batch, staged []byte) error {
	if s.bad != nil {
		return s.bad
	}
	return s.spool.Commit(ctx, b, staged, func(st spool.Staged) error { return s.post(ctx, b, st) })
}

// Clean removes the files of batches up to b that are posted.
func (s *Sink[T]) Clean(ctx context.Context, b sink.Batch) error {
	if s.bad != nil {
		return s.bad
	}
	return s.spool.Clean(ctx, b)
}

// Last returns the last batch that is posted.
func (s *Sink[T]) Last(ctx context.Context, app, output string) (sink.Mark, error) {
	if s.bad != nil {
		return sink.Mark{ID: -1}, s.bad
	}
	return s.spool.Last(ctx, app, output)
}
