package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/admin"
)

// A history is what the nodes have decided.
type history struct {
	batches int64
	times   []int64 // of the batches; nil where the logs do not begin at the beginning
	// prepared are the epochs in which batches were prepared; nil as times.
	prepared map[int64]uint64
	epochs   int
	entries  uint64
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
		if of, got, err = c.readHistory(c.raftFolder(n)); err != nil {
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

// readHistory steps through all that a node's folder holds, and what was cut off before. Every batch must follow the one before, in number and in time.
// Of a log that is not whole only the state is looked at.
func (c *group) readHistory(dir string) (h history, digest [32]byte, err error) {
	p, err := c.steps(dir)
	switch {
	case err != nil:
		return h, digest, err
	case len(p.state.Apps) != 1 || len(p.state.Apps[0].Open) > 0:
		return h, digest, fmt.Errorf("in epoch %d of %s, a batch was begun and not finished: %+v", p.epoch, p.state.Leader, p.state.Apps)
	}
	p.history.batches = p.state.Apps[0].Next
	return p.history, p.state.Digest(), nil
}

// whole returns whether nothing is cut off from the logs but by a recovery.
func (c *group) whole() bool { return c.lasting == 0 }

// steps steps through the entries of a folder, from the first one of the cluster or from what a recovery has cut off.
func (c *group) steps(dir string) (p past, err error) {
	h := &p.history
	wrong := func(cmd driverlog.Command, why string) error {
		return fmt.Errorf("decision %d, %s of batch %d in epoch %d: %s", p.index, cmd.Kind, cmd.Batch, cmd.Epoch, why)
	}
	begun := false
	info, err := raftlog.Dump(dir, func(e raftlog.Entry) error {
		h.entries++
		if !c.whole() {
			return nil
		}
		if !begun && e.Index > 1 {
			was, ok := c.pasts[e.Index-1]
			if !ok {
				return fmt.Errorf("the log begins with entry %d", e.Index)
			}
			p = past{state: was.state.Clone(), index: was.index, epoch: was.epoch, history: was.history}
			h.times, h.prepared = slices.Clone(h.times), maps.Clone(h.prepared)
			h.entries++
		}
		begun = true
		for _, cmd := range e.Commands {
			result, err := driverlog.Step(&p.state, p.state.Index+1, cmd)
			if err != nil || result.Duplicate {
				continue // it was refused, or says what was decided before
			}
			p.index++
			switch {
			case cmd.Kind == driverlog.LeaderStart && result.Epoch <= p.epoch:
				return wrong(cmd, "the epoch does not rise")
			case cmd.Kind == driverlog.LeaderStart:
				p.epoch, h.epochs = result.Epoch, h.epochs+1
			case cmd.Epoch != p.epoch:
				return wrong(cmd, fmt.Sprintf("it is not of epoch %d", p.epoch))
			case cmd.Kind == driverlog.Begin && cmd.Batch != int64(len(h.times)):
				return wrong(cmd, "batches are not dense")
			case cmd.Kind == driverlog.Begin && len(h.times) > 0 && cmd.Time <= h.times[len(h.times)-1]:
				return wrong(cmd, "its time does not rise")
			case cmd.Kind == driverlog.Begin:
				h.times = append(h.times, cmd.Time)
			case cmd.Kind == driverlog.Prepared && h.prepared == nil:
				h.prepared = map[int64]uint64{cmd.Batch: cmd.Epoch}
			case cmd.Kind == driverlog.Prepared:
				h.prepared[cmd.Batch] = cmd.Epoch
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return p, err
	case !c.whole():
		p.state = info.State
	case info.State.Digest() != p.state.Digest():
		return p, errors.New("the state is not what the commands come to")
	}
	return p, nil
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
