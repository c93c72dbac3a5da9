// Package protocol is what a driver decides about the batches of one application: a state machine without goroutines, clocks,
// contexts or input and output.
//
// A [Core] is one term of leadership. It takes events (the log was read, a batch is planned, jobs have ended) and says with an
// [Action] what is to be done next: commands for the driver log, a sink output to commit, a blob to write. Whoever holds the Core
// does that and gives it the [Answer]. A [Manifest] is what the log keeps of a batch that is decided; a [Mark] is the last batch
// of a sink output; a [Point] is where a driver may die.
//
//	core := protocol.New(protocol.Options{App: "counts", Epoch: term.Epoch})
//	err := core.Read(state.App("counts"), nil, true)       // what earlier terms have left
//	for a := core.Recover(); a.Do != 0; {                  // a chain of actions, each answered before the next
//		if a.Do == protocol.End {
//			return a.Err
//		}
//		a = core.Answered(a, do(ctx, a))
//	}
//
// # The steps of a batch
//
//	step          action         durable then             a crash there                           who goes on
//	P0 plan       (the caller's) nothing                  nobody knows of the batch               plans anew, maybe other input
//	P1 begin      Propose        id, time, input          before: as P0. after, or unknown:       runs it with the recorded
//	                                                      the log has it or has not               input, or as P0
//	P1 whole      Propose        all of an empty batch    all of it is there or nothing           as P0, or nothing to do
//	P2 run        Run            staged rows, under names what is staged is never referred to     runs it with the recorded input
//	                             no other attempt has
//	P3 manifest   WriteBlob      a long manifest          a blob that nothing refers to           as P2
//	P4 prepared   Propose        the decision             before: as P2. after, or unknown:       as P2, or rolls forward
//	                                                      prepared or not
//	P5 commit     CommitOutput   rows of one output       some outputs have committed             commits all again: sinks know
//	P6 committed  Propose        that P5 is over          prepared, or committed                  as P5, or nothing to do
//	P7 clean      CleanOutput    less                     garbage                                 a later sweep
//	P7 checkpoint Checkpoint,    state and what inputs    before Checkpointed: a file that        the checkpoint before counts
//	              Propose        remember                 nothing refers to
//	P7 sweep      Sweep          less                     garbage                                 the sweep of the next checkpoint
//
// The leader decides each step; P4 is the commit point: what is prepared is rolled forward and never run again. Recovery is P5 to P7
// of what is prepared, then P2 of what is begun, so a crash in it is a crash at those steps. A term that does not go on from the
// recorded input gives the begun batches up instead: Prepared and Committed in one group, with a manifest that says so.
//
// Guarantees: ids are dense; batches are prepared and committed in their order, whatever the order in which their jobs end; no output
// is committed before the log has answered Prepared; a batch is Committed only after each output has said so; a batch that failed stays,
// with all behind it, or is set aside and committed in its turn; the newest manifest has all that is owed and the marks of all outputs.
// Whatever answer is not a success ends the term, an unknown outcome too: nothing is proposed after it, and the next term reads the log.
//
// # Two chains
//
// Batches begin in one chain of actions; all else is in another. Each has at most one action under way, so an event returns one action
// and not a list, and whoever does them needs a loop and no queue. The other shape, in which every event returns all actions that have
// become possible, would let more of them overlap; but its caller has to match answers with actions, to order those that must not
// overlap, and to hold back events that cannot come yet, so that the order in which outputs commit would be the caller's and not the
// protocol's. As the log takes its commands in one order anyway, the only overlap that pays is that of planning and committing.
//
// # Who may call what
//
// One goroutine at a time calls methods of a Core; the functions on manifests may be called by all. An Action's slices belong to the Core
// until it is answered.
//
// # What is not here
//
// Batch times and what inputs give (streamingcontext's timer and graph), how jobs are run and tried again, what a sink does, where blobs and
// checkpoints are kept, and who leads.
//
// Sources: Gray and Reuter, "Transaction Processing", 1992, on two-phase commit; Zaharia et al., "Discretized Streams", SOSP 2013, section
// "Fault and Straggler Recovery"; Zhou et al., "FoundationDB: A Distributed Unbundled Transactional Key Value Store", SIGMOD 2021, section
// "Simulation testing".
package protocol
