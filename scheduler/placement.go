package scheduler

import (
	"github.com/leat-io/leat/lineage"
)

// place finds the persisted partitions the tasks of a set will meet and the places where they like to run:
// the first of what follows that a task has, looking at its node and then at the narrow parents, depth
// first: the executors that hold the persisted partition, the places the node names; and if nothing above
// has any, the hosts that hold much of what it reads from the first shuffle it meets.
//
// Errors: a node that panics when it is asked for places.
func (l *loop) place(set *taskSet) error {
	// Most stages meet no such node; one walk over the stage saves one walk per task.
	f := l.look(set.stage)
	if f.err != nil {
		return f.err
	}
	if !f.cached && !f.placed && f.shares == nil {
		return nil
	}
	for i := range set.tasks {
		t := &set.tasks[i]
		// A dependency that panics here will do so in the task as well, where it is reported.
		_ = guard(func() error {
			t.cached, t.places = l.above(set.stage.final, set.stage.partition(t.key), f)
			return nil
		})
	}
	set.prefers = newPreferences(set, l.opts.Rack)
	if set.prefers != nil && l.opts.LocalityWait > 0 {
		set.prefers.since = l.now()
	}
	return nil
}

// Features say what the tasks of a stage may meet.
type features struct {
	cached bool // persisted partitions
	placed bool // nodes that name places
	// shares are the places that hold much of what a reducer reads, by shuffle and reducer.
	shares map[lineage.ShuffleID][][]place
	err    error
}

// look walks over the nodes of a stage.
func (l *loop) look(st *stage) (f features) {
	_ = guard(func() error {
		walkNarrow(st.final, func(n lineage.Node) bool {
			if p, ok := n.(lineage.Placed); ok && !f.placed && f.err == nil {
				f.placed, f.err = anyPlace(n, p)
			}
			if l.registry.cached == 0 || !l.registry.anyCached(n.ID()) {
				return f.err == nil
			}
			f.cached = true
			return f.err == nil && !l.registry.kept(n) // no task looks above it
		})
		return nil
	})
	if len(st.reads) > 0 && f.err == nil {
		f.shares = l.shares(st.reads)
	}
	return f
}

// anyPlace reports whether some partition of a node has a preference.
func anyPlace(n lineage.Node, p lineage.Placed) (any bool, err error) {
	count, err := n.NumPartitions()
	if err != nil {
		return false, nil // nobody can count its partitions: a task that needs it will say so
	}
	err = apart(func() error {
		for part := 0; part < count && !any; part++ {
			any = len(p.Preferred(part)) > 0
		}
		return nil
	})
	return any, err
}

// preferred returns the places of a partition, none if the node cannot say.
func preferred(p lineage.Placed, part int) (names []string) {
	_ = apart(func() error {
		names = p.Preferred(part)
		return nil
	})
	return names
}

// walkNarrow visits the nodes a task on node computes, except what is above those for which visit is false.
func walkNarrow(node lineage.Node, visit func(lineage.Node) bool) {
	// A chain needs no memory of where it has been, unless it is so long that it may be a circle.
	for range 10000 {
		deps := node.Deps()
		if len(deps) != 1 || deps[0].Shuffle != nil {
			break
		}
		if !visit(node) {
			return
		}
		node = deps[0].Parent
	}
	seen := map[lineage.NodeID]bool{node.ID(): true}
	stack := []lineage.Node{node}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !visit(n) {
			continue
		}
		for _, d := range n.Deps() {
			if d.Shuffle == nil && !seen[d.Parent.ID()] {
				seen[d.Parent.ID()] = true
				stack = append(stack, d.Parent)
			}
		}
	}
}

// above returns the persisted partitions that computing partition part of node meets first on each path,
// nearest first, and the places it likes.
func (l *loop) above(node lineage.Node, part int, f features) (found []CachedBlock, places []place) {
	type spot struct {
		node lineage.Node
		part int
	}
	var reads []place // of the first shuffle
	seen := map[BlockID]bool{}
	stack := []spot{{node, part}}
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		id := BlockID{p.node.ID(), p.part}
		if seen[id] {
			continue
		}
		seen[id] = true
		if holders := l.registry.holders(id); len(holders) > 0 {
			found = append(found, CachedBlock{BlockID: id, Executors: holders})
			if places == nil {
				places = l.placesOf(holders)
			}
			continue
		}
		if at, ok := p.node.(lineage.Placed); ok && f.placed && places == nil {
			for _, name := range preferred(at, p.part) {
				places = append(places, place{executor: ExecutorID(name), host: name})
			}
		}
		deps := p.node.Deps()
		for i := len(deps) - 1; i >= 0; i-- {
			if deps[i].Shuffle != nil {
				continue
			}
			parents := deps[i].Narrow(p.part)
			for k := len(parents) - 1; k >= 0; k-- {
				stack = append(stack, spot{deps[i].Parent, parents[k]})
			}
		}
		if f.shares != nil && reads == nil {
			for _, d := range deps {
				if d.Shuffle == nil || reads != nil {
					continue
				}
				if at := f.shares[d.Shuffle.ID]; p.part < len(at) {
					reads = at[p.part]
				}
			}
		}
	}
	if places == nil {
		places = reads
	}
	return found, places
}

// placesOf returns executors as places, with their hosts.
func (l *loop) placesOf(ids []ExecutorID) []place {
	places := make([]place, 0, len(ids))
	for _, id := range ids {
		at := place{executor: id}
		if ex := l.executor(id); ex != nil {
			at.host = ex.Host
		}
		places = append(places, at)
	}
	return places
}
