// Package cluster makes a process one driver of several: what it decides is in a log that Raft replicates among them, and where the one that
// leads is lost another goes on with the same batch.
//
// A [Node] is such a process's share: a replicated log, connections to the other drivers, copies of received blocks. [Node.Drive] runs an
// application on it. [Node.Handler] tells load balancers, Prometheus and people how it fares; with Options.HTTP the node serves it itself.
//
//	node, err := cluster.Open("/var/lib/counts", cluster.Options{Name: "driver-1", Listen: ":7000", Advertise: "driver-1:7000", TLS: &files})
//	if err != nil {
//		return err
//	}
//	defer node.Close()
//	return node.Drive(ctx, streamingcontext.Options{App: "counts", Interval: time.Second, Store: store}, declare)
//
// docs/operations.md says how such processes are operated, with examples/cluster.
//
// The first driver of a cluster is opened with Bootstrap, or on a folder that `leat cluster init` has made; the others wait until `leat cluster
// join` has taken them in. A node without Listen is a cluster of one, by the same code; opened with Listen later it can grow.
//
// Guarantees: those of packages raftlog, blockcopies and streamingcontext. A majority of the drivers must be there for anything to be
// decided. A planned stop hands over first.
//
// A driver whose disk fails, does not answer for Options.Stall, or is full ends by itself: Drive returns why, /healthz answers 503, and another goes on. One
// whose disk is nearly full lets another lead.
//
// Any goroutine may call anything; Drive is called once.
//
// What is not here: where checkpoints are, which all drivers must reach (streamingcontext.Options.Store); starting processes, for which `leat
// manifest` prints what others need.
//
// Source: Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm", USENIX ATC 2014.
package cluster
