// Package receivers runs inputs that push records into the program and gathers what they push into blocks.
//
// # Nouns
//
// A [Receiver] reads one source and stores records in a [Sink]. A [Supervisor] runs a receiver for as long as its
// stream lives and starts it again whenever it ends. A [Generator] (block generator) gathers single records into a
// block per block interval. A [Block] is the unit that is stored, replicated and later becomes one partition of a
// batch. [Blocks] is where blocks go; the caller implements it. A [Clock] tells the time in milliseconds.
//
// # A program
//
//	words := receivers.Func[string](func(ctx context.Context, sink receivers.Sink[string]) error {
//		for _, w := range []string{"a", "b", "c"} {
//			if err := sink.Store(ctx, w); err != nil {
//				return err
//			}
//		}
//		<-ctx.Done()
//		return ctx.Err()
//	})
//	s, err := receivers.NewSupervisor(0, words, blocks, receivers.Options{})
//	err = s.Run(ctx) // until ctx ends; every accepted record is in a block by then
//
// # Guarantees
//
// Order: records of one receiver that are stored one by one from one goroutine reach [Blocks] in that order, within a
// block and from block to block. A block stored whole takes its own way and has no order against them.
//
// Delivery: a record that Store accepted is in exactly one block, and Run gives every block to [Blocks] before it
// returns, unless it returns a [*LostError]. A failed Put is repeated with the same block and the same id, so a Put
// that took effect and then failed can be recognised. A record that Store accepted but that no Put has taken yet dies
// with the process; a receiver whose source can replay stores whole blocks and acknowledges the source afterwards.
//
// Memory: a full block makes Store wait, a full block queue makes the generator wait, so at most
// (BlockQueue + 3) x MaxBlockRecords records are held: the queue, the block being put, the block waiting for the
// queue and the block being filled.
//
// Rate: a limit in records per second holds for the records stored one by one, of each block generator of a receiver:
// MaxRate, before that InitialRate, and what SetRate says. At most the records of 100 ms come at once. Blocks
// stored whole are not limited. Package receivers/rate computes rates.
//
// Stopping: the receiver is told, then awaited, then what it stored is flushed, then Run returns. The flush does not
// wait for the block interval to end. Ids keep growing, so a block cut early never shares one with a later block.
//
// # Who may call what
//
// A Sink may be used from several goroutines of one receiver until Receive returns. Put is called from the generator's
// goroutine and from every goroutine that calls StoreBlock. Listener functions are called from those goroutines and
// must not block.
//
// # What is not here
//
// Streams, batches, the allocation of blocks to batches, the placement of receivers and the log of received blocks:
// streamingcontext has them. Inputs that are read batch by batch, such as files, need no receiver; receivers/file only
// selects them. A receiver that must know which block a record is in makes a generator of its own, by [GeneratorSink].
//
// Sources: Zaharia et al., "Discretized Streams: Fault-Tolerant Streaming Computation at Scale", SOSP 2013, section
// "System Architecture"; Spark Streaming Programming Guide, "Spark Streaming Custom Receivers".
package receivers
