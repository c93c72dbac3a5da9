//go:build unix

package proctest

import "syscall"

// Pause stops the process where it is. It notices nothing, but that time has passed when it goes on.
func (p *Process) Pause() error { return p.signal("pause", syscall.SIGSTOP) }

// Resume lets a paused process go on.
func (p *Process) Resume() error { return p.signal("resume", syscall.SIGCONT) }
