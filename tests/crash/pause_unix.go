//go:build unix

package main

import (
	"errors"
	"os"
	"syscall"
)

// pauseProcess stops a process, calls during, and lets it go on.
func pauseProcess(p *os.Process, during func() error) error {
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return errors.Join(during(), p.Signal(syscall.SIGCONT))
}
