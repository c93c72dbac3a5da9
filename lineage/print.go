package lineage

import (
	"fmt"
	"strings"
)

// Text returns the lineage of node as a drawing, one node a line, what it is computed from below it.
// A single narrow parent stands in the same column. A shuffle, and each of several parents, starts a
// branch; a shuffle has its parent's partition count in front. A node with a method Name() string shows it, in quotes;
// what a Marked node says of itself stands in brackets behind it. A node met again is named only.
//
//	(2) reduceByKey[3] main.go:14 [MEMORY_ONLY]
//	 +-(4) union[2] main.go:13
//	    +- map[1] main.go:12
//	    |  |  textFile[0] main.go:11
//	    +- textFile[0] (above)
//
// Cost: one pass over the graph; a line is as wide as its node is deep in shuffles.
func Text(node Node) string {
	var b strings.Builder
	seen := map[NodeID]bool{}
	stack := []textLine{{node: node, below: " ", counted: true}}
	for len(stack) > 0 {
		l := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		b.WriteString(l.lead)
		if l.counted {
			fmt.Fprintf(&b, "(%s) ", count(l.node))
		}
		fmt.Fprintf(&b, "%s[%s]", l.node.Op(), l.node.ID())
		if seen[l.node.ID()] {
			b.WriteString(" (above)\n")
			continue
		}
		seen[l.node.ID()] = true
		if n, ok := l.node.(interface{ Name() string }); ok && n.Name() != "" {
			fmt.Fprintf(&b, " %q", n.Name())
		}
		if l.node.Site() != "" {
			b.WriteString(" " + l.node.Site())
		}
		if m := marks(l.node); m != "" {
			b.WriteString(" [" + m + "]")
		}
		b.WriteByte('\n')
		stack = l.pushDeps(stack)
	}
	return b.String()
}

// Marked is implemented by nodes that have something to say beside their name: how they are kept, whether they
// have a checkpoint.
type Marked interface{ Marks() []string }

func marks(n Node) string {
	if m, ok := n.(Marked); ok {
		return strings.Join(m.Marks(), ", ")
	}
	return ""
}

// A textLine is a line of Text still to be written.
type textLine struct {
	node    Node
	lead    string // what stands before the node
	below   string // what stands before the column of its parents
	counted bool   // whether the partition count is shown
}

// pushDeps adds a line for each dependency, the first on top.
func (l textLine) pushDeps(stack []textLine) []textLine {
	deps := l.node.Deps()
	if len(deps) == 1 && deps[0].Shuffle == nil {
		return append(stack, textLine{node: deps[0].Parent, lead: l.below + "|  ", below: l.below})
	}
	for i := len(deps) - 1; i >= 0; i-- {
		p := textLine{node: deps[i].Parent, lead: l.below + "+- ", below: l.below + "|  "}
		if deps[i].Shuffle != nil {
			p.lead, p.counted = l.below+"+-", true
		}
		if i == len(deps)-1 {
			p.below = l.below + "   "
		}
		stack = append(stack, p)
	}
	return stack
}

// count is the partition count as text, "?" where it cannot be found.
func count(n Node) string {
	parts, err := n.NumPartitions()
	if err != nil {
		return "?"
	}
	return fmt.Sprint(parts)
}

// DOT returns the lineage of node in the language of Graphviz. Data flows along the edges, which are
// dashed for shuffles; a box around nodes is a stage. A node that several stages compute
// is drawn in the first of them. A Marked node that says something of itself is filled.
//
// Cost: one pass over the graph and one over each stage.
func DOT(node Node) string {
	var b strings.Builder
	b.WriteString("digraph lineage {\n\tnode [shape=box];\n")
	drawn := map[NodeID]bool{}
	for _, s := range Cut(node) {
		opened := false
		for _, n := range s.Nodes {
			if drawn[n.ID()] {
				continue
			}
			drawn[n.ID()] = true
			if !opened {
				opened = true
				fmt.Fprintf(&b, "\tsubgraph cluster_%d {\n\t\tlabel=\"stage %d\";\n", s.ID, s.ID)
			}
			label, style := fmt.Sprintf("%s[%s]\n%s", n.Op(), n.ID(), partitions(n)), ""
			if m := marks(n); m != "" {
				label, style = label+"\n"+m, " style=filled"
			}
			fmt.Fprintf(&b, "\t\t%q [label=%q%s];\n", n.ID().String(), label, style)
		}
		if opened {
			b.WriteString("\t}\n")
		}
	}
	Walk(node, func(n Node) bool {
		for _, d := range n.Deps() {
			style := ""
			if d.Shuffle != nil {
				style = " [style=dashed]"
			}
			fmt.Fprintf(&b, "\t%q -> %q%s;\n", d.Parent.ID().String(), n.ID().String(), style)
		}
		return true
	})
	b.WriteString("}\n")
	return b.String()
}

func partitions(n Node) string {
	if c := count(n); c != "1" {
		return c + " partitions"
	}
	return "1 partition"
}
