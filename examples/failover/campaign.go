package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/leat-io/leat/streamingcontext/streamtest/proctest"
)

// between is how many batches are committed between two faults.
const between = 5

// A harm is what is done to the node that leads; the function it returns undoes it once another leads.
type harm func(ctx context.Context, c *cluster, n *node) (undo func() error, err error)

var harms = map[string]harm{
	"kill": func(_ context.Context, c *cluster, n *node) (func() error, error) {
		n.proc.Kill()
		if c.settings.nodes == 1 {
			return nil, c.start(n) // nobody else goes on
		}
		return func() error { return c.start(n) }, nil
	},
	"pause": func(_ context.Context, _ *cluster, n *node) (func() error, error) {
		return n.proc.Resume, n.proc.Pause()
	},
	"partition": func(_ context.Context, c *cluster, n *node) (func() error, error) {
		c.isolate(n, true)
		return func() error { c.isolate(n, false); return nil }, nil
	},
	"transfer": func(ctx context.Context, c *cluster, n *node) (func() error, error) {
		return nil, c.admin.Transfer(ctx, n.address, "")
	},
}

// isolate cuts a node off from the others, or lets it be heard again.
func (c *cluster) isolate(n *node, cut bool) {
	for _, other := range c.nodes {
		if other != n {
			for _, p := range []*proctest.Proxy{other.via[n.number], n.via[other.number]} {
				p.Cut(cut, cut)
			}
		}
	}
}

// campaign feeds the text and hurts the nodes. It returns how long each fault kept the next batch.
func (c *cluster) campaign(ctx context.Context, stdout io.Writer, s settings) (times []time.Duration, err error) {
	stop, fed := make(chan struct{}), make(chan error, 1)
	go func() { fed <- c.text.feed(s.lines, stop) }()
	for i := range s.kills {
		var took time.Duration
		if took, err = c.hurt(ctx, stdout, i); err != nil {
			break
		}
		times = append(times, took)
	}
	close(stop)
	if err := errors.Join(err, <-fed); err != nil {
		return times, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return times, c.caughtUp(ctx)
}

// hurt hurts the leader once, waits until another has committed a batch, and undoes it.
func (c *cluster) hurt(ctx context.Context, stdout io.Writer, i int) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := c.steady(ctx); err != nil {
		return 0, err
	}
	b := c.board
	// At any moment of a batch.
	if err := pauseFor(ctx, time.Duration(c.rng.Int64N(int64(c.batch)))); err != nil {
		return 0, err
	}
	leader, epoch := b.leads()
	n := c.nodes[leader]
	b.gone(leader)
	begin := time.Now()
	undo, err := harms[c.mode](ctx, c, n)
	if err != nil {
		return 0, err
	}
	var batch int64
	var next int
	if err := b.await(ctx, "a batch of another leader", func() bool {
		took, batch, next = b.at.Sub(begin), b.batch, b.leader
		return b.by > epoch
	}); err != nil {
		return 0, err
	}
	fmt.Fprintf(stdout, "%s %d: node %d of epoch %d, batch %d by node %d after %d ms\n", c.mode, i+1, leader, epoch, batch, next, took.Milliseconds())
	if undo != nil {
		err = undo()
	}
	return took, err
}

// steady waits until all nodes but the leader stand by, and the leader has committed some batches.
func (c *cluster) steady(ctx context.Context) error {
	b := c.board
	b.mu.Lock()
	first := b.batch
	b.mu.Unlock()
	return b.await(ctx, "nodes that stand by", func() bool {
		for _, n := range c.nodes {
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
