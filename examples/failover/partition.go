package main

import (
	"errors"

	"github.com/leat-io/leat/streamingcontext/streamtest/proctest"
)

// isolate cuts a node off from the others: by the proxies between them, or in a lab of hosts by its cable or its routes, as it comes.
// A cable that is out says nothing; without a route it is told at once that it reaches nobody.
func (c *group) isolate(n *node) error {
	switch {
	case c.lab == nil:
		c.cut(n, true)
		return nil
	case c.rng.IntN(2) == 0:
		n.heal = func() error { return c.lab.Plug(n.number) }
		return c.lab.Unplug(n.number)
	}
	n.heal = func() error { return c.refuse(n, false) }
	return c.refuse(n, true)
}

// rejoin undoes isolate.
func (c *group) rejoin(n *node) error {
	if c.lab == nil {
		c.cut(n, false)
		return nil
	}
	return n.heal()
}

func (c *group) cut(n *node, cut bool) {
	for _, other := range c.nodes {
		if other != n {
			for _, p := range []*proctest.Proxy{other.via[n.number], n.via[other.number]} {
				p.Cut(cut, cut)
			}
		}
	}
}

// refuse takes the routes between a node and the others, or gives them back.
func (c *group) refuse(n *node, refused bool) error {
	var errs []error
	for _, other := range c.nodes {
		if other != n {
			errs = append(errs, c.lab.Refuse(n.number, other.number, refused), c.lab.Refuse(other.number, n.number, refused))
		}
	}
	return errors.Join(errs...)
}
