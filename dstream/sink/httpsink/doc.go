// Package httpsink is the sink of outputs that are posted to an HTTP server.
//
// A [Sink] keeps the rows of a batch in local files (package spool) and posts them when the batch is decided: some rows a
// request as lines, or one. Each request has a key in the header [KeyHeader] that names its first row, the same however often the
// request is made:
//
//	Idempotency-Key: <application>/<output>/<batch>/<partition>/<row>
//
//	to := httpsink.New[Count]("/data/spool", "https://example.org/counts", httpsink.Options[Count]{})
//	dstream.SaveTo(counts, "counts", to)
//
// Guarantees: at least once, which [Sink.Promise] says. No row is left out: a batch is committed when the server has
// answered each of its requests with a status of 2xx. A request whose answer is lost is made again, and after a crash those
// of the whole batch; the rows of a key never change. A server that does what it is asked once for each key shows each row
// once. Requests are made one after the other, in the order of batches, partitions and rows; which rows are in one is
// kept with the batch.
//
// A request is made again, with growing waits, where there is no answer or the status is 408, 409, 425, 429 or 5xx. Any other
// status is a [RefusedError], which names the rows; redirects are refused too, since a POST may be followed as a GET.
//
// The driver's calls come one at a time for an output; parts are written by many goroutines at once, on the driver's machine.
//
// What is not here: authorization beyond a fixed header and what an *http.Client does; compression.
//
// Source: "The Idempotency-Key HTTP Header Field", IETF draft of the HTTPAPI working group; RFC 9110, sections 9.2.2
// "Idempotent Methods" and 15 "Status Codes".
package httpsink
