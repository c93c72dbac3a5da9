// Command soak runs a stateful streaming program for very many batches, with faults, and checks every answer.
//
//	go run ./tests/soak
//	go run ./tests/soak -batches 5000 -cycles 50 -every 10 -seed 7
//	go run ./tests/soak -for 1h
//
// The program counts by key over a window, with an inverse function, and keeps a running count by key whose keys come
// and go. Its clock is moved by hand. Every twentieth batch or so something goes wrong: an executor is lost in the middle
// of a batch, a block that an executor holds is damaged, or a function of the program fails once. After each batch its
// answers are compared with those of a plain loop over the same records.
//
// Memory, goroutines and open files are looked at 200 times, after a collection. Those of the last tenth of the run must
// be as those of the first. Then the program is started and stopped many times, every other time in order, and must leave
// nothing: no goroutine, open file, or file in its folder.
//
// With -for it is a cluster of processes that is hurt: examples/failover -lasting builds it, does the harm, and compares what the sink shows and
// what the nodes hold while it runs. Here its measures are judged: what the last quarter of the run has may not be more than what the
// second has by a fourth and a stated slack, for the files and bytes of the replicated logs, checkpoints and blocks, and for the memory,
// goroutines and open files of the nodes. The sink's own files grow with the batches. With a -dir everything stays there; without, only
// where something was wrong.
//
// Progress and figures are printed. The exit status is 1 on a wrong answer, on growth, and on anything left.
package main
