// Command bench measures leat against plain Go on the workloads of package workload, in one run,
// and prints a table.
//
//	go run ./tests/bench -w W0,W1 -size M -rounds 7 -cores 1,2 -floor
//
// The nouns: a [row] is one line of the table; a [subject] is a program that is measured, leat's or a
// peer's; a round runs every subject once, one after the other, so that a noisy machine slows all of
// them alike; a [floor] is the figure that a row must reach. The workloads are W0 (a narrow chain),
// W1 (text: word count and grep), W2 (keyed windows), W3 (keyed state), W6 (shuffles), W7 (the fixed cost of a batch) and
// W13 (lineage and recomputation); skew, reduce, sort, join, cached and overhead are one figure each.
//
// Guarantees: every answer is checked against the one that package workload knows, or against a
// recount, and a wrong one ends the run. Ratios are medians over rounds of the ratio within a round.
// Costs are processor time of this process, user and system, garbage collection included; latency and
// scaling are wall time. With -floor the exit status is 1 when a row misses its floor.
//
// Not here: the data, in package workload, the plain Go programs, in package peer, and engines that
// are not Go. docs/benchmarks.md says how to read the table.
package main
