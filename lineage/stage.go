package lineage

// A Stage is a run of narrow dependencies: what one task computes in one go. It ends at Final,
// whose partitions its tasks are, and either writes a shuffle or brings home a job's result.
type Stage struct {
	ID      int      // parents have smaller ids than their children
	Final   Node     // the node whose partitions are the stage's tasks
	Shuffle *Shuffle // what the stage writes; nil for the result stage
	Parents []*Stage // the stages whose shuffles it reads
	Nodes   []Node   // the nodes it computes, Final first, depth first
}

// Cut returns the stages of a job on final, parents before children, the result stage last. A
// shuffle that is read on several paths is one stage.
func Cut(final Node) []*Stage {
	var order []*Stage
	made := map[ShuffleID]*Stage{}
	// Post-order over the shuffles with an explicit stack: a stage is numbered when all of its
	// parents are.
	type frame struct {
		stage   *Stage
		pending []*Shuffle
	}
	stack := []frame{{stage: &Stage{Final: final}, pending: ShuffleParents(final, nil)}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.pending) == 0 {
			top.stage.ID = len(order)
			top.stage.Nodes = stageNodes(top.stage.Final)
			order = append(order, top.stage)
			stack = stack[:len(stack)-1]
			continue
		}
		s := top.pending[0]
		top.pending = top.pending[1:]
		parent, ok := made[s.ID]
		if !ok {
			parent = &Stage{Final: s.Parent, Shuffle: s}
			made[s.ID] = parent
		}
		top.stage.Parents = append(top.stage.Parents, parent)
		if !ok {
			stack = append(stack, frame{stage: parent, pending: ShuffleParents(s.Parent, nil)})
		}
	}
	return order
}

// stageNodes lists the nodes reachable from final over narrow dependencies.
func stageNodes(final Node) []Node {
	var nodes []Node
	walk(final, func(n Node) []Dep {
		nodes = append(nodes, n)
		var narrow []Dep
		for _, d := range n.Deps() {
			if d.Shuffle == nil {
				narrow = append(narrow, d)
			}
		}
		return narrow
	})
	return nodes
}
