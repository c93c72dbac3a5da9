//go:build !unix

package proctest

import (
	"errors"
	"fmt"
)

// Pause returns an error: this system cannot pause a process.
func (p *Process) Pause() error {
	return fmt.Errorf("pause process %d: %w", p.Pid(), errors.ErrUnsupported)
}

// Resume returns an error, as Pause does.
func (p *Process) Resume() error {
	return fmt.Errorf("resume process %d: %w", p.Pid(), errors.ErrUnsupported)
}
