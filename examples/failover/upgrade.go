package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/rdd"
)

// Builds of the program, as a node is told by -build.
const (
	firstBuild  = 1
	secondBuild = 2 // functions and a name have changed, and the rows have a sign; the state is the same by its UID
	brokenBuild = 3 // the window is longer: it needs batches that are forgotten
)

// rowOf returns how a build writes a count, which is the same number for whoever reads it.
func rowOf(build int) func(p rdd.Pair[string, int64]) string {
	if build == secondBuild {
		return func(p rdd.Pair[string, int64]) string { return fmt.Sprintf("%s\t%+d", p.Key, p.Value) }
	}
	return row
}

// totalOf returns how a build adds to a total.
func totalOf(build int) func(counts []int64, old rdd.Option[int64]) rdd.Option[int64] {
	if build == secondBuild {
		return func(counts []int64, old rdd.Option[int64]) rdd.Option[int64] {
			total := old.Value
			for i := len(counts) - 1; i >= 0; i-- {
				total += counts[i]
			}
			return rdd.Option[int64]{Value: total, OK: true}
		}
	}
	return func(counts []int64, old rdd.Option[int64]) rdd.Option[int64] {
		for _, n := range counts {
			old.Value += n
		}
		return rdd.Option[int64]{Value: old.Value, OK: true}
	}
}

// nameOfTotals is what a build calls the running totals.
func nameOfTotals(build int) string {
	if build == secondBuild {
		return "running totals"
	}
	return "totals"
}

// windowOf is how many batch intervals the window of a build has.
func windowOf(build int) int {
	if build == brokenBuild {
		return windowBatches + 1
	}
	return windowBatches
}

// A rolled upgrade is one that has come to the leader.
type rolled struct {
	said  string
	begin time.Time // when the leader was stopped
}

// upgrade replaces the program on all nodes by its other build, while batches are made: on those that stand by, and then on the one that leads,
// which hands over. Before that a build that cannot go on is tried on one of them, and must be refused.
func upgrade(ctx context.Context, c *group, leader *node) (undo func(ctx context.Context) error, err error) {
	to := firstBuild + secondBuild - leader.build
	said := ""
	for _, n := range c.members() {
		if n == leader {
			continue
		}
		if err := c.end(ctx, n); err != nil {
			return nil, err
		}
		if said == "" {
			if said, err = c.refused(ctx, n); err != nil {
				return nil, err
			}
		}
		if err := c.begin(ctx, n, to); err != nil {
			return nil, err
		}
	}
	c.rolled = &rolled{said: fmt.Sprintf("build %d on %d nodes; build %d %s", to, len(c.members()), brokenBuild, said), begin: time.Now()}
	if err := leader.proc.Terminate(); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		if err := c.end(ctx, leader); err != nil {
			return err
		}
		return c.begin(ctx, leader, to)
	}, nil
}

// end stops a node in order.
func (c *group) end(ctx context.Context, n *node) error {
	c.board.gone(n.number)
	if err := n.proc.Terminate(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if err := n.proc.Wait(ctx); err != nil {
		return fmt.Errorf("node %d did not stop in order: %w", n.number, err)
	}
	return nil
}

// begin starts a node with a build, and waits until it stands by.
func (c *group) begin(ctx context.Context, n *node, build int) error {
	n.build = build
	if err := c.start(n, drives); err != nil {
		return err
	}
	return c.board.await(ctx, fmt.Sprintf("node %d of build %d to stand by", n.number, build), func() bool { return c.board.standby[n.number] })
}

// differs is how the node of the graph is named in which a build differs.
var differs = regexp.MustCompile(`the program has changed at node \d+: it was [^"\n]*`)

// refused starts a node with a build that cannot go on, and returns what it is refused with, while the others go on.
func (c *group) refused(ctx context.Context, n *node) (said string, err error) {
	var printed bytes.Buffer
	was := n.build
	n.build, n.errs = brokenBuild, &printed
	defer func() { n.build, n.errs = was, nil }()
	if err := c.start(n, drives); err != nil {
		return "", err
	}
	batch := c.board.last()
	if err := n.proc.Wait(ctx); err == nil || ctx.Err() != nil {
		return "", fmt.Errorf("node %d of a build that cannot go on ends with %v", n.number, err)
	}
	if said = differs.FindString(printed.String()); said == "" {
		return "", fmt.Errorf("node %d of a build that cannot go on says %s", n.number, &printed)
	}
	stood := false
	err = c.board.await(ctx, "batches while a node is refused", func() bool {
		stood = c.board.standby[n.number]
		return c.board.batch > batch
	})
	if err == nil && stood {
		err = fmt.Errorf("node %d of a build that cannot go on stood by", n.number)
	}
	return fmt.Sprintf("is refused on node %d: %s", n.number, said), err
}

// checkBuilds checks that the rows of each batch are all of one build, that of the term in which it was prepared, and returns how many batches each
// build has prepared.
func (c *group) checkBuilds(h history) (batches map[int]int, err error) {
	of, batches := map[int64]int{}, map[int]int{} // builds by batch, and batches by build
	for row, err := range files.Read(c.out(), files.ReadOptions{}) {
		if err != nil {
			return nil, err
		}
		build := firstBuild
		if _, count, _ := strings.Cut(string(row.Line), "\t"); strings.HasPrefix(count, "+") {
			build = secondBuild
		}
		was, ok := of[row.Batch]
		if ok && was != build {
			return nil, fmt.Errorf("batch %d has rows of builds %d and %d", row.Batch, was, build)
		}
		if of[row.Batch] = build; !ok {
			batches[build]++
		}
	}
	if h.prepared == nil {
		return batches, nil
	}
	ran := map[uint64]int{}
	for _, batch := range slices.Sorted(maps.Keys(of)) {
		epoch := h.prepared[batch]
		if was, ok := ran[epoch]; epoch == 0 || ok && was != of[batch] {
			return nil, fmt.Errorf("batch %d, prepared in epoch %d of build %d, has rows of build %d", batch, epoch, was, of[batch])
		}
		ran[epoch] = of[batch]
	}
	return batches, nil
}
