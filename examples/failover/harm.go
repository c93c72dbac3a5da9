package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A harm is what is done to the node that leads; the function it returns undoes it once another leads.
type harm func(ctx context.Context, c *group, n *node) (undo func(ctx context.Context) error, err error)

var harms = map[string]harm{
	"kill": func(_ context.Context, c *group, n *node) (func(context.Context) error, error) {
		n.proc.Kill()
		again := func(context.Context) error { return c.start(n, drives) }
		if len(c.members()) == 1 {
			return nil, again(nil) // nobody else goes on
		}
		return again, nil
	},
	"pause": func(_ context.Context, _ *group, n *node) (func(context.Context) error, error) {
		return func(context.Context) error { return n.proc.Resume() }, n.proc.Pause()
	},
	"partition": func(_ context.Context, c *group, n *node) (func(context.Context) error, error) {
		return func(context.Context) error { return c.rejoin(n) }, c.isolate(n)
	},
	"transfer": func(ctx context.Context, c *group, _ *node) (func(context.Context) error, error) {
		return nil, c.ask(ctx, func(address string) error { return c.admin.Transfer(ctx, address, "") })
	},
	// A planned stop lets another lead.
	"terminate": func(_ context.Context, c *group, n *node) (func(context.Context) error, error) {
		return func(ctx context.Context) error {
			if err := n.proc.Wait(ctx); err != nil {
				return fmt.Errorf("node %d did not stop in order: %w", n.number, err)
			}
			return c.start(n, drives)
		}, n.proc.Terminate()
	},
	"upgrade": upgrade,
	// All are gone at once, and come back.
	"restart": func(_ context.Context, c *group, _ *node) (func(context.Context) error, error) {
		var errs []error
		for _, n := range c.members() {
			c.board.gone(n.number)
			n.proc.Kill()
		}
		for _, n := range c.members() {
			errs = append(errs, c.start(n, drives))
		}
		return nil, errors.Join(errs...)
	},
	// The machine is gone with its disk. A new one takes its place.
	"disk": func(_ context.Context, c *group, n *node) (func(context.Context) error, error) {
		n.proc.Kill()
		return func(ctx context.Context) error {
			if err := c.ask(ctx, func(address string) error { return c.admin.Remove(ctx, address, n.id) }); err != nil {
				return err
			}
			if err := c.newDisk(n); err != nil {
				return err
			}
			return c.join(ctx, n, drives)
		}, nil
	},
	// All machines but one are gone with their disks.
	"recover": func(ctx context.Context, c *group, _ *node) (func(context.Context) error, error) {
		return c.recover(ctx)
	},
}

// mixed is the mode that is any of the others each time.
const mixed = "mixed"

func modes() string {
	return strings.Join(append(slices.Sorted(maps.Keys(harms)), slices.Sorted(maps.Keys(badDisks))...), ", ") + ", " + mixed
}

// harmOf returns what a mode does, nil if there is none of that name.
func harmOf(mode string) harm {
	if h := badDisks[mode]; h != nil {
		return h
	}
	return harms[mode]
}

// pick returns what is to be done next; of mixed, all once in an order by chance, and again.
func (c *group) pick() (next string) {
	if c.mode != mixed {
		return c.mode
	}
	if len(c.order) == 0 {
		c.order = slices.Sorted(maps.Keys(harms))
		if c.nodes[0].disk != nil {
			c.order = append(c.order, slices.Sorted(maps.Keys(badDisks))...)
		}
		c.rng.Shuffle(len(c.order), func(i, j int) { c.order[i], c.order[j] = c.order[j], c.order[i] })
	}
	next, c.order = c.order[0], c.order[1:]
	return next
}
