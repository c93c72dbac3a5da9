// Package proctest runs the processes of a program under test and hurts them: kills, pauses, and cuts of the network between them.
//
// A [Process] is a child process whose lines of output are handed to a function as they come. A [Proxy] stands between two processes and
// lets nothing through while it is cut, silently, as a network that is gone does.
//
//	p, err := proctest.Start(proctest.Options{Path: program, Args: []string{"-node", "1"}, Line: events.add})
//	if err != nil {
//		return err
//	}
//	defer p.Kill()
//	if err := p.Pause(); err != nil { // it believes that no time passes
//		return err
//	}
//	events.await(anotherLeads)
//	return p.Resume()
//
// Guarantees: Kill returns when the process is gone, and a process does not outlive the call that ends its test as long as that is Kill.
// Bytes that a Proxy has taken when it is cut are kept and go on when it is healed, in their order.
//
// Any goroutine may call anything.
//
// What is not here: pauses on Windows, where they are refused with [errors.ErrUnsupported]; loss of single packets; clocks.
//
// Source: Majumdar and Niksic, "Why is Random Testing Effective for Partition Tolerance Bugs?", POPL 2018, on cutting off leaders.
package proctest
