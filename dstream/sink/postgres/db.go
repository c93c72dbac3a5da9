package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/leat-io/leat/dstream/sink"
)

// A DB is where transactions begin, at the default isolation level. A *pgxpool.Pool is one; many goroutines use it at once.
type DB interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// cleanupTime bounds what is done although a context has ended.
const cleanupTime = 10 * time.Second

// transaction runs f in a transaction that is committed if it returns nil.
func transaction(ctx context.Context, db DB, f func(pgx.Tx) error) (err error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	ended := false
	defer func() { // also where the code of a row panics
		if !ended {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
			defer cancel()
			_ = tx.Rollback(ctx) // the server does it too, when the connection ends
		}
	}()
	if err := f(tx); err != nil {
		return err
	}
	ended = true
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("commit: %w", err) // it may have been committed all the same
	}
	return nil
}

// A ledgerRow is what the ledger says of an output.
type ledgerRow struct {
	batch  int64
	epoch  int64
	digest []byte
}

// mark returns the row as a mark.
func (r ledgerRow) mark() (sink.Mark, error) {
	if r.batch < 0 {
		return sink.Mark{ID: -1}, nil
	}
	m := sink.Mark{ID: r.batch, Epoch: uint64(r.epoch)}
	if len(r.digest) != len(m.Digest) || r.epoch < 0 {
		return sink.Mark{ID: -1}, fmt.Errorf("%w: batch %d, epoch %d, a digest of %d bytes", ErrLedger, r.batch, r.epoch, len(r.digest))
	}
	copy(m.Digest[:], r.digest)
	return m, nil
}

// readLedger returns the mark of an output by one of the two statements that ask for it.
func readLedger(ctx context.Context, tx pgx.Tx, statement, app, output string) (sink.Mark, error) {
	var r ledgerRow
	err := tx.QueryRow(ctx, statement, app, output).Scan(&r.batch, &r.epoch, &r.digest)
	if errors.Is(err, pgx.ErrNoRows) {
		return sink.Mark{ID: -1}, nil
	}
	if err != nil {
		return sink.Mark{ID: -1}, fmt.Errorf("read the ledger: %w", err)
	}
	return r.mark()
}
