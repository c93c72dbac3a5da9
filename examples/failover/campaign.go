package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// between is how many batches are committed between two faults.
const between = 5

// campaign feeds the text and hurts the nodes. It returns how long each fault kept the next batch.
func (c *group) campaign(ctx context.Context, stdout io.Writer) (took times, err error) {
	stop, fed := make(chan struct{}), make(chan error, 1)
	go func() { fed <- c.text.feed(c.lines, stop) }()
	err = c.act(ctx, stdout, &took)
	close(stop)
	if err := errors.Join(err, <-fed); err != nil {
		return took, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if c.live != nil {
		c.counted, c.next = c.live.words, c.live.next
	}
	return took, c.caughtUp(ctx, c.text.words)
}

// act does what is to be done while text comes.
func (c *group) act(ctx context.Context, stdout io.Writer, took *times) error {
	if c.grow {
		if err := c.growTo(ctx, stdout, c.settings.nodes); err != nil {
			return err
		}
	}
	if c.lasting > 0 {
		return c.last(ctx, stdout, took)
	}
	for range c.kills {
		if err := c.hurt(ctx, stdout, fault{c.pick(), c.at, c.length, true}, took); err != nil {
			return err
		}
	}
	if c.grow {
		return c.shrinkTo(ctx, stdout, 1)
	}
	return nil
}

// A fault is what is done to a leader.
type fault struct {
	mode, at string
	length   time.Duration // of a pause or a cut, at least
	steady   bool          // not before all is well
}

// hurt hurts the leader once, waits until another has committed a batch, and undoes it.
func (c *group) hurt(ctx context.Context, stdout io.Writer, f fault, t *times) error {
	ctx, cancel := context.WithTimeout(ctx, patience+f.length)
	defer cancel()
	if f.steady {
		if err := c.steady(ctx); err != nil {
			return err
		}
	}
	leader, epoch, hit, err := c.moment(ctx, f.at)
	if err != nil {
		return err
	}
	b, n, mode := c.board, c.nodes[leader], c.bearable(f.mode, leader)
	b.gone(leader)
	begin := time.Now()
	undo, err := harmOf(mode)(ctx, c, n)
	if err != nil {
		return fmt.Errorf("%s node %d: %w", mode, leader, err)
	}
	if c.rolled != nil {
		fmt.Fprintln(stdout, c.rolled.said)
		begin, c.rolled = c.rolled.begin, nil
	}
	var took time.Duration
	var batch int64
	var next int
	if err := b.await(ctx, "a batch of another leader", func() bool {
		took, batch, next = b.at.Sub(begin), b.batch, b.leader
		return b.by > epoch && took > 0
	}); err != nil {
		return fmt.Errorf("after %s of node %d: %w", mode, leader, err)
	}
	t.add(mode, took)
	fmt.Fprintf(stdout, "%s %d: node %d of epoch %d%s, batch %d by node %d after %d ms\n", mode, len(*t), leader, epoch, hit, batch, next, took.Milliseconds())
	if undo == nil {
		return nil
	}
	if f.length == 0 || mode != "pause" && mode != "partition" {
		return undo(ctx)
	}
	if err := pauseFor(ctx, time.Until(begin.Add(f.length))); err != nil {
		return err
	}
	return c.unchanged(ctx, batch, func() error {
		if err := undo(ctx); err != nil {
			return err
		}
		return b.await(ctx, fmt.Sprintf("node %d to stand by again", leader), func() bool { return b.standby[leader] || b.leader == leader })
	})
}

// moment waits for the moment at which the leader is to be hurt: any within a batch, or when it says that it makes one visible.
func (c *group) moment(ctx context.Context, at string) (leader int, epoch uint64, hit string, err error) {
	if at == anywhere {
		if err := pauseFor(ctx, time.Duration(c.rng.Int64N(int64(c.batch)))); err != nil {
			return 0, 0, "", err
		}
		leader, epoch = c.board.leads()
		return leader, epoch, "", nil
	}
	b, batch := c.board, int64(0)
	err = b.await(ctx, "a batch to be made visible", func() bool {
		leader, epoch, batch = b.leader, b.epoch, b.committing
		return batch >= 0
	})
	return leader, epoch, fmt.Sprintf(" in the commit of batch %d", batch), err
}

// unchanged fails if what the sink shows of the batches up to one is not the same before and after do.
func (c *group) unchanged(ctx context.Context, upTo int64, do func() error) error {
	before, err := c.imprint(upTo)
	if err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	after, err := c.imprint(upTo)
	if err == nil && before != after {
		err = fmt.Errorf("what the sink shows of batches up to %d has changed", upTo)
	}
	return err
}

// steady waits until all nodes but the leader stand by, and the leader has committed some batches.
func (c *group) steady(ctx context.Context) error {
	b := c.board
	first := b.last()
	return b.await(ctx, "nodes that stand by", func() bool {
		for _, n := range c.members() {
			if n.number != b.leader && !b.standby[n.number] {
				return false
			}
		}
		return b.batch >= first+between && b.by == b.epoch
	})
}

// pauseFor waits.
func pauseFor(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
