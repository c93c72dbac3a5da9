package disk

import "fmt"

// An Op is one call.
type Op struct {
	N    int    // its number, from 1
	Kind string // "mkdir", "create", "write", "sync", "close", "open", "stat", "readdir", "link", "rename", "remove", "syncdir"
	Name string
}

// String returns the call.
func (o Op) String() string { return fmt.Sprintf("call %d: %s %s", o.N, o.Kind, o.Name) }

// When says whether a crash comes before or after the effect of its call.
type When int

// The moments of a crash.
const (
	Before When = iota
	After
)

// String returns the word.
func (w When) String() string {
	if w == Before {
		return "before"
	}
	return "after"
}

// CrashAt makes the n-th call from now the last one. It fails, before or after its effect, as do all that follow.
// Zero takes the plan back.
func (d *Disk) CrashAt(n int, when When) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.crashAt, d.when = d.calls+n, when
}

// FailAt makes the n-th call from now fail without an effect. Of a write half is written. Zero takes the
// plan back.
func (d *Disk) FailAt(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failAt = d.calls + n
}

// SetRoom says how many bytes can still be written; a name costs one. Less than 0 is no limit. Without room calls return
// syscall.ENOSPC, and a write writes what there is room for.
func (d *Disk) SetRoom(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.full, d.room = bytes >= 0, bytes
}

// Crashed reports whether the call of CrashAt has come.
func (d *Disk) Crashed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.crashed
}

// Calls returns how many calls there were.
func (d *Disk) Calls() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls
}

// Last returns the last call that had a chance of an effect.
func (d *Disk) Last() Op {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last
}
