package postgres

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/upsert"
)

// usual is a row of the types that programs write.
type usual struct {
	ID     int64
	Name   string
	Small  int16
	Score  float64
	Ok     bool
	Seen   time.Time
	Raw    []byte
	Note   *string
	Price  string // numeric
	UUID   string
	JSON   map[string]int
	Tags   []string
	Day    time.Time
	Enum   string
	Lapsed time.Duration
}

// TestServer needs the flag: each case is about what only a server does.
func TestServer(t *testing.T) {
	if *dsn == "" {
		t.Log("no server: -postgres names one")
		return
	}
	t.Run("usual_types", usualTypes)
	t.Run("many_make_the_tables_at_once", makeAtOnce)
	t.Run("lost_connections_are_overcome", lostConnections)
	t.Run("a_row_that_breaks_a_constraint_keeps_the_batch_out", constraint)
	t.Run("sessions_that_do_not_wait_for_the_disk_are_asked_to", durability)
	t.Run("a_store_keeps_the_latest_version", latestVersion)
	t.Run("who_may_not_make_tables_uses_those_that_are_there", privileges)
}

func usualTypes(t *testing.T) {
	w := newWorld(t)
	w.exec("DROP SCHEMA IF EXISTS leat_usual CASCADE")
	w.exec("CREATE SCHEMA leat_usual")
	t.Cleanup(func() { w.exec("DROP SCHEMA leat_usual CASCADE") })
	w.exec("CREATE TYPE leat_usual.colour AS ENUM ('red', 'blue')")
	w.exec(`CREATE TABLE leat_usual.rows (id bigint PRIMARY KEY, name varchar(20), small smallint, score double precision, ok boolean, seen timestamptz,
		raw bytea, note text, price numeric(10,2), uuid uuid, json jsonb, tags text[], day date, enum leat_usual.colour, lapsed interval,
		twice bigint GENERATED ALWAYS AS (id * 2) STORED)`)
	s := New(w.pool, Options[usual]{
		Schema:  "leat_usual",
		Table:   "rows",
		Columns: []string{"id", "name", "small", "score", "ok", "seen", "raw", "note", "price", "uuid", "json", "tags", "day", "enum", "lapsed"},
		Values: func(u *usual) []any {
			return []any{u.ID, u.Name, u.Small, u.Score, u.Ok, u.Seen, u.Raw, u.Note, u.Price, u.UUID, u.JSON, u.Tags, u.Day, u.Enum, u.Lapsed}
		},
	})
	note := "n"
	at := time.Date(2026, 5, 4, 3, 2, 1, 123456000, time.UTC)
	day := time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)
	rows := []usual{
		{1, "ä'\"\\\t", -3, 0.1, true, at, []byte{0, 255}, &note, "12.50", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", map[string]int{"a": 1},
			[]string{"x", "y,z"}, day, "blue", 90 * time.Minute},
		{2, "", 0, 0, false, at, nil, nil, "-1.00", "00000000-0000-0000-0000-000000000000", nil, nil, day, "red", 0},
	}
	commit(t, s, batch(0), stage(t, s, batch(0), "a", rows[:1], rows[1:]))
	found, err := w.pool.Query(t.Context(), `SELECT id, name, small, score, ok, seen, raw, note, price::text, uuid::text, json, tags, day, enum::text, lapsed
		FROM leat_usual.rows WHERE twice = 2 * id ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(found, func(row pgx.CollectableRow) (u usual, err error) {
		err = row.Scan(&u.ID, &u.Name, &u.Small, &u.Score, &u.Ok, &u.Seen, &u.Raw, &u.Note, &u.Price, &u.UUID, &u.JSON, &u.Tags, &u.Day, &u.Enum, &u.Lapsed)
		u.Seen = u.Seen.UTC()
		return u, err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rows, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func makeAtOnce(t *testing.T) {
	w := newWorld(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := w.open().Begin(t.Context(), batch(0), 1); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// lostConnections ends every connection of the sink between its calls.
func lostConnections(t *testing.T) {
	w := newWorld(t)
	other := newPool(t)
	cut := func() {
		_, err := other.Exec(t.Context(), "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
		if err != nil {
			t.Fatal(err)
		}
	}
	again := func(what string, f func() error) {
		t.Helper()
		cut()
		err := f()
		for tries := 0; err != nil && tries < 5; tries++ { // one for each connection that was idle
			err = f()
		}
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	s := w.open()
	for id := range int64(3) {
		var staged []byte
		try := 0
		again("stage", func() (err error) {
			try++
			staged, err = tryStage(t.Context(), s, batch(id), string(rune('a'+try)), []count{counted(int(id))}, nil)
			return err
		})
		again("commit", func() error { return s.Commit(t.Context(), batch(id), staged) })
		again("commit again", func() error { return s.Commit(t.Context(), batch(id), staged) })
		again("clean", func() error { return s.Clean(t.Context(), batch(id)) })
	}
	if rows, err := w.rows(); err != nil || len(rows) != 3 || w.staged() != 0 {
		t.Errorf("%v, %v, %d staged", rows, err, w.staged())
	}
}

func constraint(t *testing.T) {
	w := newWorld(t)
	w.exec("ALTER TABLE " + w.name(w.opts.Table) + ` ADD CONSTRAINT positive CHECK ("n'""" > 0)`)
	s := w.open()
	staged := stage(t, s, batch(0), "a", []count{{"a", 1}}, []count{{"b", -1}})
	err := s.Commit(t.Context(), batch(0), staged)
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.ConstraintName != "positive" {
		t.Fatalf("Commit = %v, want the constraint's error", err)
	}
	if rows, err := w.rows(); err != nil || len(rows) != 0 {
		t.Errorf("%v, %v", rows, err)
	}
	w.exec("ALTER TABLE " + w.name(w.opts.Table) + " DROP CONSTRAINT positive")
	commit(t, s, batch(0), staged)
}

// durability looks at what a transaction of the sink has set, through a trigger on the target.
func durability(t *testing.T) {
	w := newWorld(t)
	config, err := pgxpool.ParseConfig(*dsn)
	if err != nil {
		t.Fatal(err)
	}
	for asked, want := range map[string]string{"off": "local", "on": "on", "remote_write": "remote_write"} {
		config.ConnConfig.RuntimeParams["synchronous_commit"] = asked
		pool, err := pgxpool.NewWithConfig(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		err = transaction(t.Context(), pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), w.opts.statements().durable); err != nil {
				return err
			}
			got := ""
			err := tx.QueryRow(t.Context(), "SHOW synchronous_commit").Scan(&got)
			if got != want {
				t.Errorf("with %s it is %q, want %q", asked, got, want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		pool.Close()
	}
}

func latestVersion(t *testing.T) {
	w := newWorld(t)
	w.exec(`DROP TABLE IF EXISTS "leat store"`)
	w.exec(`CREATE TABLE "leat store" (word text PRIMARY KEY, n bigint, "v""" bigint)`)
	t.Cleanup(func() { w.exec(`DROP TABLE "leat store"`) })
	w.exec(`INSERT INTO "leat store" VALUES ('old', 1, NULL)`)
	store := NewStore(w.pool, StoreOptions[string, int64]{
		Table:     "leat store",
		Keys:      []string{"word"},
		KeyValues: func(word string) []any { return []any{word} },
		Columns:   []string{"n"},
		Values:    func(n *int64) []any { return []any{*n} },
		Version:   `v"`,
	})
	type entry = upsert.Entry[string, int64]
	for _, put := range []struct {
		version int64
		entries []entry
	}{
		{3, []entry{{Key: "a", Value: 3}, {Key: "old", Value: 2}}},
		{2, []entry{{Key: "a", Value: 2}, {Key: "b", Value: 2}}},
		{3, []entry{{Key: "a", Value: 33}}},
		{4, []entry{{Key: "b", Value: 4}}},
	} {
		if err := store.Put(t.Context(), put.entries, put.version); err != nil {
			t.Fatal(err)
		}
	}
	got := ""
	if err := w.pool.QueryRow(t.Context(), `SELECT string_agg(word || n || '@' || "v""", ' ' ORDER BY word) FROM "leat store"`).Scan(&got); err != nil {
		t.Fatal(err)
	}
	if want := "a3@3 b4@4 old2@3"; got != want {
		t.Errorf("the table holds %s, want %s", got, want)
	}
	w.exec(`ALTER TABLE "leat store" ADD CHECK (n < 10)`)
	if err := store.Put(t.Context(), []entry{{Key: "c", Value: 1}, {Key: "d", Value: 10}}, 9); err == nil {
		t.Error("Put took what the table refuses")
	}
}

func privileges(t *testing.T) {
	w := newWorld(t)
	s := w.open()
	if err := s.Begin(t.Context(), batch(0), 1); err != nil {
		t.Fatal(err)
	}
	w.exec("DROP ROLE IF EXISTS leat_poor")
	w.exec("CREATE ROLE leat_poor")
	tables := w.name(w.opts.Table) + ", " + w.name(w.opts.staging()) + ", " + w.name(w.opts.Ledger)
	w.exec("GRANT SELECT, INSERT, UPDATE, DELETE ON " + tables + " TO leat_poor")
	t.Cleanup(func() {
		w.exec("REVOKE ALL ON " + tables + " FROM leat_poor")
		w.exec("DROP ROLE leat_poor")
	})
	config, err := pgxpool.ParseConfig(*dsn)
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.RuntimeParams["role"] = "leat_poor"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	poor := New(pool, w.opts)
	commit(t, poor, batch(0), stage(t, poor, batch(0), "a", []count{{"a", 1}}))
	if err := poor.Clean(t.Context(), batch(0)); err != nil {
		t.Error(err)
	}
}

// TestAServerThatIsDown needs none.
func TestAServerThatIsDown(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := closed.Addr().String()
	_ = closed.Close()
	pool, err := pgxpool.New(t.Context(), "postgres://u:p@"+address+"/d?sslmode=disable&connect_timeout=5")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	s := New(pool, options(0))
	empty := staging{batch: 0}.append(nil)
	for name, err := range map[string]error{
		"Begin": s.Begin(t.Context(), batch(0), 1), "Commit": s.Commit(t.Context(), batch(0), empty), "Clean": s.Clean(t.Context(), batch(0)),
	} {
		var connect *pgconn.ConnectError
		if !errors.As(err, &connect) {
			t.Errorf("%s = %v, want a ConnectError", name, err)
		}
	}
	if m, err := s.Last(t.Context(), "app", "out"); err == nil || m != (sink.Mark{ID: -1}) {
		t.Errorf("Last = %v, %v", m, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Begin(ended, batch(0), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("Begin = %v", err)
	}
}
