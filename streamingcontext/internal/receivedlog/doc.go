// Package receivedlog keeps received blocks on disk until the batches that need them are done: a write-ahead log in a
// folder.
//
// # Nouns
//
// A record is one block of a stream: opaque bytes, and a few bytes of meta beside them for whoever reads the log back. An
// [Address] is where a record lies: segment, offset, length and checksum. A segment is a file of records; a new one begins
// when one is full or old, after each [Open], and after a flush that has failed. A group is the records that one flush makes
// durable.
//
// # A program
//
//	log, err := receivedlog.Open(dir, receivedlog.Options{})
//	if err != nil {
//		return err
//	}
//	defer log.Close()
//	err = log.Scan(ctx, func(e receivedlog.Entry) error { return known(e.Address, e.Meta) })
//	at, err := log.Append(ctx, stream, block, meta) // durable now: acknowledge to the source
//	block, err := log.Read(at)
//	removed, err := log.Clean(lowestNeeded)
//
// # Guarantees
//
// Append returns nil when the record is on disk, flushed. Whatever happens to the process or the machine then, the
// record is read back as it was, or whoever reads is told that it is damaged. Appends of several goroutines share a
// flush. Records lie in the order in which their appends began to wait.
//
// An append that returned an error was not acknowledged. Most often its record is not there; after a flush that failed, a
// crash in the middle of an append, or a context that ended while the record was written, it may be, and Scan yields it
// then. A receiver that sends such a block again stores it twice: receiving is at least once, unless the source is
// asked for the same records again by position and can tell.
//
// A log that was cut off by a crash ends with what the last flush left: records, parts of records, blocks of zeros, in
// any mixture. Open cuts that off, see [Log.Torn]. How far it reaches is known, because each record says where its group
// begins, and a group is written after the flush of the one before: damage in front of a whole record of a later group
// cannot come from a crash. Such damage, and any in an earlier segment, is a [*DamageError] of Read and a [*ScanError] of
// Scan. Only in the last group of the last segment damage and a torn end look the same: then the records from there on are cut off,
// and Torn says how many.
//
// A disk that is full fails appends and nothing else; they go on when there is room. After a flush that failed the
// segment is given up, since nobody knows what of it was written: the header of the next one says how far it counts.
//
// # Format
//
// A segment is named by its number, 16 digits and ".log". It begins with a header of 40 bytes; integers are little-endian:
//
//	0   8  "leatrlog"
//	8   4  version, 1
//	12  8  number of the segment
//	20  8  how many bytes of the segment before count, 0 if there was none
//	28  8  when it began, milliseconds since the epoch
//	36  4  CRC-32C of the above
//
// and is flushed before records follow, each of them a header of 28 bytes, its meta and its block:
//
//	0   4  F1 'r' 'c' 'v'
//	4   4  CRC-32C of the segment's number and the record's offset, 8 bytes each, and of what follows in this header
//	8   4  CRC-32C of meta and block
//	12  4  length of the block
//	16  4  length of the meta
//	20  4  stream
//	24  4  how many bytes before this record its group begins
//
// So a record is only valid where it was written; a block that holds a copy of a log is no trap. A copy of a segment, byte by byte, is as good as the
// segment: see Look, Prefix and Durable.
//
// # Who may call what
//
// All methods of a Log, from any goroutine. The log starts no goroutines: one of those that wait in Append writes for all of them.
// One process at a time may have a folder open; the lock for that is another's.
//
// # What is not here
//
// The encoding of blocks and of meta; which blocks belong to which batch; when a record is no longer needed.
//
// Sources: Spark Streaming Programming Guide, "Fault-tolerance Semantics"; Mohan et al., "ARIES", 1992, for the rule that
// what is acknowledged is in the log first; Rebello et al., "Can Applications Recover from fsync Failures?", 2020.
package receivedlog
