package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/admin"
)

// compareWithBare kills the leaders of a group that has no application, and prints how long it takes until another leads. What a driver
// needs more than that is its own.
//
//	bare<TAB>kills<TAB>p50_ms<TAB>p90_ms<TAB>p99_ms<TAB>max_ms
func compareWithBare(ctx context.Context, stdout io.Writer, s settings) (err error) {
	s.dir, s.nodes, s.mode, s.at, s.grow = filepath.Join(s.dir, "bare"), max(s.nodes, 3), "kill", anywhere, false
	c, err := prepareCluster(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.found(ctx, c.nodes, leads); err != nil {
		return err
	}
	var took []time.Duration
	for range s.kills {
		one, err := c.killBare(ctx)
		if err != nil {
			return err
		}
		took = append(took, one)
	}
	slices.Sort(took)
	fmt.Fprintf(stdout, "bare\t%d\t%d\t%d\t%d\t%d\n", len(took), quantile(took, 50), quantile(took, 90), quantile(took, 99), quantile(took, 100))
	return nil
}

// killBare kills the leader, starts it again, and returns how long it took until another led.
func (c *group) killBare(ctx context.Context) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	b := c.board
	for _, n := range c.nodes {
		if _, err := c.status(ctx, n, func(s admin.Status) bool {
			leader, epoch := b.leads() // another may lead by now
			return s.Leader.ID == c.nodes[leader].id && s.Epoch == epoch
		}); err != nil {
			return 0, err
		}
	}
	if err := pauseFor(ctx, time.Second/2+time.Duration(c.rng.Int64N(int64(c.batch)))); err != nil {
		return 0, err
	}
	leader, epoch := b.leads()
	n := c.nodes[leader]
	begin := time.Now()
	n.proc.Kill()
	if err := b.await(ctx, "another leader", func() bool {
		took = b.led.Sub(begin)
		return b.epoch > epoch
	}); err != nil {
		return 0, err
	}
	return took, c.start(n, leads)
}
