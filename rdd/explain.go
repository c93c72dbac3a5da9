package rdd

import (
	"fmt"
	"strings"

	"github.com/leat-io/leat/lineage"
)

// An Inspector is a Runner that can say what executors hold. Explain and LocalCheckpoint ask it.
//
// Both are called from any goroutine that may call Run, and may block for as long as an event of the runner takes.
type Inspector interface {
	// Kept reports which partitions of a node are held. It may be shorter than the node's partitions: what lies
	// beyond is not.
	Kept(node lineage.NodeID) []bool
	// Written returns how many outputs of a shuffle are there, and of how many; 0 of 0 for one it does not know.
	Written(id lineage.ShuffleID) (have, maps int)
}

// Marks returns what DebugString and the drawings of package lineage say of the RDD beside its name: the storage
// level, and how far a checkpoint has come.
func (b *base) Marks() []string {
	var marks []string
	if l := b.level.Load(); l != nil {
		marks = append(marks, l.String())
	}
	m := b.checkpoint.marked.Load()
	switch {
	case b.id.Ordinal < 0: // the files, or blocks, themselves
	case b.checkpoint.reader.Load() != nil:
		marks = append(marks, "checkpointed")
	case b.checkpoint.local.Load():
		marks = append(marks, "checkpointed locally")
	case m != nil && m.local:
		marks = append(marks, "marked for a local checkpoint")
	case m != nil:
		marks = append(marks, "marked for a checkpoint")
	}
	return marks
}

// Explain returns what an action on all of r would do now, for people: its stages with their operators and call
// sites, which stage reads which shuffle, what is kept, which stages would run and which are skipped. Runners that
// are no Inspector do not say what they hold; then everything would run.
//
// Cost: one pass over the lineage and a question for each shuffle and persisted RDD. It runs nothing.
func Explain[T any](r *RDD[T]) string { return r.base.explain() }

// explanation is a plan with what the runner says of it.
type explanation struct {
	inspector Inspector // nil if the runner is none
	stages    []*lineage.Stage
	runs      map[int]bool // by stage id
	counts    map[lineage.NodeID][2]int
	out       strings.Builder
}

func (b *base) explain() string {
	if b.err != nil {
		return fmt.Sprintf("%s can never be computed: %v\n", b, b.err)
	}
	e := &explanation{stages: lineage.Cut(b), runs: map[int]bool{}, counts: map[lineage.NodeID][2]int{}}
	e.inspector, _ = b.home.runner.(Inspector)
	e.plan()
	fmt.Fprintf(&e.out, "%s %s: %s, %s\n", b, b.site, partitionsOf(b), b.Determinism())
	for _, s := range e.stages {
		e.stage(s)
	}
	return e.out.String()
}

// plan finds the stages that would run: the last one, and for each the writers of incomplete shuffles that it meets
// below nodes that are kept whole.
func (e *explanation) plan() {
	writers := map[lineage.ShuffleID]*lineage.Stage{}
	for _, s := range e.stages {
		if s.Shuffle != nil {
			writers[s.Shuffle.ID] = s
		}
	}
	last := e.stages[len(e.stages)-1]
	e.runs[last.ID] = true
	for todo := []*lineage.Stage{last}; len(todo) > 0; {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, sh := range lineage.ShuffleParents(s.Final, e.keptWhole) {
			w := writers[sh.ID]
			if w != nil && !e.runs[w.ID] && !e.written(sh) {
				e.runs[w.ID] = true
				todo = append(todo, w)
			}
		}
	}
}

func (e *explanation) written(sh *lineage.Shuffle) bool {
	if e.inspector == nil {
		return false
	}
	have, maps := e.inspector.Written(sh.ID)
	n, err := sh.Parent.NumPartitions()
	return err == nil && have == n && maps == n
}

// kept returns how many partitions of a persisted node are held, and of how many.
func (e *explanation) kept(b *base) (have, of int) {
	if c, ok := e.counts[b.id]; ok {
		return c[0], c[1]
	}
	of, err := b.NumPartitions()
	if err == nil && e.inspector != nil && b.level.Load() != nil {
		have = of - len(missingParts(e.inspector.Kept(b.id), of))
	}
	e.counts[b.id] = [2]int{have, of}
	return have, of
}

func (e *explanation) keptWhole(n lineage.Node) bool {
	b, ok := baseOf(n)
	if !ok {
		return false
	}
	have, of := e.kept(b)
	return have > 0 && have == of
}

// stage writes what one stage does.
func (e *explanation) stage(s *lineage.Stage) {
	fmt.Fprintf(&e.out, "stage %d: %s", s.ID, partitionsOf(s.Final))
	if s.Shuffle != nil {
		fmt.Fprintf(&e.out, ", writes shuffle %s for %s", s.Shuffle.ID, counted(s.Shuffle.NumReducers, "reducer"))
	}
	fmt.Fprintf(&e.out, ": %s\n", e.fate(s))
	reads := map[lineage.ShuffleID]int{}
	for _, p := range s.Parents {
		reads[p.Shuffle.ID] = p.ID
	}
	for _, n := range s.Nodes {
		fmt.Fprintf(&e.out, "  %s[%s] %s", n.Op(), n.ID(), n.Site())
		e.remarks(n)
		for _, d := range n.Deps() {
			if d.Shuffle != nil {
				fmt.Fprintf(&e.out, " <- shuffle %s of stage %d", d.Shuffle.ID, reads[d.Shuffle.ID])
			}
		}
		e.out.WriteByte('\n')
	}
}

// remarks writes how a node is kept.
func (e *explanation) remarks(n lineage.Node) {
	b, ok := baseOf(n)
	if !ok {
		return
	}
	for _, m := range b.Marks() {
		fmt.Fprintf(&e.out, " [%s]", m)
	}
	if e.inspector != nil && b.level.Load() != nil {
		have, of := e.kept(b)
		fmt.Fprintf(&e.out, " %d of %d kept", have, of)
	}
}

// fate says what becomes of a stage.
func (e *explanation) fate(s *lineage.Stage) string {
	if s.Shuffle == nil {
		return "runs"
	}
	if e.inspector == nil {
		return "runs unless its outputs are there"
	}
	have, maps := e.inspector.Written(s.Shuffle.ID)
	switch {
	case e.runs[s.ID] && have > 0:
		return fmt.Sprintf("runs for what is missing, %d of %d outputs are there", have, maps)
	case e.runs[s.ID]:
		return "runs"
	case e.written(s.Shuffle):
		return "skipped, what it writes is there"
	}
	return "skipped, nothing needs it"
}

func partitionsOf(n lineage.Node) string {
	parts, err := n.NumPartitions()
	if err != nil {
		return fmt.Sprintf("partitions unknown (%v)", err)
	}
	return counted(parts, "partition")
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
