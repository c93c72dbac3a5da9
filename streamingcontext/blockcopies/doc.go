// Package blockcopies keeps what receivers have received on the disks of several drivers, so that losing the leader's machine loses nothing that
// was acknowledged.
//
// # Nouns
//
// A leader is the driver that receives; its epoch is the number of its term in the driver log, larger than those before. Each term has a log of its own, a
// folder of segments as a context without copies has one. A copy of it on another driver has the same bytes at the same places: what is whole there is what the
// leader has written, and epoch, segment and offset name a block everywhere. [Copies] are what one driver has, its own log and those of others. A [Member] is a
// driver that there is.
//
// # A program
//
//	l, err := link.Listen(link.Options{Address: ":7000", Name: "driver-1", ID: log.ID(), TLS: &files, Cluster: log.Cluster})
//	if err != nil {
//		return err
//	}
//	copies, err := blockcopies.New(l.Protocol("blocks"), dir, blockcopies.Options{ID: log.ID(), Members: members})
//	if err != nil {
//		return err
//	}
//	defer copies.Close()
//	go copies.Run(ctx) // on every driver, whether it leads or not; and wait for it
//	opts := streamingcontext.Options{Interval: time.Second, Log: log, Store: store, Blocks: copies}
//
// # Guarantees
//
// A block is acknowledged when it is durable here and on Copies - 1 other drivers. Whoever leads next finds each block that was acknowledged, once, in the order
// in which a leader has taken them, and each that a batch has.
//
// The order of things is what this rests on:
//
//  1. A leader asks others with its epoch. Who answers promises, durably and before it looks what it has, to take nothing from older leaders. Promising, writing
//     a copy and looking are one at a time on each driver. So what an older leader sends is in the answer, or is refused.
//  2. A leader makes a block durable, then checks that it has not promised itself to another, then counts those that have made it durable as well.
//  3. A new leader goes on when all drivers but Copies - 1 have answered, itself among them. Each acknowledged block is on Copies drivers, so one of those that
//     answered has it. Those that have not are too few to acknowledge anything for an older leader that is among them, or asleep, or cut off.
//  4. What it lacks it copies from those that answered, and then sees to it that there are as many copies as those can have, before any batch is made of it.
//
// Whoever has led before and does not know yet is told by the first answer: its appends return a [*FencedError]. It removes nothing either.
//
// With two copies of three drivers any one may be gone, as in the driver log; with two of five a new leader waits for four. Copies of more than half of the
// drivers make a leader wait for no more than the driver log does. Who takes a driver out of Members for good says with it that its disk
// does not count, and that its process has ended: one that is only forgotten could still give an old leader, which has not heard of it, what it takes for a copy. Two that are lost one after the other lose nothing if the leader had the time between to bring others what they lack, which
// [Status] tells.
//
// While there are too few drivers, appends wait and with them the receivers; after a second there is a Warn, and Status counts them. Batches go on. Nothing is acknowledged alone
// unless Copies is 1, which promises what this disk promises, and waits for nobody.
//
// A driver that was away gets what it lacks, the oldest first, and counts again when it has everything. Damage is noticed by the
// checksums of records when a folder is opened, when a copy is sent and when a block is read: another copy is used then, and repaired from. Where
// there is none Scan says so. The rest of a write that a crash has interrupted is written over, not cut off.
//
// Cleaning is what the leader says it is, which goes by what the driver log has, and drivers that are away are told when they are back.
//
// An append that returned an error was not acknowledged, and its block may be found all the same: receiving is at least once.
//
// # Bounds
//
// A block has at most 16 MiB. Messages are little larger, sizes are checked before memory is taken, and that is taken as bytes come. A leader has one
// message under way for each driver. Connections are bounded, silent ones end after Options.Timeout, at both ends.
//
// # Another design
//
// Appends could be requests, each sent to all drivers with its record, which they write into a log of their own. It saves a leader's read of what it has written, and
// the wait for its own flush before the others begin theirs. But then each copy has an order and addresses of its own: the driver log would have to say for each
// block where every copy is, a driver that was away needs a second way to catch up, and after a crash two copies are compared by contents.
// With bytes at the same places, catching up, repair, taking over and the daily work are one thing: send what is lacking. What is written together by the
// leader's flush is sent together, so the cost is a round trip and one flush more for each group.
//
// # On disk
//
//	<dir>/promise                       the newest epoch that was answered
//	<dir>/cleaned                       the epoch and segment before which nothing is needed
//	<dir>/<epoch, 20 digits>/*.log      the log of an epoch, see package receivedlog
//
// # Over the network
//
// A message is its size in four bytes, big-endian, a kind in one, and a body of unsigned varints and bytes; frame.go lists the kinds. A leader says its epoch first and
// asks then, one question at a time. Each answer is given only while nobody newer has asked.
//
// # Who may call what
//
// All methods, from any goroutine. Goroutines: Run's, one for each connection, and while a log is open one for each other member. One process at a time has the folder; a lock
// for that is another's, such as the driver log's.
//
// # What is not here
//
// Who leads, and who the members are: package raftlog. Certificates: whoever the network lets in may ask anything, and lead. Which blocks belong to which batch: package streamingcontext.
//
// Sources: Lamport, Malkhi, Zhou, "Vertical Paxos and Primary-Backup Replication", 2009, for promises of a new configuration's leader; Junqueira, Kelly, Reed, "Durability with
// BookKeeper", 2013, for logs that are fenced and repaired before the next one begins; Zaharia et al., "Discretized Streams", SOSP 2013, for inputs that are
// replicated before they are acknowledged.
package blockcopies
