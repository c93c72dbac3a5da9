// Package lineage is the untyped graph that every computation of leat is written in.
//
// A [Node] is one RDD: so many partitions, and the dependencies each is computed from. A [Dep] is
// narrow (a child partition reads a few known parent partitions, inside the same task) or a
// [Shuffle] (every child partition reads a bucket of every parent partition, across tasks). A
// stage is what lies between shuffles: [Cut] finds the stages of a node, [ShuffleParents] the
// shuffles one stage waits for, [Missing] the partitions still to run. [Fingerprint] tells whether
// two processes built the same graph, [Text] and [DOT] print it.
//
// The package knows no element types and does no I/O. Package rdd hangs typed closures on nodes;
// package scheduler runs them and never sees a type. What a running task may ask of its executor is
// [Env]; what an action asks of a scheduler is a [Job]. A task crosses a process border as an
// address, never as code, so a [NodeID] is an ordinal inside a named scope: a process that builds
// the same graph gives its nodes the same ids.
//
// Nodes are immutable once built and may be read from any goroutine. Every walk keeps an explicit
// stack and a visited set, so deep and diamond-shaped lineages cost their size.
//
// Sources: Zaharia et al., "Resilient Distributed Datasets", NSDI 2012, section "Representing
// RDDs"; Zaharia et al., "Discretized Streams", SOSP 2013.
package lineage
