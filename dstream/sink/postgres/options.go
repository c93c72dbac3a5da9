package postgres

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// ErrOptions says that options have no meaning.
var ErrOptions = errors.New("postgres: option")

const (
	// maxIdentifier is how many bytes of an identifier the server keeps. Longer ones it would cut short in silence.
	maxIdentifier = 63
	// defaultLedger is the ledger's name where none is given.
	defaultLedger = "leat_ledger"
	// stagingSuffix makes the staging table's name from the target's.
	stagingSuffix = "_leat"
	// indexSuffix makes the name of the staging table's index.
	indexSuffix = "_i"
	// maxColumns is how many columns a table of the server may have.
	maxColumns = 1600
)

// Options say where rows go. Table, Columns and Values are required. All names are quoted: they are what they say, in their
// case, and never part of a statement.
type Options[T any] struct {
	// Schema holds all three tables. Empty is the first of the connection's search path that has, or may have, them.
	Schema string
	// Table is the target. It is there already.
	Table string
	// Columns are the target's that Values gives, in its order. The others take their defaults.
	Columns []string
	// Values returns the values of a row's columns, of types that pgx writes to them, in a slice of its own: they are kept
	// until some thousand rows are copied at once. It is called in tasks, many at once.
	Values func(row *T) []any
	// Origin names columns of the target that take where a row comes from. The zero value names none.
	Origin Origin
	// Staging is the table of what is not decided yet. Empty is the target's name with "_leat".
	Staging string
	// Ledger is the table of what is committed, which all outputs of a schema may share. Empty is "leat_ledger".
	Ledger string
}

// An Origin names the columns, none of which need be there, that take where a row comes from. They are unique together, which
// makes them a key.
type Origin struct {
	App       string // of type text
	Output    string // of type text
	Batch     string // of type bigint
	Partition string // of type integer
	Row       string // of type bigint: from 0 in each partition
}

// keys are the columns of the staging table that a row's origin is in, with their types.
var keys = [...]struct{ column, kind string }{
	{"leat_app", "text"}, {"leat_output", "text"}, {"leat_batch", "bigint"}, {"leat_part", "integer"}, {"leat_attempt", "text"}, {"leat_row", "bigint"},
}

// columns returns the target's columns of an origin, each with the staging column it is copied from.
func (o Origin) columns() (to, from []string) {
	for i, name := range []string{o.App, o.Output, o.Batch, o.Partition, "", o.Row} {
		if name != "" {
			to, from = append(to, name), append(from, keys[i].column)
		}
	}
	return to, from
}

// Validate returns an error naming the first field that has no meaning.
func (o Options[T]) Validate() error {
	if o.Values == nil {
		return fmt.Errorf("%w: Values is nil", ErrOptions)
	}
	if len(o.Columns) == 0 || len(o.Columns) > maxColumns {
		return fmt.Errorf("%w: %d Columns, want 1 to %d", ErrOptions, len(o.Columns), maxColumns)
	}
	names := []struct{ field, name string }{{"Table", o.Table}, {"Staging", o.staging() + indexSuffix}, {"Ledger", o.ledger()}}
	if o.Schema != "" {
		names = append(names, struct{ field, name string }{"Schema", o.Schema})
	}
	origin, _ := o.Origin.columns()
	seen := make(map[string]bool)
	for i, column := range append(append([]string(nil), o.Columns...), origin...) {
		field := "Columns"
		if i >= len(o.Columns) {
			field = "Origin"
		}
		if seen[column] {
			return fmt.Errorf("%w: %s has %q again", ErrOptions, field, column)
		}
		seen[column] = true
		names = append(names, struct{ field, name string }{field, column})
	}
	for _, n := range names {
		if err := checkIdentifier(n.name); err != nil {
			return fmt.Errorf("%w: %s %q %w", ErrOptions, n.field, n.name, err)
		}
	}
	for i, a := range names[:3] {
		for _, b := range names[:i] {
			if a.name == b.name {
				return fmt.Errorf("%w: %s and %s are both %q", ErrOptions, b.field, a.field, a.name)
			}
		}
	}
	return nil
}

// checkIdentifier returns why the server would not take a name as it is.
func checkIdentifier(name string) error {
	switch {
	case name == "":
		return errors.New("is empty")
	case len(name) > maxIdentifier:
		return fmt.Errorf("is longer than %d bytes", maxIdentifier)
	case !isText(name):
		return errors.New("is no text")
	}
	return nil
}

// isText reports whether a value of type text can hold s.
func isText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

// String returns table and columns.
func (o Options[T]) String() string {
	return fmt.Sprintf("rows of %s (%s)", o.table(o.Table).Sanitize(), strings.Join(o.Columns, ", "))
}

func (o Options[T]) staging() string {
	if o.Staging != "" {
		return o.Staging
	}
	return o.Table + stagingSuffix
}

func (o Options[T]) ledger() string {
	if o.Ledger != "" {
		return o.Ledger
	}
	return defaultLedger
}

// table returns a table of the schema.
func (o Options[T]) table(name string) pgx.Identifier {
	if o.Schema == "" {
		return pgx.Identifier{name}
	}
	return pgx.Identifier{o.Schema, name}
}
