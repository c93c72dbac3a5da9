// Package dstream holds streams as sequences of RDDs: a program over a stream is a program over each of
// its batches.
//
// A [Graph] is what a program declares on; a streaming context owns one. A [DStream] is a rule from batch
// [Time] to RDD, with a slide: how far apart its batches are. An [Input] gives the RDDs of an input
// stream, [NewInput] declares one, [SliceStream] and [ConstantStream] are ready-made. Operators make streams of
// streams: batch by batch ([Map], [ReduceByKey], [Join], [Transform]), over the batches of a window
// ([Window], [ReduceByKeyAndWindow]), or from the batch before and this one ([UpdateStateByKey], [MapWithState]). An
// [Output] gives one [Job] for each batch ([ForeachRDD], [Print], [SaveAsTextFiles], and [SaveTo], whose rows a sink
// shows once). A [Recovery] is what one process leaves to the next: checkpoints and the batches whose inputs are known.
//
//	g, err := dstream.NewGraph(rdds, time.Second) // rdds has a CheckpointDir: the window below needs it
//	lines := dstream.SliceStream(g, [][]string{{"to be"}, {"or not to be"}}, 2)
//	words := dstream.FlatMap(lines, strings.Fields)
//	counts := dstream.CountByWindow(words, 10*time.Second, time.Second)
//	dstream.Print(counts, os.Stdout, 10)
//	err = g.Start(0)
//	jobs, err := g.Generate(1000) // the batch that ends at 1000 ms
//	for _, j := range jobs {
//		err = j.Run(ctx)
//	}
//	g.ForgetOutputs(1000)
//	g.Forget(1000) // what no stream needs any more
//
// # Guarantees
//
// A stream computes the RDD of a batch once, however many streams read it, and remembers it, present or
// absent, while a stream still needs it. The RDDs of a batch depend on the declarations, the inputs'
// batches and the time alone: a partition that is lost is computed again and has the same records in the
// same order. What is kept is bounded: batches by the longest retention, lineage by the checkpoint
// interval of the streams that derive each batch from the one before.
//
// A slide of a window costs what enters and leaves it where the reduction can be undone, and about four
// combinations of a window's keys where it cannot, however long the window is. A batch of a state
// stream costs every live key, with [TouchedOnly] the keys it has values for.
//
// Mistakes in declarations never panic: a wrong stream can be used like any other, and Start returns all
// mistakes, joined, each a [BuildError] with the file and line of the program's call. What goes wrong
// while a batch is made is a [GenerationError], and no output of that batch runs.
//
// A graph that is recovered ([Graph.Recover]) makes every batch as the one before it would have, partition by partition,
// from what [Graph.Checkpoint] said is in files and from inputs that are asked for older batches again. It refuses to go on
// where a file is damaged or an input is forgotten. Rows of SaveTo are shown once; other outputs run again with their batch.
//
// # Who may call what
//
// Streams are declared before Start, by any goroutine. Start, Recover, Generate, Forget,
// Checkpoint, CommitOutput and their like are the streaming context's. Functions given to operators run in tasks, on many goroutines at once, and may
// run more than once for the same records; those of the Transform family run inside Generate and must not
// call back into the graph; those of ForeachRDD run where the job is run.
//
// # What is not here
//
// The clock that says when a batch ends, the queue of jobs, the driver log and what is kept of inputs are package
// streamingcontext's, sinks package sink's, receivers package receivers'. There is no event time and no watermark yet.
//
// # Sources
//
// Zaharia et al., "Discretized Streams: Fault-Tolerant Streaming Computation at Scale", SOSP 2013. van
// Herk, "A fast algorithm for local minimum and maximum filters on rectangular and octagonal kernels",
// Pattern Recognition Letters, 1992.
package dstream
