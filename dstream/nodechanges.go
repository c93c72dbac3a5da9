package dstream

import (
	"fmt"
	"slices"
	"strings"
)

// NodeChanges returns what has changed between two builds of a program where the later one can go on from what the earlier one has
// left, a line each; none if nothing has.
//
// A node is known by its number, and by its UID where it has one, so the two must be the same up to the last stream that needs anything of batches before: an
// input, state, a window, a stream with checkpoints. What lies behind that, streams without memory and outputs, may be anything. Checkpoint
// intervals may differ anywhere, and names of streams that have the same UID in both. A stream that needs batches before, and that no output has read, may not be read now: there is
// nothing of it.
//
// Errors: *ChangedError with the first node that differs, if the later build cannot go on.
func NodeChanges(was, is []NodeInfo) (notes []string, err error) {
	for i := range max(len(was), len(is)) {
		e := differAt(was, is, i)
		if i >= len(was) || i >= len(is) || !sameNode(was[i], is[i]) {
			return behind(was, is, i, notes)
		}
		if is[i].Keeps != "" && was[i].Idle && !is[i].Idle {
			e.Was += ", read by no output"
			return nil, e
		}
		if e.Was != e.Is {
			notes = append(notes, fmt.Sprintf("node %d was %s, is %s", e.Node, e.Was, e.Is))
		}
	}
	return notes, nil
}

// behind notes what differs from position first on, where nothing of it matters.
func behind(was, is []NodeInfo, first int, notes []string) ([]string, error) {
	for _, n := range slices.Concat(was[min(first, len(was)):], is[min(first, len(is)):]) {
		if n.Keeps == "" {
			continue
		}
		e := differAt(was, is, first)
		if n.ID != e.Node {
			e.Keeps = n.String()
		}
		return nil, e
	}
	for i := first; i < max(len(was), len(is)); i++ {
		if e := differAt(was, is, i); e.Was != e.Is {
			notes = append(notes, fmt.Sprintf("node %d was %s, is %s", e.Node, something(e.Was), something(e.Is)))
		}
	}
	return notes, nil
}

func something(node string) string {
	if node == "" {
		return "nothing"
	}
	return node
}

// sameNode reports whether what was kept of one node is of use to another. Names count where something was kept, unless both have a UID; an
// input's operator, which the program chooses, is one of them.
func sameNode(was, is NodeInfo) bool {
	if anyInterval(was.Describe) != anyInterval(is.Describe) || was.ID != is.ID {
		return false
	}
	switch {
	case was.Keeps == "" && is.Keeps == "": // nothing was kept
		return was.Op == is.Op
	case was.UID == "" || is.UID == "":
		return was.Op == is.Op && was.Name == is.Name
	}
	return was.UID == is.UID && (was.Op == is.Op || was.Keeps == inputKept && is.Keeps == inputKept)
}

// anyInterval returns what a node is described as, without how far its checkpoints are apart.
func anyInterval(node string) string {
	if at := strings.LastIndex(node, ", checkpoint "); at >= 0 && strings.Trim(node[at+len(", checkpoint "):], "0123456789") == " ms" {
		return node[:at] + ", checkpoint"
	}
	return node
}
