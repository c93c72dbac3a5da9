// Package sinktest is the conformance suite of sinks: what every implementation of [sink.Sink] that promises each row once must
// do, whatever keeps its rows.
//
// A [Target] is a sink on storage of its own, with a way to open that storage again, as another process would, and to read what
// is committed, as a stranger would. [Run] makes one for each case, each a subtest.
//
//	func TestConformance(t *testing.T) {
//		sinktest.Run(t, func(t *testing.T) sinktest.Target[string] {
//			dir := t.TempDir()
//			open := func() sink.Sink[string] { return mysink.New(dir) }
//			return sinktest.Target[string]{
//				Sink:   open(),
//				Reopen: open,
//				Rows:   func() ([]sinktest.Row[string], error) { return readAll(dir) },
//				Value:  strconv.Itoa,
//			}
//		})
//	}
//
// Guarantees: the suite uses no clock and waits only for the sink. Run is called from the test's goroutine. No case has more than a
// few dozen batches. Rows is called beside Commit.
//
// What is not here: crashes, full disks and damage; package disk of this one helps to test them beside the sink. Sinks that
// promise less than each row once.
//
// Source: package sink.
package sinktest
