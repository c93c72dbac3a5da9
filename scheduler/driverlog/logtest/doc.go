// Package logtest is the conformance suite of driver logs: what every implementation of
// [driverlog.Log] must do, whatever keeps its commands.
//
// A [Factory] opens empty logs. It may be able to do more: a [Reopener] closes a log and opens what
// it kept, a [Crasher] does so without closing it, a [Copier] opens a copy of a log in use, a [Deposer] takes a term away. [Run] runs the cases that the factory allows, each as a
// subtest on a log of its own.
//
//	type factory struct{}
//
//	func (factory) Open(t *testing.T) driverlog.Log { return mylog.New(t.TempDir()) }
//
//	func TestConformance(t *testing.T) { logtest.Run(t, factory{}) }
//
// Guarantees: the suite uses no clock and waits only for the log. Run is called from the test's
// goroutine. Each case takes milliseconds on a log in memory and a few hundred to a few
// thousand commands on any.
//
// What is not here: damaged files, elections and everything else that only one implementation can
// suffer; they are tested beside it.
//
// Source: package driverlog.
package logtest
