package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/admin"
)

// A history is what the nodes have decided.
type history struct {
	batches int64
	times   []int64 // of the batches; nil where the logs do not begin at the beginning
	epochs  int
	entries uint64
}

// stop kills all members, starts them again, lets whoever leads stop the application once it has finished what it found, and ends all.
func (c *group) stop(ctx context.Context) error {
	_, epoch := c.board.leads()
	for _, n := range c.members() {
		n.proc.Kill()
	}
	for _, n := range c.members() {
		if err := c.start(n, finishes); err != nil {
			return err
		}
	}
	if err := c.board.await(ctx, "a leader after the restart of all", func() bool { return c.board.epoch > epoch }); err != nil {
		return err
	}
	// Who leads ends by itself, and so does who leads after it, as long as there are enough.
	for leader, was := -1, -2; leader != was; {
		was = leader
		leader, _ = c.board.leads()
		if err := c.nodes[leader].proc.Wait(ctx); err != nil {
			return fmt.Errorf("node %d did not stop in order: %w", leader, err)
		}
	}
	for _, n := range c.members() {
		if err := n.proc.Terminate(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
		if err := n.proc.Wait(ctx); err != nil {
			return fmt.Errorf("node %d did not stop in order: %w", n.number, err)
		}
	}
	return nil
}

// history starts the nodes once more, without the application, until all have the same log, kills them, and reads their folders.
func (c *group) history(ctx context.Context) (h history, err error) {
	for _, n := range c.members() {
		if err := c.start(n, follows); err != nil {
			return h, err
		}
	}
	if err := c.alike(ctx); err != nil {
		return h, err
	}
	for _, n := range c.members() {
		n.proc.Kill()
	}
	var digest [32]byte
	for i, n := range c.members() {
		var of history
		var got [32]byte
		if of, got, err = readHistory(c.raftFolder(n), c.lasting == 0); err != nil {
			return h, fmt.Errorf("node %d: %w", n.number, err)
		}
		switch {
		case i == 0:
			h, digest = of, got
		case got != digest || of.batches != h.batches || len(of.times) != len(h.times) || of.epochs != h.epochs:
			return h, fmt.Errorf("nodes %d and %d do not hold the same", c.members()[0].number, n.number)
		}
	}
	if c.lasting > 0 {
		h.epochs = c.board.epochsLed()
	}
	return h, nil
}

// alike waits until all members have applied the same, for a while.
func (c *group) alike(ctx context.Context) error {
	for round, index := 0, uint64(0); round < 3; round++ {
		for _, n := range c.members() {
			s, err := c.status(ctx, n, func(s admin.Status) bool { return s.Leader.ID != "" })
			if err != nil {
				return err
			}
			if s.Applied != index {
				round, index = 0, s.Applied
			}
		}
		if err := pauseFor(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// readHistory steps through all that a node's folder holds. Every batch must follow the one before, in number and in time. Of a log that is not
// whole only the state is looked at.
func readHistory(dir string, whole bool) (h history, digest [32]byte, err error) {
	var state driverlog.State
	var index, epoch uint64
	wrong := func(cmd driverlog.Command, why string) error {
		return fmt.Errorf("decision %d, %s of batch %d in epoch %d: %s", index, cmd.Kind, cmd.Batch, cmd.Epoch, why)
	}
	info, err := raftlog.Dump(dir, func(e raftlog.Entry) error {
		h.entries++
		if !whole {
			return nil
		}
		for _, cmd := range e.Commands {
			result, err := driverlog.Step(&state, state.Index+1, cmd)
			if err != nil || result.Duplicate {
				continue // it was refused, or says what was decided before
			}
			index++
			switch {
			case cmd.Kind == driverlog.LeaderStart && result.Epoch <= epoch:
				return wrong(cmd, "the epoch does not rise")
			case cmd.Kind == driverlog.LeaderStart:
				epoch, h.epochs = result.Epoch, h.epochs+1
			case cmd.Epoch != epoch:
				return wrong(cmd, fmt.Sprintf("it is not of epoch %d", epoch))
			case cmd.Kind == driverlog.Begin && cmd.Batch != int64(len(h.times)):
				return wrong(cmd, "batches are not dense")
			case cmd.Kind == driverlog.Begin && len(h.times) > 0 && cmd.Time <= h.times[len(h.times)-1]:
				return wrong(cmd, "its time does not rise")
			case cmd.Kind == driverlog.Begin:
				h.times = append(h.times, cmd.Time)
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return h, digest, err
	case whole && info.First != 1:
		return h, digest, fmt.Errorf("the log begins with entry %d", info.First)
	case len(info.State.Apps) != 1 || len(info.State.Apps[0].Open) > 0:
		return h, digest, fmt.Errorf("in epoch %d of %s, a batch was begun and not finished: %+v", epoch, info.State.Leader, info.State.Apps)
	}
	h.batches = info.State.Apps[0].Next
	digest = info.State.Digest()
	if whole && digest != state.Digest() {
		return h, digest, errors.New("the state is not what the commands come to")
	}
	return h, digest, nil
}

// ended returns an error if a process that was started is there still.
func (c *group) ended() error {
	for _, p := range c.started {
		select {
		case <-p.Ended():
		default:
			return fmt.Errorf("process %d is there still", p.Pid())
		}
	}
	return nil
}
