// Package failover loses the leader of several drivers, again and again and inside each step of a batch, and checks that everything is there
// once.
//
// Its tests run drivers of one application, one, three or five of them, on what a cluster has: nodes of package raftlog that talk through
// package link, each with its log on disk, a folder of blobs and a sink of files that they share. They run in the fake time of
// testing/synctest, over a network of pipes whose ways can be cut, each for itself, and are slow. The leader is cut off, stands still, is
// ended by the loss of its process, or hands over, before and after an operation of the steps P0 to P7.
//
//	go test ./tests/failover
//	go test ./tests/failover -run LeaderLossInsideEachStep -failover.losses 1000 -timeout 1h -v
//	go test ./tests/failover -run LeaderLossInsideEachStep -failover.seed 7 -failover.losses 8
//	go test ./tests/failover -run E5 -v
//	go test ./tests/failover -run Toy11 -failover.disks 100 -v
//	go test ./tests/failover -run Toy8 -failover.batches 10000 -timeout 1h -v
//	go test ./tests/failover -run Toy13 -failover.growth 100000 -timeout 3h -v
//
// What is checked goes by the numbers of the invariants: every record is in one batch (I1) and every row there once (I2); windows and
// state equal those of a plain loop (I3); batches are dense, and their times increase (I4); commands are of the term that stands (I5);
// nothing is committed in a sink that is not prepared (I6), or prepared twice (I7); nodes that have applied the same have the same state
// (I9); what was answered is in the log of every node (I10); no file and no goroutine is left (I11); the next batch is committed in
// bounded time (I13), also after all processes were lost at once (I14).
//
// Rows are those of the build of the program that has prepared the batch, where the program is replaced on one node after the other.
// docs/testing.md has a table of what each layer of tests checks.
//
// A seed chooses what befalls the drivers. Elections are up to chance, so that a failure may need some runs of its seed to come again.
//
// What is not here: losses at every single operation, which package streamingcontext tests on a log of memory, where a seed is exact; the
// log under clients that race, which raftlog tests; real processes and real kills, which examples/failover has.
package failover
