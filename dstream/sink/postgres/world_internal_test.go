package postgres

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/sinktest"
)

type count struct {
	Word string
	N    int
}

func counted(i int) count { return count{"w" + strconv.Itoa(i), i} }

// options are those of the tests. The names need quotes, and would end a statement.
func options(n int64) Options[count] {
	return Options[count]{
		Table:   fmt.Sprintf(`Counts %d"; DROP TABLE "x`, n),
		Columns: []string{"word", `n'"`},
		Values:  func(c *count) []any { return []any{c.Word, c.N} },
		Origin:  Origin{App: "App", Output: "output", Batch: "batch", Partition: "part", Row: "row"},
		Ledger:  fmt.Sprintf("leat ledger %d", n),
	}
}

// A world is a table with a sink.
type world struct {
	t    *testing.T
	db   DB
	fake *double       // nil on a server
	pool *pgxpool.Pool // nil without
	opts Options[count]
}

var worlds atomic.Int64

func newWorld(t *testing.T) *world {
	w := &world{t: t, opts: options(worlds.Add(1))}
	if *dsn == "" {
		w.fake = newDouble(t, w.opts.statements())
		w.db = w.fake
		return w
	}
	w.pool = newPool(t)
	w.db = w.pool
	drop := "DROP TABLE IF EXISTS " + w.name(w.opts.Table) + ", " + w.name(w.opts.staging()) + ", " + w.name(w.opts.Ledger)
	w.exec(drop)
	w.exec("CREATE TABLE " + w.name(w.opts.Table) + ` ("App" text, output text, batch bigint, part integer, "row" bigint, word text NOT NULL,
		"n'""" integer, seen timestamptz NOT NULL DEFAULT now(), PRIMARY KEY ("App", output, batch, part, "row"))`)
	t.Cleanup(func() { w.exec(drop) })
	return w
}

func newPool(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), *dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func (w *world) name(table string) string { return pgx.Identifier{table}.Sanitize() }

func (w *world) exec(sql string) {
	w.t.Helper()
	if _, err := w.pool.Exec(context.WithoutCancel(w.t.Context()), sql); err != nil {
		w.t.Fatalf("%s: %v", sql, err)
	}
}

func (w *world) open() sink.Sink[count] { return New(w.db, w.opts) }

// rows returns what is committed.
func (w *world) rows() (rows []sinktest.Row[count], err error) {
	if w.fake != nil {
		for _, r := range w.fake.committed() {
			rows = append(rows, sinktest.Row[count]{App: r.app, Output: r.output, Batch: r.batch, Partition: int(r.part),
				Value: count{r.values[0].(string), r.values[1].(int)}})
		}
		return rows, nil
	}
	found, err := w.pool.Query(w.t.Context(), `SELECT "App", output, batch, part, word, "n'""" FROM `+w.name(w.opts.Table)+
		` ORDER BY "App", output, batch, part, "row"`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, func(row pgx.CollectableRow) (r sinktest.Row[count], err error) {
		return r, row.Scan(&r.App, &r.Output, &r.Batch, &r.Partition, &r.Value.Word, &r.Value.N)
	})
}

// staged returns how many rows the staging table holds.
func (w *world) staged() (n int) {
	w.t.Helper()
	if w.fake != nil {
		return len(w.fake.state.staged)
	}
	if err := w.pool.QueryRow(w.t.Context(), "SELECT count(*) FROM "+w.name(w.opts.staging())).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// unstage removes the rows of a partition from the staging table.
func (w *world) unstage(part int32) {
	if w.fake == nil {
		w.exec(fmt.Sprintf("DELETE FROM %s WHERE leat_part = %d", w.name(w.opts.staging()), part))
		return
	}
	kept := w.fake.state.staged[:0]
	for _, row := range w.fake.state.staged {
		if row.part != part {
			kept = append(kept, row)
		}
	}
	w.fake.state.staged = kept
}

func batch(id int64) sink.Batch {
	return sink.Batch{App: "app", Output: "out", ID: id, Time: id * 1000, Epoch: 1, Try: 1}
}

// tryStage runs a try at b, of which each attempt has the given name.
func tryStage[T any](ctx context.Context, s sink.Sink[T], b sink.Batch, attempt string, parts ...[]T) ([]byte, error) {
	if err := s.Begin(ctx, b, len(parts)); err != nil {
		return nil, err
	}
	notes := make([][]byte, len(parts))
	for i, rows := range parts {
		w, err := s.Part(ctx, b, i, attempt)
		if err == nil {
			err = w.Write(rows)
		}
		if err == nil {
			notes[i], err = w.Finish(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	return s.Seal(ctx, b, notes)
}

func stage[T any](t *testing.T, s sink.Sink[T], b sink.Batch, attempt string, parts ...[]T) []byte {
	t.Helper()
	staged, err := tryStage(t.Context(), s, b, attempt, parts...)
	if err != nil {
		t.Fatal(err)
	}
	return staged
}

func commit[T any](t *testing.T, s sink.Sink[T], b sink.Batch, staged []byte) {
	t.Helper()
	if err := s.Commit(t.Context(), b, staged); err != nil {
		t.Fatal(err)
	}
}
