package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/leat-io/leat/dstream/sink"
)

// copyRows is how many rows are kept before they are copied.
const copyRows = 4096

// A writer is one attempt at a partition.
type writer[T any] struct {
	ctx    context.Context // Part's: the attempt's, which the writer does not outlive
	sink   *Sink[T]
	batch  sink.Batch
	part   part
	rows   [][]any // values of rows that are not copied yet
	copied bool    // some may be there
	failed error   // what the first failure was
	ended  bool
}

// Write takes the next rows. Some are kept until Finish, whose transaction makes the ones before it durable too.
//
// Values is called here, not while they are copied: the driver copies in a goroutine of its own, where a panic of the
// program's code would end the process.
func (w *writer[T]) Write(rows []T) error {
	for i := range rows {
		if w.failed == nil && len(w.rows) == copyRows {
			w.failed = w.copy(w.ctx)
		}
		if w.failed != nil {
			return w.failed
		}
		values := w.sink.opts.Values(&rows[i])
		if want := len(w.sink.opts.Columns); len(values) != want {
			w.failed = &RowError{Batch: w.batch, Part: w.part.index, Row: w.part.rows + int64(len(w.rows)),
				Err: fmt.Errorf("%d values for %d columns", len(values), want)}
			return w.failed
		}
		w.rows = append(w.rows, values)
	}
	return w.failed
}

// copy copies the rows that are kept to the staging table.
func (w *writer[T]) copy(ctx context.Context) error {
	w.copied = true
	src := &source{first: w.part.rows, rows: w.rows, at: -1}
	src.values = append(src.values, w.batch.App, w.batch.Output, w.batch.ID, int32(w.part.index), w.part.attempt)
	src.values = append(src.values, make([]any, 1+len(w.sink.opts.Columns))...)
	err := transaction(ctx, w.sink.db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, w.sink.sql.durable); err != nil {
			return err
		}
		n, err := tx.CopyFrom(ctx, w.sink.opts.table(w.sink.opts.staging()), w.sink.staged, src)
		if err == nil && n != int64(len(w.rows)) {
			err = fmt.Errorf("the server took %d rows of %d", n, len(w.rows))
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%v, partition %d: copy rows %d to %d: %w", w.batch, w.part.index, w.part.rows, w.part.rows+int64(len(w.rows))-1, err)
	}
	w.part.rows += int64(len(w.rows))
	clear(w.rows)
	w.rows = w.rows[:0]
	return nil
}

// Finish copies what is left. The rows are durable when it returns.
func (w *writer[T]) Finish(ctx context.Context) ([]byte, error) {
	if w.failed != nil {
		return nil, w.failed
	}
	if w.failed = ended(ctx, w.batch); w.failed != nil {
		return nil, w.failed
	}
	if len(w.rows) > 0 {
		if w.failed = w.copy(ctx); w.failed != nil {
			return nil, w.failed
		}
	}
	w.ended, w.rows = true, nil
	if w.part.rows == 0 {
		return nil, nil
	}
	return appendPart(nil, w.part), nil
}

// Abort deletes what was copied, also when ctx has ended.
func (w *writer[T]) Abort(ctx context.Context) error {
	if w.ended {
		return nil
	}
	w.ended, w.rows = true, nil
	if w.failed == nil {
		w.failed = fmt.Errorf("%v, partition %d: the attempt was given up", w.batch, w.part.index)
	}
	if !w.copied {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	err := transaction(ctx, w.sink.db, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, w.sink.sql.abort, w.batch.App, w.batch.Output, w.batch.ID, w.part.index, w.part.attempt)
		return err
	})
	if err != nil {
		return fmt.Errorf("%v, partition %d: give up: %w", w.batch, w.part.index, err)
	}
	return nil
}

// A source gives rows to COPY, which encodes a row before it asks for the next.
type source struct {
	first  int64 // the number of rows[0]
	rows   [][]any
	at     int
	values []any // the keys, then the values of a row
}

// Next moves to the next row.
func (s *source) Next() bool {
	s.at++
	return s.at < len(s.rows)
}

// Values returns the row.
func (s *source) Values() ([]any, error) {
	s.values[len(keys)-1] = s.first + int64(s.at)
	copy(s.values[len(keys):], s.rows[s.at])
	return s.values, nil
}

// Err returns nil: nothing here fails.
func (s *source) Err() error { return nil }
