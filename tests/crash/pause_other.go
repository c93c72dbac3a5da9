//go:build !unix

package main

import "os"

// pauseProcess calls during: the system cannot stop a process.
func pauseProcess(_ *os.Process, during func() error) error { return during() }
