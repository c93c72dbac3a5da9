package postgres

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// statements are all that a sink asks of the server, besides COPY. What is put into them are quoted names; values are
// parameters.
type statements struct {
	durable string // waits for the disk when the transaction ends

	exists      string // ledger, staging: are both there?
	serialize   string // one at a time makes tables
	makeLedger  string
	makeStaging string
	makeIndex   string

	enter  string // app, output: the ledger has a row
	lock   string // app, output: it, held until the transaction ends
	last   string // app, output: it
	insert string // app, output, batch, parts, attempts: staged rows into the target
	mark   string // app, output, batch, epoch, digest: the ledger's row
	drop   string // app, output, batch, parts, attempts: what was inserted is staged no more
	clean  string // app, output, batch: nothing up to it is, as far as it is committed
	abort  string // app, output, batch, part, attempt
}

// durableSQL makes a transaction wait for the disk. A session that is asked for more than the local disk keeps that.
const durableSQL = "SELECT set_config('synchronous_commit', 'local', true) WHERE current_setting('synchronous_commit') = 'off'"

// quoted returns names as a list of quoted columns.
func quoted(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = pgx.Identifier{name}.Sanitize()
	}
	return strings.Join(quoted, ", ")
}

func (o Options[T]) statements() statements {
	target, staging, ledger := o.table(o.Table).Sanitize(), o.table(o.staging()).Sanitize(), o.table(o.ledger()).Sanitize()
	index := pgx.Identifier{o.staging() + indexSuffix}.Sanitize()
	var typed []string
	for _, k := range keys {
		typed = append(typed, fmt.Sprintf("NULL::%s AS %s", k.kind, k.column))
	}
	to, from := o.Origin.columns()
	to, from = append(append([]string(nil), o.Columns...), to...), append(append([]string(nil), o.Columns...), from...)
	const output = "leat_app = $1 AND leat_output = $2"
	const chosen = output + " AND leat_batch = $3 AND (leat_part, leat_attempt) IN (SELECT * FROM unnest($4::integer[], $5::text[]))"
	row := "SELECT batch, epoch, digest FROM " + ledger + " WHERE app = $1 AND output = $2"
	return statements{
		durable: durableSQL,

		exists:    "SELECT to_regclass($1) IS NOT NULL AND to_regclass($2) IS NOT NULL",
		serialize: "SELECT pg_advisory_xact_lock(1818583412)", // IF NOT EXISTS alone fails when two make a table at once
		makeLedger: "CREATE TABLE IF NOT EXISTS " + ledger +
			" (app text, output text, batch bigint NOT NULL, epoch bigint NOT NULL, digest bytea NOT NULL, PRIMARY KEY (app, output))",
		makeStaging: "CREATE TABLE IF NOT EXISTS " + staging + " AS SELECT " + strings.Join(typed, ", ") + ", leat_target.* FROM " + target +
			" AS leat_target WITH NO DATA",
		makeIndex: "CREATE INDEX IF NOT EXISTS " + index + " ON " + staging + " (leat_app, leat_output, leat_batch)",

		enter: "INSERT INTO " + ledger + " (app, output, batch, epoch, digest) VALUES ($1, $2, -1, 0, '') ON CONFLICT DO NOTHING",
		lock:  row + " FOR UPDATE",
		last:  row,
		insert: "INSERT INTO " + target + " (" + quoted(to) + ") SELECT " + quoted(from) + " FROM " + staging + " WHERE " + chosen +
			" ORDER BY leat_part, leat_row",
		mark: "UPDATE " + ledger + " SET batch = $3, epoch = $4, digest = $5 WHERE app = $1 AND output = $2",
		drop: "DELETE FROM " + staging + " WHERE " + chosen,
		clean: "DELETE FROM " + staging + " WHERE " + output + " AND leat_batch <= LEAST($3, COALESCE((SELECT batch FROM " +
			ledger + " WHERE app = $1 AND output = $2), -1))", // LEAST leaves NULLs out
		abort: "DELETE FROM " + staging + " WHERE " + output + " AND leat_batch = $3 AND leat_part = $4 AND leat_attempt = $5",
	}
}
