package upsert

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/dstream/sink/internal/spool"
)

// ErrOptions says that a sink cannot be made of what New was given.
var ErrOptions = errors.New("upsert: option")

// defaultPuts is how many entries a Put has where nothing is said.
const defaultPuts = 500

// Options say how a sink puts. The zero value works.
type Options struct {
	// Puts is how many entries a Put has at most; 0 is 500.
	Puts int
	// FS is where the spool is; nil is the operating system's.
	FS files.FS
}

// Validate returns an error naming the first field that has no meaning.
func (o Options) Validate() error {
	if o.Puts < 0 {
		return fmt.Errorf("%w: Puts is %d", ErrOptions, o.Puts)
	}
	return nil
}

// String returns the size of a Put.
func (o Options) String() string { return fmt.Sprintf("upsert, %d entries a Put", o.puts()) }

func (o Options) puts() int {
	if o.Puts == 0 {
		return defaultPuts
	}
	return o.Puts
}

// A Sink puts rows of T into a store, as entries.
type Sink[T any, K comparable, V any] struct {
	spool *spool.Spool
	to    Store[K, V]
	entry func(*T) Entry[K, V]
	opts  Options
	bad   error // why nothing can be written
}

// New returns a sink that keeps rows in files below dir until they are in the store. Entry returns the key and value of a row;
// they are kept as JSON between, so they are what encoding/json keeps of them. It is called in tasks, many at once.
//
// Errors: the first call reports options that have no meaning.
func New[T any, K comparable, V any](dir string, to Store[K, V], entry func(row *T) Entry[K, V], opts Options) *Sink[T, K, V] {
	s := &Sink[T, K, V]{spool: spool.New(dir, opts.FS), to: to, entry: entry, opts: opts, bad: opts.Validate()}
	if s.bad == nil && (to == nil || entry == nil) {
		s.bad = fmt.Errorf("%w: store or entry is nil", ErrOptions)
	}
	return s
}

// String returns the folder of the spool.
func (s *Sink[T, K, V]) String() string { return fmt.Sprintf("%v from %s", s.opts, s.spool.Dir()) }

// Promise returns sink.AtLeastOnce.
func (s *Sink[T, K, V]) Promise() sink.Promise { return sink.AtLeastOnce }

// Begin makes the folders of the output.
//
// Errors: *sink.FencedError where a later driver has committed.
func (s *Sink[T, K, V]) Begin(ctx context.Context, b sink.Batch, parts int) error {
	if s.bad != nil {
		return s.bad
	}
	return s.spool.Begin(ctx, b, parts)
}

// Part returns the writer of an attempt.
func (s *Sink[T, K, V]) Part(ctx context.Context, b sink.Batch, index int, attempt string) (sink.Writer[T], error) {
	if s.bad != nil {
		return nil, s.bad
	}
	w, err := s.spool.Part(ctx, b, index, attempt)
	if err != nil {
		return nil, err
	}
	return &writer[T, K, V]{Writer: w, sink: s, batch: b, index: index}, nil
}

// A writer makes entries of rows.
type writer[T any, K comparable, V any] struct {
	*spool.Writer
	sink  *Sink[T, K, V]
	batch sink.Batch
	index int
}

// Write takes the next rows.
func (w *writer[T, K, V]) Write(rows []T) error {
	for i := range rows {
		if err := w.Failed(); err != nil {
			return err
		}
		e := w.sink.entry(&rows[i])
		data, err := json.Marshal(&e)
		if err != nil {
			return w.Fail(fmt.Errorf("%v, partition %d, row %d: %w", w.batch, w.index, w.Count(), err))
		}
		if err := w.Add(data); err != nil {
			return err
		}
	}
	return w.Failed()
}

// Seal names the parts that count.
func (s *Sink[T, K, V]) Seal(ctx context.Context, b sink.Batch, notes [][]byte) ([]byte, error) {
	if s.bad != nil {
		return nil, s.bad
	}
	return s.spool.Seal(ctx, b, notes, 0)
}

// Commit puts the batch into the store.
//
// Cost: the entries of one partition at a time are in memory.
// Errors: *sink.ConflictError and *sink.FencedError, which are final; the store's, after which some keys may have been put.
func (s *Sink[T, K, V]) Commit(ctx context.Context, b sink.Batch, staged []byte) error {
	if s.bad != nil {
		return s.bad
	}
	return s.spool.Commit(ctx, b, staged, func(st spool.Staged) error {
		// From the last row to the first: what is put first of a key is what stays, also when it is put again after a crash.
		for i := len(st.Parts) - 1; i >= 0; i-- {
			if err := s.put(ctx, st.Parts[i], b.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

// put puts the last entry of each key of a partition.
func (s *Sink[T, K, V]) put(ctx context.Context, part spool.Part, version int64) error {
	var entries []Entry[K, V]
	for row, err := range part.Rows() {
		var e Entry[K, V]
		if err == nil {
			err = json.Unmarshal(row, &e)
		}
		if err != nil {
			return fmt.Errorf("partition %d, row %d: %w", part.Index, len(entries), err)
		}
		entries = append(entries, e)
	}
	seen := make(map[K]struct{}, len(entries))
	some := make([]Entry[K, V], 0, min(s.opts.puts(), len(entries)))
	for i := len(entries) - 1; i >= 0; i-- {
		if _, later := seen[entries[i].Key]; !later {
			seen[entries[i].Key] = struct{}{}
			some = append(some, entries[i])
		}
		if len(some) == s.opts.puts() || i == 0 && len(some) > 0 {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if err := s.to.Put(ctx, some, version); err != nil {
				return fmt.Errorf("partition %d: put %d entries: %w", part.Index, len(some), err)
			}
			some = some[:0]
		}
	}
	return nil
}

// Clean removes the files of batches up to b that are in the store.
func (s *Sink[T, K, V]) Clean(ctx context.Context, b sink.Batch) error {
	if s.bad != nil {
		return s.bad
	}
	return s.spool.Clean(ctx, b)
}

// Last returns the last batch that is in the store.
func (s *Sink[T, K, V]) Last(ctx context.Context, app, output string) (sink.Mark, error) {
	if s.bad != nil {
		return sink.Mark{ID: -1}, s.bad
	}
	return s.spool.Last(ctx, app, output)
}
