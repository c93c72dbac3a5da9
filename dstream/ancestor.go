package dstream

// An Ancestor is a stream that another is made from, without the type of its records. Streams that an operation declares
// for itself are among them: the batches that an inverse window reduces first, the states of a MapWithState.
type Ancestor struct{ node *node }

// Parents returns the streams that s is made from directly, in the order of the operation's arguments.
func (s *DStream[T]) Parents() []Ancestor { return s.ancestors() }

func (n *node) ancestors() []Ancestor {
	all := make([]Ancestor, len(n.parents))
	for i, p := range n.parents {
		all[i] = Ancestor{p}
	}
	return all
}

// Op returns the operator's name.
func (a Ancestor) Op() string { return a.node.op }

// Info returns the stream's settings, as DStream.Info does.
func (a Ancestor) Info() Info { return a.node.info() }

// Remembered returns the batch times whose RDDs the stream holds, ascending.
func (a Ancestor) Remembered() []Time {
	a.node.graph.mu.Lock()
	defer a.node.graph.mu.Unlock()
	return a.node.present()
}

// Parents returns the streams that the stream is made from directly.
func (a Ancestor) Parents() []Ancestor { return a.node.ancestors() }
