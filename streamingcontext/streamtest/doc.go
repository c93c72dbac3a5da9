// Package streamtest tests streaming programs: on a clock that the test moves, batch by batch, without
// a sleep.
//
// A [Kit] is a context with a manual clock. A [Feed] is an input that the test pushes records into, each
// push for the next batch. An [Output] is what a stream held, batch by batch. An [Event] is something that a listener
// was told, as a line of text. [Equivalent] compares a stream over random cuts of its input with an RDD of all of it.
//
//	func TestCounts(t *testing.T) {
//		kit := streamtest.New(t, streamtest.Options{})
//		words := streamtest.Input[string](kit)
//		counts := streamtest.Collect(kit, dstream.CountByValueAndWindow(words.Stream(), 2*time.Second, time.Second))
//		words.Push("ada", "bo")
//		kit.Advance(1)
//		words.Push("ada")
//		kit.Advance(1)
//		got := counts.Batch(2) // ada 2, bo 1
//	}
//
// Guarantees: Advance returns when every batch it made has been made, computed and committed, so
// whatever the test looks at next does not change under it. The same pushes give the same batches, in the
// same order within a batch, whatever the number of executors. A batch that fails, fails the test.
//
// Advance goes batch by batch. Tick moves the clock and does not wait; Step and AwaitEvent then go event by event, so
// that a test can look at a batch that is half done.
//
// New, Input, Collect and what moves the clock are for the goroutine of the test; Push may be called from any. The
// kit starts with the first Advance, so declare everything before it, and ends with the test.
//
// Not here: receivers and files, which a test can declare on Kit.Context beside the feeds; the system clock.
//
// Source: Zaharia et al., "Discretized Streams", SOSP 2013: batches are a deterministic function of their
// input.
package streamtest
