package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A double is a server that knows the statements of a sink and nothing else. Transactions come one after the other.
type double struct {
	sql statements

	turn  sync.Mutex // held by the transaction
	state tables

	calls  int // of all transactions
	at     int // the call that something happens to; 0 is none
	after  bool
	dies   bool // the sink's process, with that call; else the call fails and the next ones do not
	dead   bool
	what   string
	exact  bool // transactions must ask for the disk
	broken error
}

type tables struct {
	made   bool
	ledger []ledgerEntry
	staged []stagedRow
	target []stagedRow
}

type ledgerEntry struct {
	app, output string
	ledgerRow
}

type stagedRow struct {
	app, output string
	batch       int64
	part        int32
	attempt     string
	row         int64
	values      []any
}

var errFault = errors.New("fault")

// call counts a call and has the plan's idea.
func (d *double) call(ctx context.Context, what string, effect func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d.dead {
		return errFault
	}
	d.calls++
	hit := d.calls == d.at
	if hit {
		d.what, d.dead = what, d.dies
	}
	if hit && !d.after {
		return errFault
	}
	if err := effect(); err != nil {
		return err
	}
	if hit {
		return errFault
	}
	return nil
}

// plan makes the n-th call from now the one.
func (d *double) plan(n int, after, dies bool) {
	d.calls, d.at, d.after, d.dies, d.dead, d.what = 0, n, after, dies, false, ""
}

func (d *double) Begin(ctx context.Context) (pgx.Tx, error) {
	d.turn.Lock()
	tx := &doubleTx{d: d, own: tables{d.state.made, slices.Clone(d.state.ledger), slices.Clone(d.state.staged), slices.Clone(d.state.target)}}
	if err := d.call(ctx, "begin", func() error { return nil }); err != nil {
		d.turn.Unlock()
		return nil, err
	}
	return tx, nil
}

type doubleTx struct {
	pgx.Tx  // what is not used
	d       *double
	own     tables
	durable bool
	wrote   bool
	ended   bool
}

func (tx *doubleTx) end() {
	if !tx.ended {
		tx.ended = true
		tx.d.turn.Unlock()
	}
}

func (tx *doubleTx) Commit(ctx context.Context) error {
	defer tx.end()
	return tx.d.call(ctx, "commit", func() error {
		if tx.wrote && !tx.durable && tx.d.exact {
			tx.d.broken = errors.New("a transaction wrote and did not wait for the disk")
		}
		tx.d.state = tx.own
		return nil
	})
}

func (tx *doubleTx) Rollback(context.Context) error {
	tx.end()
	return nil
}

func (tx *doubleTx) CopyFrom(ctx context.Context, table pgx.Identifier, columns []string, src pgx.CopyFromSource) (n int64, err error) {
	err = tx.d.call(ctx, "copy", func() error {
		if len(columns) < len(keys) || table[len(table)-1] == "" {
			return fmt.Errorf("copy to %v %v", table, columns)
		}
		tx.wrote = true
		for src.Next() {
			v, err := src.Values()
			if err != nil {
				return err
			}
			tx.own.staged = append(tx.own.staged, stagedRow{v[0].(string), v[1].(string), v[2].(int64), v[3].(int32), v[4].(string), v[5].(int64),
				slices.Clone(v[len(keys):])})
			n++
		}
		return src.Err()
	})
	return n, err
}

func (tx *doubleTx) Exec(ctx context.Context, sql string, args ...any) (tag pgconn.CommandTag, err error) {
	err = tx.d.call(ctx, sql, func() error {
		n, err := tx.exec(sql, args)
		tag = pgconn.NewCommandTag(fmt.Sprintf("DID 0 %d", n))
		return err
	})
	return tag, err
}

// exec returns how many rows a statement has changed.
func (tx *doubleTx) exec(sql string, args []any) (n int, err error) {
	switch sql {
	case tx.d.sql.durable:
		tx.durable = true
		return 0, nil
	case tx.d.sql.serialize, tx.d.sql.makeLedger, tx.d.sql.makeIndex:
		return 0, nil
	case tx.d.sql.makeStaging:
		tx.own.made = true
		return 0, nil
	}
	if !tx.own.made {
		return 0, errors.New("there is no such table")
	}
	app, output := args[0].(string), args[1].(string)
	at := tx.entry(app, output)
	switch sql {
	case tx.d.sql.enter:
		if at < 0 {
			tx.own.ledger = append(tx.own.ledger, ledgerEntry{app, output, ledgerRow{batch: -1, digest: []byte{}}})
		}
		return 1, nil
	case tx.d.sql.mark:
		tx.wrote = true
		tx.own.ledger[at].ledgerRow = ledgerRow{args[2].(int64), args[3].(int64), slices.Clone(args[4].([]byte))}
		return 1, nil
	case tx.d.sql.insert, tx.d.sql.drop:
		tx.wrote = true
		var chosen, rest []stagedRow
		for _, row := range tx.own.staged {
			is := row.app == app && row.output == output && row.batch == args[2].(int64)
			parts, attempts := args[3].([]int32), args[4].([]string)
			i := slices.Index(parts, row.part)
			if is && i >= 0 && attempts[i] == row.attempt {
				chosen = append(chosen, row)
			} else {
				rest = append(rest, row)
			}
		}
		if sql == tx.d.sql.drop {
			tx.own.staged = rest
		} else {
			tx.own.target = append(tx.own.target, chosen...)
		}
		return len(chosen), nil
	case tx.d.sql.clean, tx.d.sql.abort:
		before := len(tx.own.staged)
		tx.own.staged = slices.DeleteFunc(tx.own.staged, func(row stagedRow) bool {
			if row.app != app || row.output != output {
				return false
			}
			if sql == tx.d.sql.clean {
				return at >= 0 && row.batch <= min(args[2].(int64), tx.own.ledger[at].batch)
			}
			return row.batch == args[2].(int64) && int(row.part) == args[3].(int) && row.attempt == args[4].(string)
		})
		return before - len(tx.own.staged), nil
	}
	return 0, fmt.Errorf("the double does not know %s", sql)
}

func (tx *doubleTx) entry(app, output string) int {
	return slices.IndexFunc(tx.own.ledger, func(e ledgerEntry) bool { return e.app == app && e.output == output })
}

func (tx *doubleTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	var row doubleRow
	row.err = tx.d.call(ctx, sql, func() error {
		if sql == tx.d.sql.exists {
			row.values = []any{tx.own.made}
			return nil
		}
		if sql != tx.d.sql.lock && sql != tx.d.sql.last {
			return fmt.Errorf("the double does not know %s", sql)
		}
		at := tx.entry(args[0].(string), args[1].(string))
		if at < 0 {
			return pgx.ErrNoRows
		}
		e := tx.own.ledger[at]
		row.values = []any{e.batch, e.epoch, slices.Clone(e.digest)}
		return nil
	})
	return row
}

type doubleRow struct {
	values []any
	err    error
}

func (r doubleRow) Scan(dest ...any) error {
	for i := range r.values {
		switch to := dest[i].(type) {
		case *bool:
			*to = r.values[i].(bool)
		case *int64:
			*to = r.values[i].(int64)
		case *[]byte:
			*to = r.values[i].([]byte)
		}
	}
	return r.err
}

// committed returns the rows of the target in order.
func (d *double) committed() []stagedRow {
	d.turn.Lock()
	defer d.turn.Unlock()
	rows := slices.Clone(d.state.target)
	slices.SortStableFunc(rows, func(a, b stagedRow) int {
		return cmp.Or(cmp.Compare(a.app, b.app), cmp.Compare(a.output, b.output), cmp.Compare(a.batch, b.batch), cmp.Compare(a.part, b.part),
			cmp.Compare(a.row, b.row))
	})
	return rows
}

func newDouble(t *testing.T, sql statements) *double {
	d := &double{sql: sql, exact: true}
	t.Cleanup(func() {
		if d.broken != nil {
			t.Error(d.broken)
		}
	})
	return d
}
