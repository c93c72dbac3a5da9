// Package generator is a receiver that makes its records from their index, at a chosen rate.
//
// # Nouns
//
// A [Receiver] stores record 0, 1, 2 and so on; record i is a function of i and nothing else. The rate is a schedule:
// with rate r, record i is due i/r seconds after the start.
//
// # A program
//
//	events, err := generator.New(func(i int64) Event { return Event{ID: i, User: i % 100} },
//		generator.Options{Rate: 10_000})
//
// # Guarantees
//
// Records are stored in the order of their index, each once: a receiver that is started again goes on with the first
// record that was not taken. A new process goes on where an old one stopped if it passes the old one's Next as
// Options.From. At the limit it stores no more and waits, since returning would only have it started again.
//
// # Who may call what
//
// Receive from one goroutine at a time; Next from any. The function is called from Receive's goroutine.
//
// # What is not here
//
// A cap on the rate: after push-back the receiver catches up with its schedule as fast as the sink takes records. The
// block generator's MaxRate is the cap. Random data: derive it from the index, for instance with
// rand.NewPCG(seed, uint64(i)), and a run can be repeated.
//
// Sources: Structured Streaming Programming Guide, "Input Sources", rate source.
package generator
