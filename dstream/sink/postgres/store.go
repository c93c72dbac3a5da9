package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/leat-io/leat/dstream/sink/upsert"
)

// StoreOptions say where entries go. All but Schema are required. Names are quoted.
type StoreOptions[K comparable, V any] struct {
	Schema string // empty is by the connection's search path
	Table  string // is there already
	// Keys are the columns of a unique index, in the order of KeyValues.
	Keys      []string
	KeyValues func(key K) []any
	// Columns are those that a value replaces, in the order of Values.
	Columns []string
	Values  func(value *V) []any
	// Version is a column of type bigint, which the store keeps.
	Version string
}

// Validate returns an error naming the first field that has no meaning.
func (o StoreOptions[K, V]) Validate() error {
	if o.KeyValues == nil || o.Values == nil || len(o.Keys) == 0 {
		return fmt.Errorf("%w: KeyValues, Values or Keys is missing", ErrOptions)
	}
	names := append(append([]string{o.Table, o.Version}, o.Keys...), o.Columns...)
	seen := make(map[string]bool)
	for i, name := range names {
		if err := checkIdentifier(name); err != nil {
			return fmt.Errorf("%w: %q %w", ErrOptions, name, err)
		}
		if i > 0 && seen[name] {
			return fmt.Errorf("%w: column %q is there again", ErrOptions, name)
		}
		seen[name] = i > 0
	}
	return nil
}

// String returns table and columns.
func (o StoreOptions[K, V]) String() string {
	return fmt.Sprintf("values of %s (%s) by %s", o.table().Sanitize(), quoted(o.Columns), quoted(o.Keys))
}

func (o StoreOptions[K, V]) table() pgx.Identifier {
	if o.Schema == "" {
		return pgx.Identifier{o.Table}
	}
	return pgx.Identifier{o.Schema, o.Table}
}

// A Store keeps the values of package upsert in a table, a row a key.
type Store[K comparable, V any] struct {
	db   DB
	opts StoreOptions[K, V]
	sql  string
	bad  error
}

var _ upsert.Store[string, int] = (*Store[string, int])(nil)

// NewStore returns a store in the table that opts name. The pool is the caller's to close.
//
// Cost: a Put is one transaction of one round trip, a statement an entry.
// Errors: the first Put reports options that have no meaning.
func NewStore[K comparable, V any](db DB, opts StoreOptions[K, V]) *Store[K, V] {
	s := &Store[K, V]{db: db, opts: opts, bad: opts.Validate()}
	if s.bad == nil && db == nil {
		s.bad = fmt.Errorf("%w: the DB is nil", ErrOptions)
	}
	columns := append(append(append([]string(nil), opts.Keys...), opts.Columns...), opts.Version)
	values, set := "", ""
	for i, column := range columns {
		if i > 0 {
			values += ", "
		}
		values += fmt.Sprintf("$%d", i+1)
		if i >= len(opts.Keys) {
			if set != "" {
				set += ", "
			}
			name := pgx.Identifier{column}.Sanitize()
			set += name + " = EXCLUDED." + name
		}
	}
	version := pgx.Identifier{opts.Version}.Sanitize()
	s.sql = "INSERT INTO " + opts.table().Sanitize() + " AS leat_old (" + quoted(columns) + ") VALUES (" + values + ") ON CONFLICT (" +
		quoted(opts.Keys) + ") DO UPDATE SET " + set + " WHERE leat_old." + version + " IS NULL OR leat_old." + version + " < EXCLUDED." + version
	return s
}

// Put keeps the entries of which the table has no version, or a lower one: all or none.
//
// Errors: the server's, after which they may be there or not.
func (s *Store[K, V]) Put(ctx context.Context, entries []upsert.Entry[K, V], version int64) error {
	if s.bad != nil {
		return s.bad
	}
	var all pgx.Batch
	for i := range entries {
		args := append([]any(nil), s.opts.KeyValues(entries[i].Key)...)
		args = append(args, s.opts.Values(&entries[i].Value)...)
		if want := len(s.opts.Keys) + len(s.opts.Columns); len(args) != want {
			return fmt.Errorf("entry %d: %d values for %d columns", i, len(args), want)
		}
		all.Queue(s.sql, append(args, version)...)
	}
	return transaction(ctx, s.db, func(tx pgx.Tx) (err error) {
		if _, err := tx.Exec(ctx, durableSQL); err != nil {
			return err
		}
		results := tx.SendBatch(ctx, &all)
		defer func() { err = errors.Join(err, results.Close()) }()
		for range entries {
			if _, err := results.Exec(); err != nil {
				return fmt.Errorf("put into %s: %w", s.opts.Table, err)
			}
		}
		return nil
	})
}
