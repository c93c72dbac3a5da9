package scheduler

import "github.com/leat-io/leat/lineage"

// outdated reports whether what was made of the narrow ancestors of a node at epoch, or later, is of rows
// that have been dropped since and written anew. Nothing is before the first roll back.
func (l *loop) outdated(node lineage.Node, epoch int64) bool {
	if !l.registry.rolledBack {
		return false
	}
	dropped := false
	_ = guard(func() error { // a dependency that panics does so in the task as well
		for _, sh := range lineage.ShuffleParents(node, nil) {
			o := l.registry.shuffle(sh.ID)
			dropped = dropped || o != nil && epoch < o.dropped
		}
		return nil
	})
	return dropped
}

// outdatedKept returns the nodes a task on node computes of which outdated partitions are kept.
func (l *loop) outdatedKept(node lineage.Node) (ids []lineage.NodeID) {
	if !l.registry.rolledBack || l.registry.cached == 0 {
		return nil
	}
	_ = guard(func() error {
		walkNarrow(node, func(n lineage.Node) bool {
			if since, some := l.registry.keptSince(n.ID()); some && l.outdated(n, since) {
				ids = append(ids, n.ID())
			}
			return true
		})
		return nil
	})
	return ids
}

// refresh drops, for a stage that is new, outputs and persisted partitions of rows that have been
// dropped since: no active job had a stage that made them when that happened.
func (l *loop) refresh(st *stage) {
	if !l.registry.rolledBack {
		return
	}
	if st.shuffle != nil && st.outputs.have > 0 && l.outdated(st.final, st.outputs.oldest()) {
		l.registry.dropOutputs(st.outputs)
	}
	l.dropKept(l.outdatedKept(st.final))
}

// dropKept makes scheduler and executors forget the persisted partitions of nodes.
func (l *loop) dropKept(ids []lineage.NodeID) {
	if len(ids) > 0 {
		l.forget(lineage.Drop{Nodes: ids})
	}
}

// isOutdated reports whether a persisted partition that an attempt has stored is outdated.
func (l *loop) isOutdated(a *attempt, id lineage.NodeID) (outdated bool) {
	if !l.registry.rolledBack {
		return false
	}
	_ = guard(func() error {
		walkNarrow(a.set.stage.final, func(n lineage.Node) bool {
			if n.ID() == id {
				outdated = l.outdated(n, a.task.Epoch)
				return false
			}
			return true
		})
		return nil
	})
	return outdated
}
