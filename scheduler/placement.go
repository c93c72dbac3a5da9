package scheduler

import (
	"log/slog"
	"slices"

	"github.com/leat-io/leat/lineage"
)

// place finds the persisted partitions the tasks of a set will meet. A task prefers the executors
// that hold them; it never waits for one.
func (l *loop) place(set *taskSet) {
	if l.registry.cached == 0 {
		return
	}
	// Most stages meet no persisted node; one walk over the stage saves one walk per task.
	st := set.stage
	meets := false
	lineageErr := guard(func() error {
		walkNarrow(st.final, func(n lineage.Node) bool {
			meets = meets || l.registry.anyCached(n.ID())
			return !meets
		})
		return nil
	})
	if lineageErr != nil || !meets {
		return
	}
	for i := range set.tasks {
		t := &set.tasks[i]
		// A dependency that panics here will do so in the task as well, where it is reported.
		_ = guard(func() error {
			t.cached = l.cachedAbove(st.final, st.partition(t.key))
			return nil
		})
		set.prefers = set.prefers || len(t.cached) > 0
	}
}

// walkNarrow visits the nodes a task on node computes.
func walkNarrow(node lineage.Node, visit func(lineage.Node) bool) {
	seen := map[lineage.NodeID]bool{node.ID(): true}
	stack := []lineage.Node{node}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !visit(n) {
			return
		}
		for _, d := range n.Deps() {
			if d.Shuffle == nil && !seen[d.Parent.ID()] {
				seen[d.Parent.ID()] = true
				stack = append(stack, d.Parent)
			}
		}
	}
}

// cachedAbove returns the persisted partitions that computing partition part of node meets first on
// each path, nearest first.
func (l *loop) cachedAbove(node lineage.Node, part int) []CachedBlock {
	type place struct {
		node lineage.Node
		part int
	}
	var found []CachedBlock
	seen := map[BlockID]bool{}
	stack := []place{{node, part}}
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		id := BlockID{p.node.ID(), p.part}
		if seen[id] {
			continue
		}
		seen[id] = true
		if holders := l.registry.holders(id); len(holders) > 0 {
			found = append(found, CachedBlock{BlockID: id, Executors: holders})
			continue
		}
		deps := p.node.Deps()
		for i := len(deps) - 1; i >= 0; i-- {
			if deps[i].Shuffle != nil {
				continue
			}
			parents := deps[i].Narrow(p.part)
			for k := len(parents) - 1; k >= 0; k-- {
				stack = append(stack, place{deps[i].Parent, parents[k]})
			}
		}
	}
	return found
}

// offer launches pending tasks on free slots: sets by priority, requeued tasks first, then the
// lowest partitions; tasks that prefer an executor with a free slot before the others of their set.
func (l *loop) offer() {
	for i := 0; i < len(l.sets) && l.free > 0; i++ {
		set := l.sets[i]
		if set.prefers {
			l.offerPreferred(set)
		}
		for set.pending() > 0 && l.free > 0 {
			index := set.queue[set.head]
			set.head++
			l.launch(set, index, l.leastLoaded())
		}
	}
}

func (l *loop) offerPreferred(set *taskSet) {
	rest := set.queue[set.head:]
	left := rest[:0]
	for _, index := range rest {
		if ex := l.preferred(set.tasks[index].cached); ex != nil && l.free > 0 {
			l.launch(set, index, ex)
		} else {
			left = append(left, index)
		}
	}
	set.queue = set.queue[:set.head+len(left)]
}

// preferred returns an executor with a free slot that holds the nearest persisted partition.
func (l *loop) preferred(cached []CachedBlock) *executor {
	for _, c := range cached {
		for _, ex := range l.executors {
			if ex.free > 0 && slices.Contains(c.Executors, ex.ID) {
				return ex
			}
		}
	}
	return nil
}

// leastLoaded returns the executor with the most free slots, in turn among equals. There must be a
// free slot.
func (l *loop) leastLoaded() *executor {
	var best *executor
	at := 0
	for i := range l.executors {
		k := (l.turn + i) % len(l.executors)
		if ex := l.executors[k]; best == nil || ex.free > best.free {
			best, at = ex, k
		}
	}
	l.turn = at + 1
	return best
}

// launch starts an attempt.
func (l *loop) launch(set *taskSet, index int, ex *executor) {
	st, t := set.stage, &set.tasks[index]
	if set.inputsEpoch != l.registry.epoch {
		set.inputs = l.inputs(st)
		set.inputsEpoch = l.registry.epoch
	}
	l.nextTask++
	a := &attempt{set: set, index: index}
	first := st.jobs[0]
	a.task = Task{
		ID: l.nextTask,
		Attempt: lineage.Attempt{Job: first.id, Stage: st.id, StageAttempt: set.attempt,
			Partition: st.partition(t.key), Number: t.launches, Task: int64(l.nextTask)},
		Executor:   ex.ID,
		Epoch:      l.registry.epoch,
		Address:    Address{Job: first.id, Stage: st.id, Name: first.spec.Name, Scope: first.spec.Scope, Node: st.final.ID()},
		Inputs:     set.inputs,
		Cached:     t.cached,
		Properties: first.spec.Properties,
	}
	if st.shuffle != nil {
		a.task.Shuffle = st.shuffle
		a.task.Address.Map, a.task.Address.Shuffle = true, st.shuffle.ID
	} else {
		a.task.Job = &st.job.spec
	}
	t.launches++
	t.queued = false
	ex.free--
	l.free--
	l.running[a.task.ID] = a
	l.logAttempt(slog.LevelDebug, "task started", a, nil)
	if l.listening() {
		ev := started(a)
		l.emit(func(li *Listener) {
			if li.TaskStarted != nil {
				li.TaskStarted(ev)
			}
		})
	}
	l.backend.Launch(&a.task)
}

// inputs returns where the outputs are that a stage may read.
func (l *loop) inputs(st *stage) []Input {
	if len(st.reads) == 0 {
		return nil
	}
	in := make([]Input, 0, len(st.reads))
	for _, sh := range st.reads {
		if o := l.registry.shuffle(sh.ID); o != nil {
			in = append(in, Input{Shuffle: sh.ID, Maps: o.share()})
		}
	}
	return in
}

func started(a *attempt) TaskStarted {
	return TaskStarted{Task: a.task.ID, Attempt: a.task.Attempt, Executor: a.task.Executor}
}
