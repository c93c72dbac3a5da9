// Package raftlog replicates a driver log to several nodes with Raft: the drivers of a cluster share its decisions, and when
// the one that leads is gone another leads within seconds.
//
// A [Log] is a node, opened by [Open] on a folder of its own; it implements [driverlog.Log]. A [Network] connects it with other
// nodes, its [Member] fellows; without one it is a cluster of one. [Timeouts] say how fast a lost leader is noticed. [Dump] and [Verify]
// read the folder of a node that is stopped, and [Recover] makes a cluster of it when most of the others are gone for good.
//
//	log, err := raftlog.Open(dir, raftlog.Options{Name: "driver-1", Network: network, Address: "driver-1:7400"})
//	if err != nil {
//		return err // *LockedError names the owner, *IdentityError and *CorruptError say what is wrong with dir
//	}
//	defer log.Close()
//	defer log.Resign(ctx) // a planned stop takes milliseconds, an end that nobody announces some seconds
//	return driverlog.WhileLeading(ctx, log, runBatches)
//
// The first node is opened with Options.Bootstrap; the others wait until a leader is told to Join them, and grow to voters. A node is
// known by the id in its folder, not by its address, which may change.
//
// Guarantees: a command that was answered is on the disks of most voters, and is there as long as most of those are. A command that was not
// answered is told from one that never will be: driverlog.ErrUnknown is all that a leader that was cut off can say, and the next term's
// state says what became of it. The commands of one ProposeAll are one entry. An index of the log is the number of commands that took effect, the
// same on every node, and an epoch is the index of a LeaderStart. What a leader may do follows from answers in its epoch alone, never
// from its believing that it leads.
//
// A node stops, for good and loudly, rather than go on with what may be wrong: at the first error of its disk and at a write
// that takes longer than Options.Stall (*PoisonError), at an entry that it cannot read (*CorruptError), and when its state is
// not the leader's after the same entries, which is compared every 1024 of them (*DivergedError). Status says so, everything else
// returns it within driverlog.ErrUnknown, and the others elect another leader. The folder stays locked as long as a write hangs: what it
// leaves behind can never follow what somebody else has written.
//
// A node whose disk is nearly full does not lead: while less than Options.MinFree is free it hands leadership over, and a cluster none of whose nodes has
// room waits. With less than a quarter of that it stops, before a write fails in the middle.
//
// Snapshots take the place of old entries every Options.SnapshotEvery of them. Three stay, each is read again after it was written, and
// each has the digest of what is in it. Entries have a checksum, the id of their cluster and a format version; what is of
// a later version stops the node, so all nodes are upgraded before one of them writes it.
//
// Any goroutine may call anything. Open starts goroutines, those of raft and a few of its own, and Close waits for all of them, but for a write to a
// disk that does not answer. Nothing of Raft's own metrics is configured: they go where the program sends those of go-metrics.
//
// What is not here: connections and who may make them, which are the Network's; requests to join or leave; where drivers run. Open reads the whole file of entries once, and
// refuses one that is damaged; a page that goes bad while the node runs ends the process, as bbolt reads through a memory map. Damage to
// the newer of bbolt's two meta pages takes the file back by a transaction, which nobody notices. A file that is copied while a
// node uses it is no backup: stop the node, or take a snapshot of the disk.
//
// Sources: Ongaro, "Consensus: Bridging Theory and Practice", Stanford 2014, chapters on membership changes, log compaction
// and client interaction; Rebello et al., "Can Applications Recover from fsync Failures?", USENIX ATC 2020.
package raftlog
