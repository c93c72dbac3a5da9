// Package driverlog is the state machine of driver decisions: which batches were begun, which are
// decided, which are done, and which driver may say so.
//
// A [Command] is one decision. A [State] is what all decisions so far amount to. [Step] applies one
// to the other and is a pure function, so every replica of a log that feeds it the same commands
// holds the same bytes. A [Log] keeps the commands in one order, durably or replicated; a [Term] is
// one stretch of leadership, named by its epoch.
//
//	err := driverlog.WhileLeading(ctx, log, func(ctx context.Context, epoch uint64) error {
//		begin := driverlog.Command{Kind: driverlog.Begin, Epoch: epoch, App: "counts", Batch: 0, Time: 1000, Inputs: ranges}
//		if _, err := log.Propose(ctx, begin); err != nil {
//			return err // nothing has run yet, so nothing is lost
//		}
//		manifest := runTasks(ctx) // staged output and state, under attempt-unique names
//		if _, err := log.Propose(ctx, driverlog.Command{Kind: driverlog.Prepared, Epoch: epoch, App: "counts", Manifest: manifest}); err != nil {
//			return err // undecided, or decided and not known: the next term reads the state
//		}
//		commitSinks(manifest) // may be repeated any number of times
//		_, err := log.Propose(ctx, driverlog.Command{Kind: driverlog.Committed, Epoch: epoch, App: "counts"})
//		return err
//	})
//
// Guarantees, for each application: batch ids are dense from 0 and batch times rise; batches are
// prepared in order and committed in order, while several may be open at once; a prepared batch
// never gets another manifest; a command of any epoch but the latest is refused; a request id takes
// effect once. A refused command changes nothing, so its error is final. The zero time of a registered application never
// changes, and its checkpoints never go back. The state does not grow with the number of batches: committed batches are
// forgotten, except the last one of each application, which says where the inputs of the next batch start, and those
// of a registered one that no checkpoint has made superfluous, of which there are at most [MaxKept].
//
// An application that can be recovered is registered with an Application command. From then on the recorded inputs of
// its committed batches are kept, so that what was made of them can be made again; a Checkpointed command names what
// has been stored instead and says from which batch on inputs are still needed.
//
// Operators say by a Control that an application pauses, stops or goes on; drivers do what it says. [SetStatus] proposes one.
//
// Encodings have a version. Version 2 is written, and version 3 where there is a Control; version 1, which knows no registered applications, is read.
//
// Any goroutine may call a Log. Step and the methods of State are for one goroutine at a time: the
// log implementation serialises them. One package a folder implements Log: memlog in memory, boltlog in a file. Package
// logtest is the suite that each must pass.
//
// What is not here: records, blocks, task attempts, heartbeats and state contents. They are held
// elsewhere and named, at most, by the opaque bytes of an [Input] or a manifest.
//
// Sources: Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm", USENIX ATC
// 2014, section "Client interaction" (request ids, linearised reads); Schneider, "Implementing
// Fault-Tolerant Services Using the State Machine Approach", ACM Computing Surveys 1990.
package driverlog
