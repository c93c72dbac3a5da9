package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/leat-io/leat/streamingcontext/streamtest/faultdisk"
)

// diskBound is how long a bad disk may keep the next batch.
const diskBound = 15 * time.Second

// The disk of a node goes bad: it does not answer, does not flush, or has no room. All of that ends the node, and another goes on.
var badDisks = map[string]harm{
	"hang": func(_ context.Context, c *group, n *node) (func(context.Context) error, error) {
		return c.spoil(n, faultdisk.Hung()), nil
	},
	"eio": func(_ context.Context, c *group, n *node) (func(context.Context) error, error) {
		return c.spoil(n, faultdisk.FlushErrors()), nil
	},
	"full": func(_ context.Context, c *group, n *node) (func(context.Context) error, error) {
		return c.spoil(n, faultdisk.Full()), nil
	},
	// One that stands by ends, and the leader does not notice. Then it hands over to one that is left.
	"standby": func(ctx context.Context, c *group, leader *node) (func(context.Context) error, error) {
		var n *node
		for _, n = range c.members() {
			if n != leader {
				break
			}
		}
		c.board.gone(n.number)
		undo := c.spoil(n, faultdisk.Full())
		if err := c.fallen(ctx, n); err != nil {
			return nil, err
		}
		first := c.board.last()
		if err := c.board.await(ctx, "batches without a node that stood by", func() bool { return c.board.batch >= first+between }); err != nil {
			return nil, err
		}
		return undo, c.ask(ctx, func(address string) error { return c.admin.Transfer(ctx, address, "") })
	},
}

// spoil spoils the disk of a node. The function it returns is for when another leads: the node must have ended by then, and stands by again once its disk
// is mended, and it started again.
func (c *group) spoil(n *node, f faultdisk.Fault) (undo func(ctx context.Context) error) {
	begin := time.Now()
	n.disk.Set(f)
	return func(ctx context.Context) error {
		if took := time.Since(begin); took > diskBound {
			return fmt.Errorf("with a bad disk, %s, another leads after %v, later than %v", f, took, diskBound)
		}
		if err := c.fallen(ctx, n); err != nil {
			return err
		}
		n.disk.Set(faultdisk.Fault{})
		// What hung goes on now and lands. Who wrote it is gone.
		var exit *exec.ExitError
		if err := n.proc.Wait(ctx); !errors.As(err, &exit) {
			return fmt.Errorf("node %d with a bad disk ended with %v, want an error", n.number, err)
		}
		if err := c.start(n, drives); err != nil {
			return err
		}
		return c.board.await(ctx, fmt.Sprintf("node %d to stand by again", n.number), func() bool { return c.board.standby[n.number] || c.board.leader == n.number })
	}
}

// fallen waits until a node with a bad disk has given up its part: the process is gone, or, where the kernel keeps it for a call that hangs, says that it has, or
// answers nobody.
func (c *group) fallen(ctx context.Context, n *node) error {
	for {
		status, err := c.admin.Status(ctx, n.address)
		if err == nil && status.Poisoned != "" || errors.Is(err, syscall.ECONNREFUSED) {
			return nil
		}
		select {
		case <-n.proc.Ended():
			return nil
		case <-ctx.Done():
			return fmt.Errorf("node %d with a bad disk goes on, %+v: %w", n.number, status, errors.Join(err, ctx.Err()))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// mountDisks gives every node a disk that can go bad, where the mode needs that. Where any mode will do it is done without.
func (c *group) mountDisks() error {
	if c.mode != mixed && badDisks[c.mode] == nil {
		return nil
	}
	if err := faultdisk.Available(); err != nil {
		if c.mode == mixed {
			return nil
		}
		return fmt.Errorf("-mode %s: %w", c.mode, err)
	}
	for _, n := range c.nodes {
		if err := c.mountDisk(n); err != nil {
			return err
		}
	}
	return nil
}

// mountDisk mounts the disk of a node where that has its folder.
func (c *group) mountDisk(n *node) (err error) {
	at := filepath.Join(c.dir, nameOf(n.number))
	real := realFolder(c.dir, n)
	if err := errors.Join(os.MkdirAll(at, 0o755), os.MkdirAll(real, 0o755)); err != nil {
		return err
	}
	n.disk, err = faultdisk.Mount(at, real)
	return err
}

// realFolder is what the disk of a node shows. This process reads there: it serves the disk, and must not wait for itself.
func realFolder(dir string, n *node) string { return filepath.Join(dir, "disks", nameOf(n.number)) }

// newDisk gives a node an empty folder, on a new disk if it had one.
func (c *group) newDisk(n *node) error {
	if n.disk == nil {
		return os.RemoveAll(c.folder(n))
	}
	if err := errors.Join(n.disk.Close(), os.RemoveAll(c.folder(n))); err != nil {
		return err
	}
	return c.mountDisk(n)
}
