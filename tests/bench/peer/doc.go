// Package peer is the plain Go that leat is measured against.
//
// Each function computes the answer of a workload the way a programmer would without a framework,
// in one or more styles. For the narrow chain (W0): [FusedChain] and [FusedIncrements] are one
// loop, [FusedDense] and [FusedMaps] also sum by key, [ChunkChain] goes from slice to slice,
// [CallChain] also calls a function for each record, [ChannelChain] sends each record from
// goroutine to goroutine. For text (W1): [WordCount] and [WordCountBytes], [GrepLines],
// [GrepScanner], [GrepIndex] and [GrepWrite]. For keyed windows (W2): [SumMap], [MaxMap],
// [SumDense], [MaxDense] and [Sums]. For keyed state (W3): [StateMap]. For shuffles (W6): [Deal], [MsgpackShuffle], [MsgpackBuffers] and
// [SumText]; for joins: [MapJoin] and [ChainJoin]. For lineage (W13): [StepLoop] and [StepCalls]. For
// fixed overhead (W7): [EmptyTasks] and [AppendSync].
//
//	xs, err := workload.NewIntegers(workload.DefaultSeed).Append(nil, 0, workload.M.Records())
//	if err != nil {
//		return err
//	}
//	start := time.Now()
//	keySum, passed := peer.FusedChain(xs)
//	fmt.Println(time.Since(start)/time.Duration(len(xs)), "a record")
//	want, _ := workload.ChainWant(workload.M)
//	fmt.Println(passed == want.Passed && keySum == want.KeySum)
//
// Guarantees: every function returns when its work is done, leaves no goroutine behind and does
// not change its input; the same input gives the same answer. All may be called from any
// goroutine.
//
// Not here: the data and the expected answers, which are in package workload, and anything that
// imports leat.
//
// Source: McSherry, Isard and Murray, "Scalability! But at what COST?", HotOS 2015, which asks of
// every system how it compares with a competent single-threaded program.
package peer
