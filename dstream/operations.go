package dstream

// An Operation is a stream or output of a graph, as people look at it. The RDDs it makes for a batch have the
// batch time and its ID as their scope.
type Operation struct {
	ID      int32  // from 1, in the order declared
	Op      string // as in "reduceByKey"
	Name    string // of an input, as in "Socket stream [0]"; else empty
	Site    string // file and line of its declaration
	Output  bool   // is an output operation
	Parents []int32
}

// Operations returns the streams and outputs in the order declared.
func (g *Graph) Operations() []Operation {
	g.mu.Lock()
	defer g.mu.Unlock()
	ops := make([]Operation, 0, len(g.nodes))
	for _, n := range g.nodes {
		op := Operation{ID: n.id, Op: n.op, Site: n.site, Output: n.output}
		if n.input != nil {
			op.Name = n.input.Name
		}
		for _, p := range n.parents {
			op.Parents = append(op.Parents, p.id)
		}
		ops = append(ops, op)
	}
	return ops
}
