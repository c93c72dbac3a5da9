// Package sink is the contract between an output of a stream and what keeps its rows, for outputs that show each batch
// once whatever fails.
//
// A [Sink] is where rows go; a [Batch] names what is written: application, output, batch. A batch is first staged and then
// committed:
//
//	driver   Begin ----------------------------> Seal --(Prepared in the driver log)--> Commit --> Clean
//	tasks          Part, Write, ..., Finish
//
// Staging writes the rows where no reader sees them, under names that no other attempt has, and makes them durable. Seal
// says in a few bytes which attempts count. Once those bytes are in the driver log the batch is decided: whoever drives then,
// now or after a crash, calls Commit with them until it succeeds, and Commit does nothing the second time.
//
// Guarantees that a Sink gives: a reader sees all rows of a batch or none; a committed batch never changes; Commit of a batch
// that is committed returns nil and changes nothing; Commit with other staged bytes for a committed batch, and Commit under an
// epoch lower than one seen, are refused. Package sinktest is the suite that each must pass.
//
// Begin, Seal, Commit, Clean and Last are called by the driver, one at a time for an output; Part and the methods of a Writer
// in tasks, many at once, each Writer by one goroutine.
//
// What is not here: who calls it (dstream.SaveTo declares the output, package streamingcontext commits), and the sinks, each in
// a folder of its own.
//
// Source: Gray and Reuter, "Transaction Processing", 1992, on two-phase commit; the decision is the driver log's, so that a
// driver may die at any step.
package sink
