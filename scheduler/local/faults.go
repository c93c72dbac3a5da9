package local

import "math/rand/v2"

// Damage damages something that an executor holds, both chosen by rng, as a failing memory or disk would, and
// tells nobody. It reports whether there was something. For tests.
func (c *Cluster) Damage(rng *rand.Rand) bool {
	c.mu.Lock()
	nodes := make([]*node, 0, len(c.order))
	for _, id := range c.order {
		nodes = append(nodes, c.nodes[id])
	}
	c.mu.Unlock()
	rng.Shuffle(len(nodes), func(i, k int) { nodes[i], nodes[k] = nodes[k], nodes[i] })
	for _, n := range nodes {
		if n.Executor.Damage(rng) {
			return true
		}
	}
	return false
}

// Files returns the files of the cluster, in order: blocks on disk, and what tasks write. The lock of its
// folder is not among them.
func (c *Cluster) Files() []string { return c.folder.files() }

// Memory returns the bytes that tasks have reserved and that blocks in memory take, on all executors.
func (c *Cluster) Memory() (reserved, stored int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		r, s := n.Executor.Memory()
		reserved, stored = reserved+r, stored+s
	}
	return reserved, stored
}
