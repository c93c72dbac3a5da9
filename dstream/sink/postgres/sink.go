package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/leat-io/leat/dstream/sink"
)

// A Sink keeps rows in a table of a PostgreSQL server. Several applications, outputs and sinks may share it.
type Sink[T any] struct {
	db     DB
	opts   Options[T]
	sql    statements
	staged []string // columns that are copied
	bad    error    // why nothing can be written

	mu   sync.Mutex // guards made
	made bool       // the tables are there
}

// New returns a sink of rows in the table that opts name. The pool is the caller's to close, after the last call.
//
// Errors: the first call reports options that have no meaning.
func New[T any](db DB, opts Options[T]) *Sink[T] {
	s := &Sink[T]{db: db, opts: opts}
	if s.bad = opts.Validate(); s.bad != nil {
		return s
	}
	if db == nil {
		s.bad = fmt.Errorf("%w: the DB is nil", ErrOptions)
	}
	s.sql = opts.statements()
	for _, k := range keys {
		s.staged = append(s.staged, k.column)
	}
	s.staged = append(s.staged, opts.Columns...)
	return s
}

// String returns the table.
func (s *Sink[T]) String() string { return "PostgreSQL, " + s.opts.String() }

// Begin makes the tables of the sink where they are missing.
//
// Errors: *sink.FencedError where a later driver has committed; the server's.
func (s *Sink[T]) Begin(ctx context.Context, b sink.Batch, parts int) error {
	if err := s.usable(ctx, b); err != nil {
		return err
	}
	if parts < 0 || parts > maxPartitions {
		return fmt.Errorf("%v: %d partitions, want at most %d", b, parts, maxPartitions)
	}
	if err := s.ready(ctx); err != nil {
		return fmt.Errorf("%v: %w", b, err)
	}
	m, err := s.Last(ctx, b.App, b.Output)
	if err != nil {
		return err
	}
	return fence(b, m)
}

// fence refuses a driver that a later one has followed.
func fence(b sink.Batch, m sink.Mark) error {
	if b.Epoch < m.Epoch {
		return &sink.FencedError{Batch: b, Have: m.Epoch}
	}
	return nil
}

// Part returns the writer of an attempt.
func (s *Sink[T]) Part(ctx context.Context, b sink.Batch, index int, attempt string) (sink.Writer[T], error) {
	if err := s.usable(ctx, b); err != nil {
		return nil, err
	}
	if err := checkAttempt(attempt); err != nil {
		return nil, fmt.Errorf("%v, partition %d: %w", b, index, err)
	}
	if index < 0 || index >= maxPartitions {
		return nil, fmt.Errorf("%v: partition %d, want 0 to %d", b, index, maxPartitions-1)
	}
	return &writer[T]{ctx: ctx, sink: s, batch: b, part: part{index: index, attempt: attempt}}, nil
}

// Seal names the attempts that count.
func (s *Sink[T]) Seal(ctx context.Context, b sink.Batch, notes [][]byte) ([]byte, error) {
	if err := s.usable(ctx, b); err != nil {
		return nil, err
	}
	st := staging{batch: b.ID}
	for i, note := range notes {
		if len(note) == 0 {
			continue
		}
		r := reader{data: note}
		p := r.part()
		if r.bad || len(r.data) > 0 || p.index != i {
			return nil, fmt.Errorf("%v, partition %d: the note is not what Finish returned", b, i)
		}
		st.parts = append(st.parts, p)
	}
	return st.append(nil), nil
}

// Commit moves the staged rows to the target and marks the batch in the ledger, in one transaction.
//
// Cost: the output's ledger row is locked until the transaction ends.
// Errors: *sink.ConflictError and *sink.FencedError, which are final; ErrStaged; the server's, after which the batch may be
// committed or not, as the next call finds out.
func (s *Sink[T]) Commit(ctx context.Context, b sink.Batch, staged []byte) error {
	if err := s.usable(ctx, b); err != nil {
		return err
	}
	st, err := decodeStaged(staged)
	if err == nil && st.batch != b.ID {
		err = fmt.Errorf("staged for batch %d", st.batch)
	}
	if err == nil {
		err = s.ready(ctx)
	}
	if err == nil {
		err = transaction(ctx, s.db, func(tx pgx.Tx) error { return s.commit(ctx, tx, b, st, sha256.Sum256(staged)) })
	}
	if errors.Is(err, errCommitted) {
		return nil
	}
	var conflict *sink.ConflictError
	var fenced *sink.FencedError
	if err == nil || errors.As(err, &conflict) || errors.As(err, &fenced) {
		return err
	}
	return fmt.Errorf("commit %v: %w", b, err)
}

// errCommitted ends a transaction that finds its work done.
var errCommitted = errors.New("committed")

func (s *Sink[T]) commit(ctx context.Context, tx pgx.Tx, b sink.Batch, st staging, digest [sha256.Size]byte) error {
	if _, err := tx.Exec(ctx, s.sql.durable); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, s.sql.enter, b.App, b.Output); err != nil {
		return fmt.Errorf("enter the output in the ledger: %w", err)
	}
	m, err := readLedger(ctx, tx, s.sql.lock, b.App, b.Output)
	switch {
	case err != nil:
		return err
	case m.ID == b.ID && m.Digest != digest:
		return &sink.ConflictError{Batch: b}
	case m.ID >= b.ID:
		return errCommitted
	}
	if err := fence(b, m); err != nil {
		return err
	}
	want, parts, attempts := int64(0), make([]int32, len(st.parts)), make([]string, len(st.parts))
	for i, p := range st.parts {
		want += p.rows
		parts[i], attempts[i] = int32(p.index), p.attempt
	}
	inserted, err := tx.Exec(ctx, s.sql.insert, b.App, b.Output, b.ID, parts, attempts)
	if err != nil {
		return fmt.Errorf("insert into %s: %w", s.opts.Table, err)
	}
	if n := inserted.RowsAffected(); n != want {
		return fmt.Errorf("%w: %d of %d are there", ErrStaged, n, want)
	}
	if _, err := tx.Exec(ctx, s.sql.mark, b.App, b.Output, b.ID, int64(b.Epoch), digest[:]); err != nil {
		return fmt.Errorf("write the ledger: %w", err)
	}
	if _, err := tx.Exec(ctx, s.sql.drop, b.App, b.Output, b.ID, parts, attempts); err != nil {
		return fmt.Errorf("drop staged rows: %w", err)
	}
	return nil
}

// Clean deletes staged rows of batches up to b, and up to the last that is committed.
func (s *Sink[T]) Clean(ctx context.Context, b sink.Batch) error {
	err := s.usable(ctx, b)
	if err == nil {
		err = s.ready(ctx)
	}
	if err == nil {
		err = transaction(ctx, s.db, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, s.sql.clean, b.App, b.Output, b.ID)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("clean %v: %w", b, err)
	}
	return nil
}

// Last returns what the ledger says.
func (s *Sink[T]) Last(ctx context.Context, app, output string) (sink.Mark, error) {
	m := sink.Mark{ID: -1}
	err := s.usable(ctx, sink.Batch{App: app, Output: output})
	if err == nil {
		err = s.ready(ctx)
	}
	if err == nil {
		err = transaction(ctx, s.db, func(tx pgx.Tx) (err error) {
			m, err = readLedger(ctx, tx, s.sql.last, app, output)
			return err
		})
	}
	if err != nil {
		return sink.Mark{ID: -1}, fmt.Errorf("last batch of %s/%s: %w", app, output, err)
	}
	return m, nil
}

// ready makes ledger and staging table where they are missing. Who may not make tables makes them beforehand.
func (s *Sink[T]) ready(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made {
		return nil
	}
	err := transaction(ctx, s.db, func(tx pgx.Tx) error {
		there := false
		ledger, staging := s.opts.table(s.opts.ledger()).Sanitize(), s.opts.table(s.opts.staging()).Sanitize()
		if err := tx.QueryRow(ctx, s.sql.exists, ledger, staging).Scan(&there); err != nil || there {
			return err
		}
		for _, statement := range []string{s.sql.serialize, s.sql.makeLedger, s.sql.makeStaging, s.sql.makeIndex} {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("make %s and %s: %w", s.opts.ledger(), s.opts.staging(), err)
	}
	s.made = true
	return nil
}

// usable returns why a call cannot be made.
func (s *Sink[T]) usable(ctx context.Context, b sink.Batch) error {
	switch {
	case s.bad != nil:
		return s.bad
	case b.ID < 0:
		return fmt.Errorf("%v: its id is negative", b)
	case b.Epoch > math.MaxInt64:
		return fmt.Errorf("%v: epoch %d is more than a bigint holds", b, b.Epoch)
	case !isText(b.App) || !isText(b.Output):
		return fmt.Errorf("%q/%q is no text that the server can hold", b.App, b.Output)
	}
	return ended(ctx, b)
}

// ended returns why ctx has ended, if it has.
func ended(ctx context.Context, b sink.Batch) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%v: %w", b, context.Cause(ctx))
	}
	return nil
}
