package scheduler

import (
	"log/slog"

	"github.com/leat-io/leat/lineage"
)

// offer launches tasks on free slots, in the order the round gives the task sets: of a set requeued tasks
// first, then the lowest partitions, then speculative copies. A set whose tasks prefer places sweeps the
// executors level by level, one task each; the others go to the executor with the most free slots. Executors
// take turns, in the order they came and not at random, so that the same events give the same launches.
func (l *loop) offer() {
	r := l.beginRound()
	for l.free > 0 {
		set := r.next()
		if set == nil {
			break
		}
		if !l.launchFrom(set) {
			r.pass(set)
		}
	}
	l.settle()
	if l.exclusion != nil {
		l.giveUpNowhere()
	}
}

// launchFrom launches one task of a set and reports whether it could. There must be a free slot.
func (l *loop) launchFrom(set *taskSet) bool {
	if set.pending() > 0 {
		if set.prefers == nil && l.exclusion == nil {
			index, _ := set.queue.front(set)
			l.launch(set, index, l.leastLoaded(), ProcessLocal, false)
			return true
		}
		if l.launchPlaced(set) {
			return true
		}
	}
	return len(set.copies) > 0 && l.launchCopy(set)
}

// launchPlaced launches one task where it likes to run, as far as the set's level allows.
func (l *loop) launchPlaced(set *taskSet) bool {
	if set.prefers == nil {
		return l.launchAnywhere(set, &set.queue)
	}
	reach := l.reach(set)
	for level := ProcessLocal; level < Anywhere; level++ {
		switch {
		case level == NoPref: // nobody waits for these
			if l.launchAnywhere(set, &set.prefers.none) {
				return true
			}
		case level <= reach && l.sweep(set, level):
			return true
		}
	}
	if reach == Anywhere {
		return l.launchAnywhere(set, &set.queue)
	}
	set.prefers.refused = set.prefers.refused || set.pending() > 0
	return false
}

// sweep launches a task on the next executor, in turn, that is as near to it as level.
func (l *loop) sweep(set *taskSet, level Locality) bool {
	for i := range l.executors {
		k := (l.turn + i) % len(l.executors)
		ex := l.executors[k]
		if ex.free == 0 {
			continue
		}
		q := set.prefers.at(level, ex)
		index, ok := q.front(set)
		if ok && l.exclusion != nil {
			index, ok = q.find(set, func(index int) bool { return !l.barred(set, index, ex) })
		}
		if ok {
			l.turn = k + 1
			l.launch(set, index, ex, level, false)
			return true
		}
	}
	return false
}

// launchAnywhere launches the first task of a line that may run on some free executor.
func (l *loop) launchAnywhere(set *taskSet, q *line) bool {
	var on *executor
	index, ok := q.find(set, func(index int) bool {
		if l.exclusion == nil {
			on = l.leastLoaded()
		} else {
			on = l.leastLoadedOf(func(ex *executor) bool { return !l.barred(set, index, ex) })
		}
		return on != nil
	})
	if ok {
		l.launch(set, index, on, l.localityOf(set.tasks[index].places, on), false)
	}
	return ok
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

// leastLoadedOf is leastLoaded among those that suit, nil if none of them has a free slot.
func (l *loop) leastLoadedOf(suits func(*executor) bool) *executor {
	var best *executor
	at := 0
	for i := range l.executors {
		k := (l.turn + i) % len(l.executors)
		if ex := l.executors[k]; ex.free > 0 && (best == nil || ex.free > best.free) && suits(ex) {
			best, at = ex, k
		}
	}
	if best != nil {
		l.turn = at + 1
	}
	return best
}

// launch starts an attempt, copied says whether it is a copy of one that is slow.
func (l *loop) launch(set *taskSet, index int, ex *executor, level Locality, copied bool) {
	st, t := set.stage, &set.tasks[index]
	if set.inputsEpoch != l.registry.epoch {
		set.inputs = l.inputs(st)
		set.inputsEpoch = l.registry.epoch
	}
	if t.launches > 0 && l.registry.cached > 0 {
		// What other jobs have kept since the set began may be all there is by now: a local checkpoint.
		_ = guard(func() error {
			t.cached, _ = l.above(st.final, st.partition(t.key), features{cached: true})
			return nil
		})
	}
	l.nextTask++
	a := &attempt{set: set, index: index, level: level}
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
		Properties: set.properties,
	}
	if st.shuffle != nil {
		a.task.Shuffle = st.shuffle
		a.task.Address.Map, a.task.Address.Shuffle = true, st.shuffle.ID
	} else {
		a.task.Job = &st.job.spec
	}
	t.launches++
	a.copied = copied
	set.unqueue(index)
	if p := set.prefers; p != nil {
		if !p.launched || level < p.lowest {
			p.lowest = level
		}
		p.launched = true
	}
	if l.timed {
		a.started = l.now()
	}
	if l.opts.Speculation.Enabled {
		t.hosts = append(t.hosts, hostOf(ex))
	}
	set.launchedIn = l.rounds
	ex.free--
	l.free--
	l.attach(a)
	l.logAttempt(slog.LevelDebug, "task started", a, nil)
	l.emitTaskStarted(a)
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

// hostOf returns the name of the host of an executor, its own if none is known.
func hostOf(ex *executor) string {
	if ex.Host != "" {
		return ex.Host
	}
	return string(ex.ID)
}
