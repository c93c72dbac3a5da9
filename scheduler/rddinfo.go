package scheduler

import "github.com/leat-io/leat/lineage"

// MaxStageRDDs is how many RDDs of one stage listeners are told of. A lineage can be much longer; what lies
// furthest from the stage's end is left out.
const MaxStageRDDs = 64

// RDDInfo describes an RDD that a stage computes.
type RDDInfo struct {
	ID       lineage.NodeID
	Op, Site string
	Name     string   // what the program called it, mostly nothing
	Marks    []string // how it is kept, how far its checkpoint has come
	// Parents are what it is computed from. Those that the stage does not compute come out of shuffles, or are
	// beyond what is told.
	Parents []lineage.NodeID
}

// rdds lists what a stage computes, breadth first from its end: down to shuffles, and for a trimmed stage to
// what executors hold whole.
func (l *loop) rdds(st *stage) []RDDInfo {
	infos := make([]RDDInfo, 0, 4)
	queue := []lineage.Node{st.final}
	seen := map[lineage.NodeID]bool{st.final.ID(): true}
	for len(queue) > 0 && len(infos) < MaxStageRDDs {
		n := queue[0]
		queue = queue[1:]
		info := RDDInfo{ID: n.ID(), Op: n.Op(), Site: n.Site()}
		if named, ok := n.(interface{ Name() string }); ok {
			info.Name = named.Name()
		}
		if m, ok := n.(lineage.Marked); ok {
			info.Marks = m.Marks()
		}
		held := st.trimmed && l.registry.kept(n)
		for _, d := range n.Deps() {
			info.Parents = append(info.Parents, d.Parent.ID())
			if id := d.Parent.ID(); d.Shuffle == nil && !held && !seen[id] {
				seen[id] = true
				queue = append(queue, d.Parent)
			}
		}
		infos = append(infos, info)
	}
	return infos
}
