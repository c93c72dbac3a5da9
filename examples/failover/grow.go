package main

import (
	"context"
	"fmt"
	"io"
)

// growTo lets nodes join until there are so many, while batches are made.
func (c *group) growTo(ctx context.Context, stdout io.Writer, nodes int) error {
	for _, n := range c.nodes {
		if n.member || len(c.members()) >= nodes {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if err := c.steady(ctx); err != nil {
			return err
		}
		if err := c.join(ctx, n, drives); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "node %d has joined, %d nodes\n", n.number, len(c.members()))
	}
	return nil
}

// shrinkTo removes nodes until there are so many, the one that leads first, and stops them in order.
func (c *group) shrinkTo(ctx context.Context, stdout io.Writer, nodes int) error {
	for len(c.members()) > nodes {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if err := c.steady(ctx); err != nil {
			return err
		}
		leader, _ := c.board.leads()
		n := c.nodes[leader]
		if err := c.ask(ctx, func(address string) error { return c.admin.Remove(ctx, address, n.id) }); err != nil {
			return err
		}
		n.member = false
		c.board.gone(n.number)
		if err := n.proc.Terminate(); err != nil {
			return err
		}
		if err := n.proc.Wait(ctx); err != nil {
			return fmt.Errorf("node %d, which is no member any more: %w", n.number, err)
		}
		fmt.Fprintf(stdout, "node %d has left, %d nodes\n", n.number, len(c.members()))
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return c.steady(ctx)
}
