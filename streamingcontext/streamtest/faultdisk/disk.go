package faultdisk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// A Disk shows a folder at another place, and goes bad when it is told to.
type Disk struct {
	dir     string
	gate    *gate
	unmount func() error
	closing sync.Once
	err     error
}

// Mount shows the folder real at dir, which must be there and is hidden by it meanwhile. What a process that has ended without Close has left
// mounted on dir is taken away first.
//
// Errors: *UnavailableError where there is no FUSE; those of the folders.
func Mount(dir, real string) (*Disk, error) {
	d := &Disk{gate: newGate()}
	var err error
	d.dir, err = filepath.Abs(dir)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err == nil {
		err = d.mount(real)
	}
	if err != nil {
		return nil, fmt.Errorf("mount %s on %s: %w", real, dir, err)
	}
	return d, nil
}

// Available returns nil if Mount works on this machine.
//
// Cost: a disk that is mounted and closed.
// Errors: *UnavailableError; those of a temporary folder.
func Available() (err error) {
	dir, err := os.MkdirTemp("", "faultdisk-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	at, real := filepath.Join(dir, "at"), filepath.Join(dir, "real")
	if err := errors.Join(os.Mkdir(at, 0o755), os.Mkdir(real, 0o755)); err != nil {
		return err
	}
	d, err := Mount(at, real)
	if err != nil {
		return err
	}
	return d.Close()
}

// Dir returns where the disk is mounted.
func (d *Disk) Dir() string { return d.dir }

// Set puts f in the place of the fault that the disk has. Calls that hang meet f then; the zero Fault lets them go on.
func (d *Disk) Set(f Fault) { d.gate.set(f) }

// Fault returns what is wrong with the disk.
func (d *Disk) Fault() Fault {
	f, _ := d.gate.now()
	return f
}

// Counts returns what became of the calls so far.
func (d *Disk) Counts() Counts {
	_, c := d.gate.now()
	return c
}

// AwaitHeld waits until a call hangs.
//
// Errors: ctx's.
func (d *Disk) AwaitHeld(ctx context.Context) error { return d.gate.awaitHeld(ctx) }

// Close takes the disk away from dir. Programs that use it are answered with errors, calls that hang too. It may be called again.
//
// Errors: those of the system.
func (d *Disk) Close() error {
	d.closing.Do(func() {
		d.gate.close()
		if err := d.unmount(); err != nil {
			d.err = fmt.Errorf("unmount %s: %w", d.dir, err)
		}
	})
	return d.err
}
