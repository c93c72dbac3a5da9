package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

// A past is what the log of a node was that a recovery has cut off: it left its state only.
type past struct {
	state        driverlog.State
	index, epoch uint64
	history      history
}

// recover loses the folders of all nodes but one for good, makes that one the only member of its cluster, as `leat cluster recover` does, and
// starts it. The function that it returns lets new nodes take the places of the others.
//
// The one that is left is the one whose log ends latest, as Raft itself would choose it: with less, decisions of a majority would be lost.
func (c *group) recover(context.Context) (func(context.Context) error, error) {
	all := c.members()
	var left *node
	var most raftlog.Entry
	for _, n := range all {
		c.board.gone(n.number)
		n.proc.Kill()
	}
	for _, n := range all {
		last, err := lastEntry(c.raftFolder(n))
		if err != nil {
			return nil, err
		}
		if left == nil || last.Term > most.Term || last.Term == most.Term && last.Index > most.Index {
			left, most = n, last
		}
	}
	for _, n := range all {
		if n != left {
			n.member = false
			if err := c.newDisk(n); err != nil {
				return nil, err
			}
		}
	}
	if err := c.remember(left, most); err != nil {
		return nil, err
	}
	report, err := raftlog.Recover(c.raftFolder(left), raftlog.RecoverOptions{Address: left.address})
	if err != nil {
		return nil, err
	}
	if !strings.Contains(report.Warning, left.id) || len(report.Members) != len(all) {
		return nil, fmt.Errorf("node %d of %d members is recovered, and told is %q", left.number, len(report.Members), report.Warning)
	}
	if left.disk != nil { // what is remembered of its files has changed
		if err := errors.Join(left.disk.Close(), c.mountDisk(left)); err != nil {
			return nil, err
		}
	}
	fmt.Fprintf(c.stdout, "WARNING: %s\n", report.Warning)
	return func(ctx context.Context) error {
		for _, n := range all {
			if n == left {
				continue
			}
			if err := c.join(ctx, n, drives); err != nil {
				return err
			}
		}
		return nil
	}, c.start(left, drives)
}

// lastEntry returns the last entry of the log in a folder.
func lastEntry(dir string) (last raftlog.Entry, err error) {
	_, err = raftlog.Dump(dir, func(e raftlog.Entry) error { last = e; return nil })
	return last, err
}

// remember keeps what the log of a node says up to its last entry, before it is cut off. It must have what was said to be committed.
func (c *group) remember(n *node, last raftlog.Entry) error {
	p, err := c.steps(c.raftFolder(n))
	if err != nil {
		return err
	}
	if has := p.state.App(application).Last.ID; has < c.board.last() {
		return fmt.Errorf("node %d has batches up to %d, and batch %d was committed", n.number, has, c.board.last())
	}
	c.pasts[last.Index] = p
	return nil
}
