// Package memlog keeps a driver log in memory: for tests, and for programs that may forget all
// about their batches when they end.
//
// A [Log] holds the [driverlog.State] and no commands, so its memory does not grow with the number
// of batches. [Options] names the node and can start from a snapshot.
//
//	log, err := memlog.New(memlog.Options{Node: "driver-1"})
//	if err != nil {
//		return err
//	}
//	defer log.Close()
//	return driverlog.WhileLeading(ctx, log, runBatches)
//
// The node always leads; [Log.StepDown] takes a term away from whoever holds it, as an election
// would, and Options.LoseReply loses an answer after its effect. Both are for tests of callers.
//
// A [Group] is the double of a replicated log: a [Node] for each driver of a program that several run, of which one leads. What befalls drivers and commands in a
// cluster befalls them by call or by plan.
//
// Guarantees: those of package driverlog, for as long as the process lives. Any goroutine may call
// anything at any time. No goroutine is started, and nothing blocks but calls of a Node
// that does not lead, or is paused.
//
// What is not here: durability. A snapshot can be taken with [driverlog.State.Append].
//
// Source: package driverlog.
package memlog
