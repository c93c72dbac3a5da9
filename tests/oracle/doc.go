// Package oracle compares random pipelines with a plain evaluator: slices and Go maps, one goroutine.
//
// A Plan is a pipeline as a value: sources, Steps that each apply an operation to earlier steps, and
// outputs. Generate makes one from a seed. An operation says three times what it is: over slices
// (eval, or history where it looks back), over RDDs, and over streams. Expect evaluates a plan the
// plain way; Check runs it on a local cluster in one Config (partitions, executors, isolation,
// memory, pools, faults) and compares. Shrink makes a plan that fails smaller.
//
//	plan := oracle.Generate(seed)
//	work, err := oracle.Run(ctx, plan) // in all configs of the seed
//	var failure *oracle.Failure
//	if errors.As(err, &failure) {
//		t.Error(oracle.Shrink(ctx, failure, time.Now().Add(time.Minute)))
//	}
//
// What is compared: the multiset of every output's records, their order where the plan fixes it,
// the order again when an output is computed a second time, the answers of further actions for each
// output. What must be left: nothing on the executors once all is forgotten, no file, no reserved memory and no
// goroutine once the cluster is closed.
//
// Executors are lost, blocks and files damaged, functions held up in the middle and attempts failed, hung and
// reported twice, while there is little memory; there is always one executor left, or a new one, and a copy runs for what
// hangs. Faults, memory, partitions, executors, pools and isolation must make no difference, and neither
// does the cutting of input into batches to pipelines that treat records one by one (CheckJoined).
//
// Functions of the pipelines are shared by both sides and are pure; operators are not. A plan is
// the same for the same seed; where a fault strikes depends on how tasks are scheduled.
//
// The tests run 500 seeds, or as many as asked for:
//
//	go test ./tests/oracle -run Random -timeout 1h -oracle.n 10000 -oracle.seed 1
//
// Everything may be called from any goroutine; runs share nothing. Not here: receivers, real time and
// recovery of the driver, which the end-to-end tests have, and records beyond pairs of string and integer,
// which occur only inside of operations.
//
// Source: Claessen and Hughes, "QuickCheck: A Lightweight Tool for Random Testing of Haskell Programs",
// ICFP 2000.
package oracle
