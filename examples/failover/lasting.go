package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// What nodes of a lasting run do so that what they keep is the same after a while.
const (
	trailing  = 512              // entries of the log behind a snapshot, and between two
	remember  = 75 * time.Second // files of the text; longer than patience
	keptFiles = 1000             // of the text, after they were compared; of 100 s
	spares    = 2                // nodes that join and leave
)

// survived are the modes that a process survives.
var survived = []string{"partition", "pause", "transfer"}

// ofOthers are the modes that end other processes than the one that leads.
var ofOthers = []string{"recover", "restart", "standby", "upgrade"}

// lastingArgs are what a node of a lasting run is told besides.
func (c *group) lastingArgs() []string {
	return []string{"-tell", c.sample.String(), "-trailing", fmt.Sprint(trailing), "-remember", remember.String(), "-commit-delay", (c.batch / 8).String()}
}

// last hurts the nodes at random until the time is over, and looks at them in between: a fault after another, two before all is well again,
// none for a while, nodes that join and leave.
//
// After a quarter of the time one node's process is spared: it is hurt only in ways that a process survives, so that what it does not give back shows.
func (c *group) last(ctx context.Context, stdout io.Writer, took *times) error {
	begin := time.Now()
	w := newWatch(c, stdout, begin)
	for {
		passed := time.Since(begin)
		if passed > c.lasting/4 && c.spared == nil {
			c.spared = c.members()[0]
			fmt.Fprintf(stdout, "the process of node %d lives on\n", c.spared.number)
		}
		if err := c.settle(ctx); err != nil {
			return err
		}
		if err := w.look(len(*took)); err != nil || passed > c.lasting {
			return err
		}
		var err error
		switch c.rng.IntN(16) {
		case 0:
			err = pauseFor(ctx, c.upTo(15*time.Second))
		case 1:
			err = c.resize(ctx, stdout)
		case 2, 3, 4:
			if err = c.hurt(ctx, stdout, c.chance(true), took); err == nil {
				err = c.hurt(ctx, stdout, c.chance(false), took)
			}
		default:
			err = c.hurt(ctx, stdout, c.chance(true), took)
		}
		if err != nil {
			return err
		}
	}
}

// settle waits until all is well.
func (c *group) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return c.steady(ctx)
}

// upTo returns a random time up to one that is not much of the whole.
func (c *group) upTo(most time.Duration) time.Duration {
	return time.Duration(c.rng.Int64N(int64(min(most, c.lasting/10)) + 1))
}

// chance returns a fault. One in three comes while a batch is made visible, and some pauses and cuts are long.
func (c *group) chance(steady bool) fault {
	f := fault{mode: c.pick(), at: anywhere, steady: steady}
	if c.rng.IntN(3) == 0 {
		f.at = rollForward
	}
	if c.rng.IntN(4) == 0 {
		f.length = c.upTo(10 * time.Second)
	}
	return f
}

// bearable returns the mode, or another where it would end the process that is spared.
func (c *group) bearable(mode string, leader int) string {
	switch {
	case c.spared == nil:
		return mode
	case c.spared.number == leader && !slices.Contains(survived, mode):
		return survived[c.rng.IntN(len(survived))]
	case slices.Contains(ofOthers, mode):
		return "kill"
	}
	return mode
}

// resize lets nodes join or leave.
func (c *group) resize(ctx context.Context, stdout io.Writer) error {
	to := c.settings.nodes + c.rng.IntN(spares+1)
	for _, n := range c.nodes {
		if !n.member { // it joins as a new one
			if err := c.newDisk(n); err != nil {
				return err
			}
		}
	}
	for len(c.members()) > to {
		if leader, _ := c.board.leads(); c.spared != nil && leader == c.spared.number {
			break // it would be the one to leave
		}
		if err := c.shrinkTo(ctx, stdout, len(c.members())-1); err != nil {
			return err
		}
	}
	return c.growTo(ctx, stdout, to)
}
