// Package spool keeps the rows of batches in local files until they are delivered to something that has no transactions.
//
// A [Spool] stages parts and remembers, for each output, the last batch that was delivered. Commit hands the [Part]s that count
// to a function and writes the mark when that returns nil: between the two a process may die, and then the next one delivers
// the batch again, the same rows in the same order.
//
//	dir/<hash of application and output>/rows/<batch>-<part>-<attempt>   rows, each with its length and a checksum
//	dir/<hash of application and output>/marks/<batch>                   the last delivered batch, the one before for a moment
//
//	s := spool.New(dir, nil)
//	...
//	return s.Commit(ctx, b, staged, func(st spool.Staged) error {
//		for _, part := range st.Parts {
//			for row, err := range part.Rows() {
//				...
//			}
//		}
//		return nil
//	})
//
// Guarantees: a part is durable when Finish returns, a mark when Commit does. Checksums run on from row to row and begin
// with the part's name, so rows of another part, in another order or fewer of them are refused by the file's name before they
// are delivered. Of batches before the last one nothing is known but that they were delivered.
//
// Methods have the callers that package sink says.
//
// What is not here: fences against drivers on another machine: the mark is in the folder, and so is its epoch.
//
// Source: package sink; Gray and Reuter, "Transaction Processing", 1992, on queued output.
package spool
