package schedulertest

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/lineage"
)

// A Graph makes nodes with ordinals from 0 within Scope.
type Graph struct {
	Scope lineage.Scope
	next  int32
}

// A Node is a lineage node over rows of int64.
type Node struct {
	// Hook, if set, is called before a partition is computed (not when a persisted one is read), within
	// the task. Its error fails the task. Set it before the first job.
	Hook func(ctx context.Context, env lineage.Env, part int) error
	// Places, if set, names where the partitions are better computed. Set it before the first job.
	Places func(part int) []string
	// Err, if set, is what NumPartitions answers.
	Err error
	// Class is the determinism of what the node itself does. Set it before the first job.
	Class lineage.Determinism

	id      lineage.NodeID
	name    string
	parts   int
	deps    []lineage.Dep
	persist bool
	compute func(ctx context.Context, env lineage.Env, part int) ([]int64, error)
}

var (
	_ lineage.Node    = (*Node)(nil)
	_ lineage.Classed = (*Node)(nil)
)

// ID returns the node's id.
func (n *Node) ID() lineage.NodeID { return n.id }

// Op returns the name the node was made with.
func (n *Node) Op() string { return n.name }

// Site returns a made-up place in a made-up file.
func (n *Node) Site() string { return fmt.Sprintf("%s.go:1", n.name) }

// NumPartitions returns the partition count, or Err.
func (n *Node) NumPartitions() (int, error) { return n.parts, n.Err }

// Deps returns the dependencies.
func (n *Node) Deps() []lineage.Dep { return n.deps }

// Determinism returns the worst of the node's class and its parents'.
func (n *Node) Determinism() lineage.Determinism {
	worst := n.Class
	for _, d := range n.deps {
		if c, ok := d.Parent.(lineage.Classed); ok {
			worst = max(worst, c.Determinism())
		}
	}
	return worst
}

// Preferred returns what Places says.
func (n *Node) Preferred(part int) []string {
	if n.Places == nil {
		return nil
	}
	return n.Places(part)
}

// Persist marks the node's partitions to be kept, and returns the node.
func (n *Node) Persist() *Node {
	n.persist = true
	return n
}

// Rows returns the rows of a partition, from within a task.
func (n *Node) Rows(ctx context.Context, env lineage.Env, part int) ([]int64, error) {
	compute := func() ([]int64, error) {
		if n.Hook != nil {
			if err := n.Hook(ctx, env, part); err != nil {
				return nil, err
			}
		}
		return n.compute(ctx, env, part)
	}
	if !n.persist {
		return compute()
	}
	var rows []int64
	p := lineage.Persistence{Level: lineage.StorageLevel{Memory: true, Deserialized: true}, Codec: Codec{}}
	err := env.Persisted(ctx, n.id, part, p, func(put func(lineage.Block) error) error {
		rows, err := compute()
		if err != nil || len(rows) == 0 {
			return err
		}
		return put(rows)
	}, func(b lineage.Block) error {
		rows = append(rows, b.([]int64)...)
		return nil
	})
	return rows, err
}

func (g *Graph) node(name string, parts int, deps ...lineage.Dep) *Node {
	n := &Node{id: lineage.NodeID{Scope: g.Scope, Ordinal: g.next}, name: name, parts: parts, deps: deps}
	g.next++
	return n
}

// Source returns a node whose partitions hold what rows returns.
func (g *Graph) Source(name string, parts int, rows func(part int) []int64) *Node {
	n := g.node(name, parts)
	n.compute = func(ctx context.Context, env lineage.Env, part int) ([]int64, error) { return rows(part), nil }
	return n
}

// Map returns a node with f applied to every row of parent.
func (g *Graph) Map(name string, parent *Node, f func(row int64) int64) *Node {
	n := g.node(name, parent.parts, lineage.OneToOne(parent))
	n.compute = func(ctx context.Context, env lineage.Env, part int) ([]int64, error) {
		rows, err := parent.Rows(ctx, env, part)
		if err != nil {
			return nil, err
		}
		out := make([]int64, len(rows))
		for i, r := range rows {
			out[i] = f(r)
		}
		return out, nil
	}
	return n
}

// Union returns a node with the partitions of a, then those of b.
func (g *Graph) Union(name string, a, b *Node) *Node {
	n := g.node(name, a.parts+b.parts, lineage.Range(a, 0, a.parts), lineage.Range(b, a.parts, b.parts))
	n.compute = func(ctx context.Context, env lineage.Env, part int) ([]int64, error) {
		if part < a.parts {
			return a.Rows(ctx, env, part)
		}
		return b.Rows(ctx, env, part-a.parts)
	}
	return n
}

// Zip returns a node whose partition i holds the rows of partition i of a, then those of b, which must have as
// many partitions.
func (g *Graph) Zip(name string, a, b *Node) *Node {
	n := g.node(name, a.parts, lineage.OneToOne(a), lineage.OneToOne(b))
	n.compute = func(ctx context.Context, env lineage.Env, part int) ([]int64, error) {
		rows, err := a.Rows(ctx, env, part)
		if err != nil {
			return nil, err
		}
		more, err := b.Rows(ctx, env, part)
		return append(rows[:len(rows):len(rows)], more...), err
	}
	return n
}

// Shuffle returns a node whose partition r holds the rows of parent that are r modulo reducers, in
// the order of parent's partitions.
func (g *Graph) Shuffle(name string, parent *Node, reducers int) *Node {
	n := g.node(name, reducers)
	s := &lineage.Shuffle{ID: lineage.ShuffleID{Node: n.id}, Parent: parent, NumReducers: reducers, Codec: Codec{}}
	s.Write = func(ctx context.Context, env lineage.Env, part int, out lineage.Buckets) error {
		rows, err := parent.Rows(ctx, env, part)
		if err != nil {
			return err
		}
		buckets := make([][]int64, reducers)
		for _, row := range rows {
			r := (row%int64(reducers) + int64(reducers)) % int64(reducers)
			buckets[r] = append(buckets[r], row)
		}
		for r, b := range buckets {
			if len(b) == 0 {
				continue
			}
			if err := out.Put(r, b); err != nil {
				return err
			}
		}
		return nil
	}
	n.deps = []lineage.Dep{{Parent: parent, Shuffle: s}}
	n.compute = func(ctx context.Context, env lineage.Env, part int) ([]int64, error) {
		var rows []int64
		err := env.Fetch(ctx, s, part, func(_ int, b lineage.Block) error {
			rows = append(rows, b.([]int64)...)
			return nil
		})
		return rows, err
	}
	return n
}

// ShuffleOf returns the shuffle that a node made by Shuffle reads.
func (n *Node) ShuffleOf() *lineage.Shuffle {
	for _, d := range n.deps {
		if d.Shuffle != nil {
			return d.Shuffle
		}
	}
	return nil
}
