package dstream

import (
	"errors"
	"fmt"
	"strings"

	"github.com/leat-io/leat/rdd"
)

// A NodeInfo is a stream or output as it is compared with that of an earlier build of the program, whose state and
// recorded batches are to be gone on with.
type NodeInfo struct {
	ID       int32  // from 1, in the order declared
	Op       string // the operator
	Name     string `json:",omitempty"` // that the program gave it, see DStream.Named
	UID      string `json:",omitempty"` // the same, see DStream.UID
	Describe string // slide, parents, window, partitions, types of what is kept, checkpoint interval, name in a sink
	// Keeps is what batches need of those before them, in a word: input, state, window or files. Empty is nothing.
	Keeps string `json:",omitempty"`
	// Idle says that no output reads the stream, so that there is nothing of it from batches before.
	Idle bool `json:",omitempty"`
}

// String returns the number, the operator, names and what is compared, as in "reduceByKey[2]: slide 1000 ms, of 1".
func (i NodeInfo) String() string {
	names := ""
	if i.Name != "" {
		names += fmt.Sprintf(" %q", i.Name)
	}
	if i.UID != "" {
		names += fmt.Sprintf(" uid %q", i.UID)
	}
	return fmt.Sprintf("%s[%d]%s: %s", i.Op, i.ID, names, i.Describe)
}

// Nodes returns the streams and outputs in the order declared. It is the same before and after Start, and in every process
// that declares the same. Call sites and functions do not enter.
func (g *Graph) Nodes() []NodeInfo {
	g.mu.Lock()
	defer g.mu.Unlock()
	infos := make([]NodeInfo, len(g.nodes))
	used := map[*node]bool{}
	for i := len(g.nodes) - 1; i >= 0; i-- { // children are declared after their parents
		n := g.nodes[i]
		if n.output || used[n] {
			for _, p := range n.parents {
				used[p] = true
			}
		}
		infos[i] = NodeInfo{ID: n.id, Op: n.op, Name: n.name, UID: n.uid, Describe: n.describe(), Keeps: n.keeps(), Idle: !n.output && !used[n]}
	}
	return infos
}

// inputKept is what is kept of an input.
const inputKept = "input"

// keeps returns what batches of a node need of those before them. The graph's lock is held.
func (n *node) keeps() string {
	switch {
	case n.input != nil:
		return inputKept
	case n.must || len(n.holds) > 0:
		return "state"
	case n.extra > 0:
		return "window"
	case n.checkpoint > 0:
		return "files"
	}
	return ""
}

// describe returns what is compared of a node. The graph's lock is held.
func (n *node) describe() string {
	said := []string{fmt.Sprintf("slide %d ms", n.slide)}
	if len(n.parents) > 0 {
		ids := make([]string, len(n.parents))
		for i, p := range n.parents {
			ids[i] = fmt.Sprint(p.id)
		}
		said = append(said, "of "+strings.Join(ids, " "))
	}
	if n.extra > 0 {
		said = append(said, fmt.Sprintf("window %d ms", n.extra))
	}
	if n.keys != nil {
		said = append(said, fmt.Sprintf("keys by %s", n.keys))
	}
	checkpoint := n.checkpoint
	if checkpoint == 0 && n.must {
		checkpoint = n.auto(n.slide)
	}
	if n.sinkName != "" {
		said = append(said, fmt.Sprintf("output %q", n.sinkName))
	}
	// What is never written, by the graph or by an input, may change its type.
	if n.record != nil && (checkpoint > 0 || n.input != nil || n.sinkName != "") {
		said = append(said, "records "+typeText(n.record))
	}
	for _, t := range n.holds {
		said = append(said, "holds "+typeText(t))
	}
	if checkpoint > 0 {
		said = append(said, fmt.Sprintf("checkpoint %d ms", checkpoint))
	}
	return strings.Join(said, ", ")
}

// ErrChanged says that a program is not the one whose state it finds.
var ErrChanged = errors.New("the program has changed")

// A ChangedError names the stream or output in which a program differs from what it was.
type ChangedError struct {
	Node    int32  // its number
	Was, Is string // as NodeInfo.String; empty where there is none
	// Keeps is, where that would have been of no account by itself, the node behind it that makes it count.
	Keeps string
}

// Error returns all three.
func (e *ChangedError) Error() string {
	was, is := e.Was, e.Is
	if was == "" {
		was = "nothing"
	}
	if is == "" {
		is = "nothing"
	}
	text := fmt.Sprintf("%v at node %d: it was %s, it is %s", ErrChanged, e.Node, was, is)
	if e.Keeps != "" {
		text += "; behind it is " + e.Keeps
	}
	return text
}

// Unwrap returns ErrChanged.
func (e *ChangedError) Unwrap() error { return ErrChanged }

// DiffNodes returns nil if two graphs are the same, else a *ChangedError with the first node that differs.
func DiffNodes(was, is []NodeInfo) error {
	for i := range max(len(was), len(is)) {
		if e := differAt(was, is, i); e.Was != e.Is {
			return e
		}
	}
	return nil
}

// differAt returns what two graphs have at a position.
func differAt(was, is []NodeInfo, i int) *ChangedError {
	e := &ChangedError{Node: int32(i + 1)}
	if i < len(was) {
		e.Was = was[i].String()
	}
	if i < len(is) {
		e.Is = is[i].String()
	}
	return e
}

// keyedBy says where the keys of a stream lie. Of its RDDs that is known only where kept is set.
func keyedBy[K comparable](n *node, opts []ByKeyOption, kept bool) {
	p, err := rdd.PartitionerFor[K](n.graph.rdds, opts...)
	if err != nil {
		return // every batch will say so
	}
	n.keyedAt(p, kept)
}

func (n *node) keyedAt(p rdd.AnyPartitioner, kept bool) {
	n.graph.mu.Lock()
	defer n.graph.mu.Unlock()
	n.keys = p
	if kept {
		n.placed = p
	}
}
