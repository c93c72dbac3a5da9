// Package queue is a first-in, first-out queue that a program pushes into and a stream takes from, batch by batch.
//
// # Nouns
//
// A [Queue] holds elements in the order they were pushed. Its zero value is empty and ready.
//
// # A program
//
//	var q queue.Queue[int]
//	q.Push(1, 2, 3)
//	first, ok := q.Pop()
//	rest := q.PopAll()
//
// # Guarantees
//
// Each element is taken once. Elements of one Push stay together, and PopAll takes everything pushed before it and
// nothing pushed after it.
//
// # Who may call what
//
// All methods may be called from any goroutine. None of them waits.
//
// # What is not here
//
// A bound: a queue is for tests and for programs that make their own batches. What was pushed does not survive the
// process, so a stream fed by a queue cannot be recovered from a checkpoint.
//
// Sources: Spark Streaming Programming Guide, "Queue of RDDs as a Stream".
package queue
