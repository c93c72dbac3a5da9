package lineage_test

import (
	"errors"
	"fmt"

	"github.com/leat-io/leat/lineage"
)

// A testNode is a node built by hand.
type testNode struct {
	id    lineage.NodeID
	op    string
	site  string
	parts int // negative: the count cannot be found
	deps  []lineage.Dep
	marks []string
}

func (n *testNode) ID() lineage.NodeID  { return n.id }
func (n *testNode) Op() string          { return n.op }
func (n *testNode) Site() string        { return n.site }
func (n *testNode) Deps() []lineage.Dep { return n.deps }
func (n *testNode) Marks() []string     { return n.marks }
func (n *testNode) NumPartitions() (int, error) {
	if n.parts < 0 {
		return 0, errors.New("no such file")
	}
	return n.parts, nil
}

// A graph numbers the nodes it makes, as a program does.
type graph struct {
	scope lineage.Scope
	next  int32
	line  int // of the next call; 0 leaves sites out
}

func (g *graph) node(op string, parts int) *testNode {
	n := &testNode{id: lineage.NodeID{Scope: g.scope, Ordinal: g.next}, op: op, parts: parts}
	g.next++
	if g.line > 0 {
		n.site = fmt.Sprintf("main.go:%d", g.line)
		g.line++
	}
	return n
}

func (g *graph) source(parts int) *testNode { return g.node("textFile", parts) }

// narrow adds a node whose partitions read the same partitions of each parent.
func (g *graph) narrow(op string, parents ...*testNode) *testNode {
	n := g.node(op, parents[0].parts)
	for _, p := range parents {
		n.deps = append(n.deps, lineage.OneToOne(p))
	}
	return n
}

// shuffle adds a node that shuffles each parent.
func (g *graph) shuffle(op string, parts int, parents ...*testNode) *testNode {
	n := g.node(op, parts)
	for i, p := range parents {
		id := lineage.ShuffleID{Node: n.id, Dep: int32(i)}
		n.deps = append(n.deps, lineage.Dep{Parent: p, Shuffle: &lineage.Shuffle{ID: id, Parent: p, NumReducers: parts}})
	}
	return n
}

// wordCount is textFile, flatMap, reduceByKey.
func wordCount(g *graph) *testNode {
	return g.shuffle("reduceByKey", 2, g.narrow("flatMap", g.source(4)))
}
