package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/admin"
	"github.com/leat-io/leat/streamingcontext/streamtest/proctest"
)

// start starts a node, also one that was killed. The first node that was never started makes a cluster; any other waits to be joined.
func (c *group) start(n *node, do string) (err error) {
	var via []string
	for to, p := range n.via {
		if p != nil {
			via = append(via, c.nodes[to].address+"="+p.Addr())
		}
	}
	args := []string{"node", "-number", strconv.Itoa(n.number), "-dir", c.dir, "-listen", n.address, "-do", do,
		"-batch", c.batch.String(), "-via", strings.Join(via, ","), "-build", strconv.Itoa(n.build)}
	if n.number == 0 && n.id == "" {
		args = append(args, "-bootstrap")
	}
	if c.stall > 0 {
		args = append(args, "-stall", c.stall.String())
	}
	if c.at == rollForward {
		args = append(args, "-commit-delay", (c.batch / 4).String())
	}
	if c.lasting > 0 {
		args = append(args, c.lastingArgs()...)
	}
	if c.tls {
		tls, err := c.certify(nameOf(n.number))
		if err != nil {
			return err
		}
		args = append(args, "-certificates", filepath.Dir(tls.CA))
	}
	logged := n.errs
	switch {
	case logged != nil:
	case c.verbose:
		logged = os.Stderr
	default:
		file, err := os.OpenFile(filepath.Join(c.dir, nameOf(n.number)+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }() // the process has its own
		logged = file
	}
	opts := proctest.Options{Path: c.program, Args: args, Err: logged, Line: func(at time.Time, line string) { c.board.line(n.number, at, line) }}
	if c.lab != nil {
		opts = c.lab.On(n.number, opts)
	}
	n.proc, err = proctest.Start(opts)
	if err == nil {
		c.started = append(c.started, n.proc)
	}
	return err
}

// join starts a node and makes it a member. It is asked who it is, and whoever leads is asked to take it in.
func (c *group) join(ctx context.Context, n *node, do string) error {
	if err := c.start(n, do); err != nil {
		return err
	}
	status, err := c.status(ctx, n, func(admin.Status) bool { return true })
	if err != nil {
		return err
	}
	first := n.number == 0 && n.id == ""
	n.id, n.member = status.ID, true
	if first {
		return nil // it is a member of what it has made
	}
	return c.ask(ctx, func(address string) error {
		return c.admin.Join(ctx, address, admin.Member{ID: n.id, Address: n.address})
	})
}

// ask asks whoever leads until it is done: for a moment nobody may lead.
func (c *group) ask(ctx context.Context, request func(address string) error) error {
	for {
		leader, _ := c.board.leads()
		err := request(c.nodes[leader].address)
		if err == nil {
			return nil
		}
		if pauseFor(ctx, 50*time.Millisecond) != nil {
			return err
		}
	}
}

// status asks a node until the answer is right.
func (c *group) status(ctx context.Context, n *node, right func(admin.Status) bool) (admin.Status, error) {
	for {
		status, err := c.admin.Status(ctx, n.address)
		if err == nil && right(status) {
			return status, nil
		}
		select {
		case <-n.proc.Ended():
			return status, fmt.Errorf("node %d ended: %w", n.number, n.proc.Wait(ctx))
		case <-ctx.Done():
			return status, fmt.Errorf("status of node %d, %+v: %w", n.number, status, errors.Join(err, ctx.Err()))
		case <-time.After(10 * time.Millisecond):
		}
	}
}
