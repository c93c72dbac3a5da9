// Package schedulertest holds what tests of schedulers and backends need.
//
// A [Graph] makes small nodes over rows of int64 that really run: [Graph.Source], [Graph.Map],
// [Graph.Union], [Graph.Shuffle]; [Collect] makes a job of one. [Scripted] is a backend that runs
// nothing: it records launches, and the test says how they end. [KillSwitch]
// is a backend that does harm to chosen attempts of another one: they fail, hang, wait to be released, lose
// their executor, report late or twice. [RunBackend] is the conformance suite every backend has to pass.
//
//	g := new(schedulertest.Graph)
//	words := g.Source("words", 4, func(part int) []int64 { return []int64{1, 2, 3} })
//	counts := g.Shuffle("counts", words, 2)
//	job, result := schedulertest.Collect(counts)
//	err := s.Run(ctx, job)
//	rows := result.Rows()
//
// Guarantees: a graph built twice by the same calls has the same ids; a partition computed twice has
// the same rows in the same order.
//
// A Graph is built by one goroutine; its nodes may be used by any. The methods of Scripted and
// KillSwitch may be called from any goroutine.
//
// Not here: executors that run anything (package local), typed RDDs (package rdd).
package schedulertest
