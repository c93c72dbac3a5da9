// Package postgres is the sink of outputs that become rows of a PostgreSQL table, each batch in one transaction.
//
// A [Sink] stages rows in a table beside the target, in the same server: COPY, under a name that no other attempt has. Commit
// moves the rows of the attempts that count into the target and writes the batch into a ledger, in one transaction. [Options]
// say which table and which columns; [Origin] names columns that take where a row comes from. A [DB] is where transactions
// begin: a *pgxpool.Pool, which stays the caller's.
//
//	leat_ledger        app, output | batch, epoch, digest                              a row an output
//	<table>_leat       leat_app, leat_output, leat_batch, leat_part, leat_attempt,     rows that are not decided yet, and
//	                   leat_row | the columns of the target                            what failed tries have left
//
//	pool, err := pgxpool.New(ctx, "postgres://...")
//	...
//	defer pool.Close()
//	to := postgres.New(pool, postgres.Options[Count]{
//		Table:   "counts",
//		Columns: []string{"word", "n"},
//		Values:  func(c *Count) []any { return []any{c.Word, c.N} },
//	})
//	dstream.SaveTo(counts, "counts", to)
//
// Guarantees: those of package sink, for as long as the server keeps what it has committed; that of the ledger is the only
// word on what is committed. A reader sees a batch when its transaction ends, whole. The ledger holds the digest of an
// output's last batch: for older ones Commit returns nil without a look at the staged bytes. Both tables are made where
// they are missing. A server or session with synchronous_commit off is asked to wait for the disk all the same.
//
// The driver's calls come one at a time for an output; parts are written by many goroutines, and processes, at once, each with
// a connection while it copies. Restore target, staging and ledger from one backup or not at all.
//
// A [Store] keeps rows that replace each other by key, for the sink of package upsert.
//
// What is not here: making the target; its constraints hold, and a row that breaks one keeps the batch from being committed.
// A column that is added to the target later must be added to the staging table too before the sink writes it.
//
// Source: Gray and Reuter, "Transaction Processing", 1992; PostgreSQL manual, "COPY", "Explicit Locking",
// "Asynchronous Commit".
package postgres
