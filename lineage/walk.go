package lineage

// Walk visits node and everything it descends from, each once, depth first with the
// dependencies in order. It does not go above a node for which visit returns false.
func Walk(node Node, visit func(Node) bool) {
	walk(node, func(n Node) []Dep {
		if !visit(n) {
			return nil
		}
		return n.Deps()
	})
}

// walk goes depth first over the dependencies that expand returns for each node reached.
func walk(node Node, expand func(Node) []Dep) {
	seen := map[NodeID]bool{node.ID(): true}
	stack := []Node{node}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		deps := expand(n)
		for i := len(deps) - 1; i >= 0; i-- {
			p := deps[i].Parent
			if !seen[p.ID()] {
				seen[p.ID()] = true
				stack = append(stack, p)
			}
		}
	}
}

// ShuffleParents returns the shuffles that the stage ending at node reads, each once, in the
// order a depth-first walk meets them. The walk does not go above a node for which kept returns
// true: all its partitions are held by executors, so nothing behind it is needed. kept may be nil. Nor is anything needed of a shuffle without
// reducers, which nobody reads.
func ShuffleParents(node Node, kept func(Node) bool) []*Shuffle {
	var found []*Shuffle
	seen := map[ShuffleID]bool{}
	walk(node, func(n Node) []Dep {
		if kept != nil && kept(n) {
			return nil
		}
		var narrow []Dep
		for _, d := range n.Deps() {
			if d.Shuffle == nil {
				narrow = append(narrow, d)
			} else if d.Shuffle.NumReducers > 0 && !seen[d.Shuffle.ID] {
				seen[d.Shuffle.ID] = true
				found = append(found, d.Shuffle)
			}
		}
		return narrow
	})
	return found
}

// Missing returns, ascending, the partitions in [0, n) that have says are not there.
func Missing(n int, have func(part int) bool) []int {
	var missing []int
	for p := range n {
		if !have(p) {
			missing = append(missing, p)
		}
	}
	return missing
}
