package rdd

import (
	"sync/atomic"

	"github.com/leat-io/leat/lineage"
)

// class is what the program declared about computing a node again.
type class struct {
	declared  atomic.Uint32 // a lineage.Determinism: the node is at least so bad
	sensitive atomic.Bool   // depends on the order of the rows it reads
}

// DeclareDeterminism declares what computing r again may change, apart from what its parents may: for a source
// that reads something that changes, or a function that answers differently each time. It returns r. Declare it
// before the first action.
//
// Source: Apache Spark calls it the output deterministic level of an RDD.
func DeclareDeterminism[T any](r *RDD[T], d lineage.Determinism) *RDD[T] {
	r.base.declare(d)
	return r
}

// DeclareOrderSensitive declares that r's records depend on the order of the records it is computed from, as
// those of a function that numbers them do: where parents may come in another order, r may hold other records.
// It returns r. Declare it before the first action.
func DeclareOrderSensitive[T any](r *RDD[T]) *RDD[T] {
	r.class.sensitive.Store(true)
	return r
}

func (b *base) declare(d lineage.Determinism) {
	if d = min(d, lineage.Indeterminate); d != lineage.Determinate {
		b.class.declared.Store(uint32(d))
		b.home.declared.Store(true)
	}
}

// Determinism returns what computing the RDD again may change: the worst of its parents and of what was
// declared. Buckets are read in the order of the map partitions, so a shuffle of a determinate parent is
// determinate. An operator that depends on the order of its rows makes other rows of unordered parents. A written
// checkpoint is determinate whatever it was made of.
//
// Cost: nothing while nothing is declared in the context, else one pass over the graph.
func (b *base) Determinism() lineage.Determinism {
	if !b.home.declared.Load() {
		return lineage.Determinate
	}
	type frame struct {
		node  lineage.Node
		deps  []lineage.Dep
		worst lineage.Determinism
	}
	open := func(n lineage.Node) frame {
		if o, ok := baseOf(n); ok && o.checkpoint.reader.Load() != nil {
			return frame{node: n}
		}
		return frame{node: n, deps: n.Deps()}
	}
	known := map[lineage.NodeID]lineage.Determinism{}
	stack := []frame{open(b)}
	for {
		top := &stack[len(stack)-1]
		if len(top.deps) > 0 {
			parent := top.deps[0].Parent
			if d, ok := known[parent.ID()]; ok {
				top.worst = max(top.worst, d)
				top.deps = top.deps[1:]
			} else {
				stack = append(stack, open(parent))
			}
			continue
		}
		d := own(top.node, top.worst)
		known[top.node.ID()] = d
		if stack = stack[:len(stack)-1]; len(stack) == 0 {
			return d
		}
	}
}

// own is the class of a node whose parents are as bad as worst.
func own(n lineage.Node, worst lineage.Determinism) lineage.Determinism {
	b, ok := baseOf(n)
	if !ok {
		if c, ok := n.(lineage.Classed); ok {
			return max(worst, c.Determinism())
		}
		return worst
	}
	if b.checkpoint.reader.Load() != nil {
		return lineage.Determinate
	}
	if worst == lineage.Unordered && b.orderSensitive() {
		worst = lineage.Indeterminate
	}
	return max(worst, lineage.Determinism(b.class.declared.Load()))
}

// orderSensitive reports whether the node's records depend on the order of those it reads. Operators are told by
// their names, which are the same in every process and build.
func (b *base) orderSensitive() bool {
	if b.class.sensitive.Load() {
		return true
	}
	switch b.op {
	case "repartition", "zipWithIndex", "zipWithUniqueID", // by position
		"zip", "zipPartitions", // row by row
		"sample", "randomSplit", "sampleByKey", "sampleByKeyExact": // a number is drawn for each row
		return true
	case "coalesce": // deals rows out where it shuffles
		deps := b.Deps()
		return len(deps) == 1 && deps[0].Shuffle != nil
	}
	return false
}

var _ lineage.Classed = (*base)(nil)
