// Package receiverstest checks that a receiver keeps the contract of receivers.Receiver.
//
// # Nouns
//
// A [Source] is a receiver and what it will deliver. [Run] puts sources, each fresh from the same factory, through the
// conformance suite. A [Sink] records what it is given, and refuses or holds records on request. A [Clock] stands
// still until the test moves it. [Blocks] records blocks.
//
// # A program
//
//	func TestReceiver(t *testing.T) {
//		receiverstest.Run(t, func(t *testing.T) receiverstest.Source[int64] {
//			return receiverstest.Source[int64]{Receiver: counter.New(), Want: []int64{0, 1, 2, 3, 4, 5, 6, 7}}
//		})
//	}
//
// # Guarantees
//
// Every check fails for some receiver that breaks the rule it is about; the package's own tests run it on such
// receivers. Checks of sources without real I/O run inside testing/synctest: they take no real time, and a goroutine
// that a receiver leaves behind is a failure.
//
// # Who may call what
//
// Run is called from a test, outside of a synctest bubble. Sink, Clock and Blocks may be used from any goroutine.
//
// # What is not here
//
// What a source does about replays from one process to the next is its own and is tested beside it. Delays between
// starts, panics and the end of the goroutine are the supervisor's, and tested there.
package receiverstest
