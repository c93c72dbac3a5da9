package scheduler

import (
	"fmt"
	"slices"

	"github.com/leat-io/leat/lineage"
)

// indeterminate reports whether running a stage's tasks again may bring other rows.
func indeterminate(st *stage) bool {
	class := lineage.Determinate
	_ = guard(func() error { // the method is the node's; one that panics says nothing
		if c, ok := st.final.(lineage.Classed); ok {
			class = c.Determinism()
		}
		return nil
	})
	return class == lineage.Indeterminate
}

// stale reports whether what an attempt of a set brings must not count: it may be of other rows than
// the rest.
func stale(set *taskSet) bool {
	st := set.stage
	return set.attempt < st.floor || st.set != set && st.shuffle != nil && indeterminate(st)
}

// lostIndeterminate rolls back, after a fetch failure of a task, the map stage whose output is gone,
// if rows of it that others have read may not come again.
func (l *loop) lostIndeterminate(a *attempt, fetch *FetchError, cause error) {
	st := l.writer(a.set.stage, fetch.Shuffle)
	if st == nil || st.state == running || st.outputs.complete() || a.task.Epoch < st.outputs.dropped || !indeterminate(st) {
		// If it runs, nobody has read what it writes. If all outputs are there, the task had been told of older
		// ones, or of none; what was dropped since it began has been dealt with.
		return
	}
	l.rollBack(st, cause)
}

// writer returns the stage that writes a shuffle which st reads, made if trimming had left it out.
func (l *loop) writer(st *stage, id lineage.ShuffleID) *stage {
	if w := l.stages[id]; w != nil || len(st.jobs) == 0 {
		return w
	}
	for _, sh := range lineage.ShuffleParents(st.final, nil) {
		if sh.ID == id {
			w, err := l.parent(st, sh)
			if err != nil {
				return nil // the task that needs it will say so
			}
			return w
		}
	}
	return nil
}

// rollBack drops all outputs of a map stage and undoes what active jobs have made of them: map
// stages downstream lose their outputs as well, result stages begin again, and a job that has been
// given results, or the leave to write them, fails.
func (l *loop) rollBack(origin *stage, cause error) {
	l.opts.Logger.Warn("rolling back what an indeterminate stage wrote", keyStage, origin.id, keyError, cause)
	stages := l.downstream(origin)
	l.undo(origin)
	for _, st := range stages {
		if st.state == gone {
			continue
		}
		if st.shuffle == nil && (slices.Contains(st.job.finished, true) || !l.commits.rollBack(st)) {
			err := fmt.Errorf("roll back stage %d (%s): %w: %w", st.id, st.final.Op(), ErrCannotRollBack, cause)
			l.abortStage(st, err)
			continue
		}
		l.undo(st)
		l.dropKept(l.outdatedKept(st.final))
		if st.state == running {
			st.set.fetchFailed = true
			l.retire(st, fmt.Errorf("rolled back: %w", cause))
			l.resubmitLater(st)
		}
	}
}

// undo forgets what the attempts of a stage so far have brought, and kills those that still run.
func (l *loop) undo(st *stage) {
	st.floor = st.attempts
	if st.shuffle != nil {
		l.commits.rollBack(st)
		l.registry.dropOutputs(st.outputs)
	}
	for _, a := range l.attempts(func(a *attempt) bool { return a.set.stage == st }) {
		l.kill(a)
	}
}

// downstream returns the stages of active jobs that read, directly or not, what a stage writes, in
// the order of their ids.
func (l *loop) downstream(origin *stage) []*stage {
	reached := map[lineage.ShuffleID]bool{origin.shuffle.ID: true}
	var found []*stage
	for grown := true; grown; {
		grown = false
		for _, j := range l.jobs {
			for _, st := range j.stages {
				reads := st.reads
				if st.trimmed {
					reads = lineage.ShuffleParents(st.final, nil)
				}
				if st == origin || slices.Contains(found, st) ||
					!slices.ContainsFunc(reads, func(sh *lineage.Shuffle) bool { return reached[sh.ID] }) {
					continue
				}
				found, grown = append(found, st), true
				if st.shuffle != nil {
					reached[st.shuffle.ID] = true
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b *stage) int { return a.id - b.id })
	return found
}

// resubmitLater has a stage that has lost its attempt submitted again, together with others that do.
func (l *loop) resubmitLater(st *stage) {
	st.state = failed
	l.failed = append(l.failed, st)
	if len(l.failed) == 1 {
		l.after(l.opts.ResubmitDelay, resubmit{})
	}
}
