// Package objectlog keeps a driver log in a blob store: for drivers that may run on any machine, one after the other, each
// finding the batches of the one before.
//
// A [Log] is opened by [Open] and implements [driverlog.Log]. [Dump] and [Verify] read one without owning it.
//
//	driver/log/00000000000000000001       entries 1 and on: what was proposed together is an object
//	driver/log/00000000000000000004       entry 4 and on
//	driver/snapshot/00000000000000001024  the state after entry 1024, in the place of those before it
//	driver/owner                          who leads, a Holder as JSON
//
//	log, err := objectlog.Open(ctx, store, objectlog.Options{Node: "driver-1"})
//	if err != nil {
//		return err // *LockedError names the owner, *CorruptError the object
//	}
//	defer log.Close()
//	return driverlog.WhileLeading(ctx, log, runBatches)
//
// Guarantees: what was answered is in the store, but for the last Committed ones, which are answered before they are durable and
// become so with the next command of another kind. Commands of one ProposeAll are an object: there together or not at all.
// An answer that was lost is asked for again until it is known, or the log gives up with driverlog.ErrUnknown.
//
// Safety comes from one thing: the object behind the last one is created, never replaced, so of two drivers one gets its index. The
// other reads what is there, finds another epoch in it, and its commands get a *driverlog.FencedError. That stays true of a
// driver that was stopped for any time, because the first object of each driver is never removed: whoever was overtaken finds
// its index taken for ever. Whoever begins to lead looks for snapshots past its first object, which would mean that it
// read the log before others went on. No clock is involved.
//
// The owner's record keeps drivers from competing; it is renewed while a log leads. Clocks decide only when a record that is not
// renewed has lapsed. Open refuses to open a log that has another owner, or waits for it; a log whose record was taken over
// ends its term, and its Lead waits until the record lapses or is given up.
//
// The two newest snapshots stay, with the entries behind the older: where the newest is damaged the other is used. The log does
// not grow with the number of batches, but by one small object each time that it changes hands. Everything that is read has a
// checksum, the identity of the log and its index within it, and every entry must follow from those before it. What does not fit
// is a [*CorruptError] with the object's name. That the newest entries are missing is noticed as far as the owner's record
// says how many there were, which it did when it was last renewed.
//
// Any goroutine may call anything. One goroutine, started by Lead and ended by Close, renews the owner's record; of the callers that
// wait for an answer one writes for all.
//
// What is not here: a Lead that knows of a driver's end before its record lapses; Options.Lease says how long that takes.
//
// Sources: Gray and Cheriton, "Leases: An Efficient Fault-Tolerant Mechanism for Distributed File Cache Consistency", SOSP 1989;
// Amazon, "Amazon S3 User Guide", section on conditional requests.
package objectlog
