// Package upsert is the sink of outputs whose rows replace each other by key: the last value of a key is what matters.
//
// A [Sink] keeps the rows of a batch in local files (package spool) until they are put into a [Store] as [Entry]s, with the
// batch's id as their version. A Store keeps a value only where it has none of that version or a later one, so a batch may
// be put again after a crash, and a driver that wakes up late changes nothing. [Memory] is a Store; package postgres has another.
//
//	store := upsert.NewMemory[string, int]()
//	to := upsert.New("/data/spool", store, func(c *Count) upsert.Entry[string, int] {
//		return upsert.Entry[string, int]{Key: c.Word, Value: c.N}
//	}, upsert.Options{})
//	dstream.SaveTo(counts, "totals", to)
//	...
//	n, version, ok := store.Get("word")
//
// Guarantees: at least once, and effectively once for the last value of a key: when Commit has returned, each key of the
// batch has the value of its last row in the batch (partitions in order, rows in order), whatever failed and however often it
// was put. The sink says [sink.AtLeastOnce], because a reader may see some keys of a batch before others, and because a store
// that loses versions cannot tell. Of several rows of a key in a batch only the last is put.
//
// The driver's calls come one at a time for an output; parts are written by many goroutines at once, on the driver's machine.
//
// What is not here: removing keys, unless the value says so; versions that begin anew. An application with a new driver
// log starts at batch 0, and a store with later versions refuses its values: give it another table.
//
// Source: Thomas, "A Majority Consensus Approach to Concurrency Control for Multiple Copy Databases", 1979, on writes that come
// late; package sink.
package upsert
