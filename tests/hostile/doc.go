// Package hostile holds programs and input that a framework must survive: functions that panic, end their
// goroutine or never return, keys that have no value, lineage without end, files that vanish, receivers
// that break their contract.
//
// Each test is one hazard. It asks for a typed error that names the place, or for recovery: never a hang, a
// lost or doubled record, or a goroutine that stays.
package hostile
