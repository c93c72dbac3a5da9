package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/streamingcontext/progress"
)

// A painter draws the lineage of jobs: stages from left to right, the operations of one from top to bottom.
//
//   - Stage 0 ---------+        + Stage 1 ---------+
//     | Socket stream [0]|        |                  |
//     |        |         |  +---->| reduceByKey      |
//     |     flatMap -----|--+     |                  |
//     +------------------+        +------------------+
//
// All RDDs that an operation makes for one batch are one box: what a compound operation does inside is not shown, but
// for functions of the program, those of Transform and ForeachRDD.
type painter struct {
	operations map[int32]dstream.Operation
	times      calendar
}

// More than these are not drawn.
const (
	maxDrawnStages = 40
	maxAbreast     = 3 // boxes of one operation, of several batches, beside each other
	maxInner       = 6
)

// A box is an operation in a stage, for one batch or, where there are many, for several.
type box struct {
	scope   lineage.Scope
	site    string
	nodes   []int // of the stage's RDDs
	parents []*box
	rank    int
	last    int64 // the latest batch, of several
	times   int   // how many batches
	inner   []string
	marks   []string
	name    string

	x, y, w, h int
}

// A drawnStage is a stage with its boxes.
type drawnStage struct {
	progress.Stage
	boxes      []*box
	of         map[lineage.NodeID]*box
	depth      int
	x, y, w, h int
}

// operation returns the name of the operation that a stage ends at.
func (p *painter) operation(st progress.Stage) string {
	if len(st.RDDs) > 0 {
		if op, ok := p.operations[st.RDDs[0].ID.Stream]; ok {
			return op.Op
		}
	}
	return st.Op
}

// arrange finds the boxes of a stage, what they come from, and how deep they lie.
func (p *painter) arrange(st progress.Stage) *drawnStage {
	s := &drawnStage{Stage: st, of: map[lineage.NodeID]*box{}}
	byScope := map[lineage.Scope]*box{}
	for i, r := range st.RDDs {
		b := byScope[r.ID.Scope]
		if b == nil || r.ID.Scope == (lineage.Scope{}) { // what was made by hand is not grouped
			b = &box{scope: r.ID.Scope, site: r.Site, name: r.Op, last: r.ID.Batch, times: 1}
			byScope[r.ID.Scope] = b
			s.boxes = append(s.boxes, b)
		}
		b.nodes = append(b.nodes, i)
		s.of[r.ID] = b
		for _, m := range r.Marks {
			if !slices.Contains(b.marks, m) {
				b.marks = append(b.marks, m)
			}
		}
	}
	for _, b := range s.boxes {
		for _, i := range b.nodes {
			for _, id := range st.RDDs[i].Parents {
				if from := s.of[id]; from != nil && from != b && !slices.Contains(b.parents, from) {
					b.parents = append(b.parents, from)
				}
			}
		}
		b.inner = p.innerOf(b, st)
	}
	for range s.boxes { // as often as the longest path can need
		for _, b := range s.boxes {
			for _, from := range b.parents {
				b.rank = min(max(b.rank, from.rank+1), len(s.boxes)-1)
			}
		}
	}
	s.merge()
	return s
}

// innerOf returns what functions of the program made inside an operation, first things first.
func (p *painter) innerOf(b *box, st progress.Stage) []string {
	op, ok := p.operations[b.scope.Stream]
	if !ok || !op.Output && !strings.HasPrefix(op.Op, "transform") {
		return nil
	}
	var inner []string
	for _, i := range slices.Backward(b.nodes) {
		inner = append(inner, st.RDDs[i].Op+" "+st.RDDs[i].Site)
	}
	if len(inner) > maxInner {
		more := fmt.Sprintf("and %d more", len(inner)-maxInner)
		inner = append(inner[:maxInner], more)
	}
	return inner
}

// merge makes one box of many that are the same operation for several batches, as below a window.
func (s *drawnStage) merge() {
	type place struct {
		stream int32
		rank   int
	}
	same := map[place][]*box{}
	for _, b := range s.boxes {
		if b.scope != (lineage.Scope{}) {
			at := place{b.scope.Stream, b.rank}
			same[at] = append(same[at], b)
		}
	}
	into := map[*box]*box{}
	for _, boxes := range same {
		if len(boxes) <= maxAbreast {
			continue
		}
		slices.SortFunc(boxes, func(a, b *box) int { return int(sign(a.scope.Batch - b.scope.Batch)) })
		first := boxes[0]
		first.times, first.last = len(boxes), boxes[len(boxes)-1].scope.Batch
		for _, b := range boxes[1:] {
			into[b] = first
		}
	}
	if len(into) == 0 {
		return
	}
	final := func(b *box) *box {
		if f := into[b]; f != nil {
			return f
		}
		return b
	}
	for _, b := range s.boxes {
		to := final(b)
		for _, from := range b.parents {
			if from = final(from); from != to && !slices.Contains(to.parents, from) {
				to.parents = append(to.parents, from)
			}
		}
	}
	for _, b := range s.boxes {
		b.parents = slices.DeleteFunc(b.parents, func(from *box) bool { return into[from] != nil })
	}
	for id, b := range s.of {
		s.of[id] = final(b)
	}
	s.boxes = slices.DeleteFunc(s.boxes, func(b *box) bool { return into[b] != nil })
}

func sign(n int64) int64 {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// title and below are the lines of a box.
func (p *painter) title(b *box) string {
	if op, ok := p.operations[b.scope.Stream]; ok {
		if op.Name != "" {
			return op.Name
		}
		return op.Op
	}
	return b.name
}

func (p *painter) below(b *box) string {
	switch {
	case b.scope == (lineage.Scope{}):
		return b.site
	case b.times > 1:
		return fmt.Sprintf("%d batches to %s", b.times, p.times.clock(b.last))
	}
	return "@ " + p.times.clock(b.scope.Batch) + " · " + b.site
}
