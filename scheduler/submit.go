package scheduler

import (
	"fmt"
	"slices"

	"github.com/leat-io/leat/lineage"
)

// submitJob numbers a job, finds or makes its stages and submits the last one.
func (l *loop) submitJob(j *job) {
	j.id, j.since = l.nextJob, l.stageEvents
	l.nextJob++
	if err := l.refused(j); err != nil || j.remaining == 0 && !j.mapOnly() {
		l.emitJobStarted(j)
		j.ended = true
		l.emitJobEnded(j, err)
		j.done <- err
		return
	}
	fresh := l.makeStages(j)
	l.jobs = append(l.jobs, j)
	l.emitJobStarted(j)
	if j.mapOnly() && j.result.outputs.complete() {
		l.endMapJob(j)
	} else {
		l.submitStage(j.result)
	}
	// A stage that need not run now and has to later, because something was lost, begins with attempt
	// 1: it is recognisable as a rerun.
	for _, st := range fresh {
		if st.state == idle && st.attempts == 0 {
			st.attempts = 1
		}
	}
}

// makeStages gives the job its stages. A map stage that another active job uses is shared. A new
// one takes over the outputs the registry knows.
func (l *loop) makeStages(j *job) (fresh []*stage) {
	j.stages = make([]*stage, 0, len(j.plan))
	for _, p := range j.plan {
		if p.shuffle != nil {
			if st := l.stages[p.shuffle.ID]; st != nil {
				st.trimmed = st.trimmed && j.spec.Trimmed
				if !st.trimmed {
					st.reads = p.reads
				}
				st.attach(j)
				j.result = st
				continue
			}
		}
		st := l.newStage(p, j)
		l.refresh(st)
		if st.shuffle == nil {
			st.job = j
		}
		j.result = st // in the end, the last one
		fresh = append(fresh, st)
	}
	j.plan = nil
	return fresh
}

// newStage makes a stage that j uses.
func (l *loop) newStage(p planned, j *job) *stage {
	st := &stage{id: l.nextStage, final: p.final, parts: p.parts, reads: p.reads, trimmed: j.spec.Trimmed, shuffle: p.shuffle}
	l.nextStage++
	if st.shuffle != nil {
		st.outputs = l.registry.outputs(st.shuffle.ID, st.parts)
		l.stages[st.shuffle.ID] = st
	}
	st.attach(j)
	return st
}

// attach makes j a user of the stage.
func (st *stage) attach(j *job) {
	if i, used := slices.BinarySearchFunc(st.jobs, j, func(a, b *job) int { return a.id - b.id }); !used {
		st.jobs = slices.Insert(st.jobs, i, j)
		j.stages = append(j.stages, st)
	}
}

// parent returns the stage that writes a shuffle which st reads. Where trimming had left it out, all
// users of st now use it as well.
func (l *loop) parent(st *stage, sh *lineage.Shuffle) (*stage, error) {
	p := l.stages[sh.ID]
	if p == nil {
		n, err := sh.Parent.NumPartitions()
		if err != nil {
			return nil, err
		}
		p = l.newStage(planned{shuffle: sh, final: sh.Parent, parts: n}, st.jobs[0])
		p.trimmed = true
	}
	for _, j := range st.jobs {
		p.attach(j)
	}
	return p, nil
}

// submitStage runs what a stage lacks, after its parents.
func (l *loop) submitStage(st *stage) {
	if st.state != idle {
		return
	}
	missing := l.missingParents(st)
	if len(missing) == 0 {
		l.startAttempt(st)
		return
	}
	st.state, st.blockedOn, st.blockedAt = waiting, missing, l.registry.losses
	l.waiting = append(l.waiting, st)
	for _, p := range slices.Clone(missing) { // one that ends at once is taken out
		l.submitStage(p)
	}
}

// missingParents returns the stages whose outputs st needs and which are not all there, ascending.
// Nothing above a node that executors hold completely is needed.
func (l *loop) missingParents(st *stage) []*stage {
	reads := st.reads
	if len(reads) == 0 && !st.trimmed {
		return nil
	}
	if st.trimmed || l.registry.cached > 0 {
		reads = lineage.ShuffleParents(st.final, l.registry.kept)
	}
	if st.trimmed {
		st.reads = reads
	}
	var missing []*stage
	for _, sh := range reads {
		p, err := l.parent(st, sh)
		if err != nil {
			continue // nobody can count its partitions: a task that needs it will say so
		}
		if !p.outputs.complete() {
			missing = append(missing, p)
		}
	}
	slices.SortFunc(missing, byID)
	return missing
}

// startAttempt makes a task set of what the stage lacks.
func (l *loop) startAttempt(st *stage) {
	if st.shuffle != nil && st.outputs.written && !st.outputs.complete() && indeterminate(st) {
		if l.rollBack(st, errPartlyLost); st.state == gone {
			return
		}
	}
	keys := st.missing()
	set := newTaskSet(st, st.attempts, keys)
	st.attempts++
	st.state, st.set = running, set
	l.commits.begin(st)
	l.emitStageSubmitted(set)
	if len(keys) == 0 {
		l.attemptDone(st)
		return
	}
	placeErr := l.place(set)
	i, _ := slices.BinarySearchFunc(l.sets, set, setByPriority)
	l.sets = slices.Insert(l.sets, i, set)
	if l.pools != nil {
		l.pools.add(set)
	}
	if placeErr != nil {
		l.abortStage(st, fmt.Errorf("places of the tasks of stage %d: %w", st.id, placeErr))
	}
}

// attemptDone is called when every task of a running map stage's attempt has succeeded.
func (l *loop) attemptDone(st *stage) {
	l.retire(st, nil)
	st.state = idle
	if st.shuffle == nil {
		return
	}
	if !st.outputs.complete() {
		// Some of the successes were about outputs that had been lost by then.
		l.submitStage(st)
		return
	}
	st.failures = 0
	l.commits.end(st)
	l.registry.epoch++
	l.endMapJobs(st)
	l.release(st)
}

// release submits the stages that waited for st, and for nothing else any more. What one that goes on waiting needs is not looked
// for again, since that is a walk over its lineage, and a stage may have thousands of parents. Only if something has been lost
// since it was looked for, it may need others than it knows of.
func (l *loop) release(st *stage) {
	var ready []*stage
	l.waiting = slices.DeleteFunc(l.waiting, func(w *stage) bool {
		i, waits := slices.BinarySearchFunc(w.blockedOn, st, byID)
		if !waits {
			return false
		}
		if len(w.blockedOn) > 1 && w.blockedAt == l.registry.losses {
			w.blockedOn = slices.Delete(w.blockedOn, i, i+1)
			return false
		}
		w.state, w.blockedOn = idle, nil
		ready = append(ready, w)
		return true
	})
	slices.SortFunc(ready, byPriority)
	for _, w := range ready {
		l.submitStage(w)
	}
}

// retire ends the running attempt of a stage: it launches nothing more.
func (l *loop) retire(st *stage, reason error) {
	set := st.set
	set.zombie = true
	set.queue, set.prefers, set.copies = line{}, nil, nil
	if i := slices.Index(l.sets, set); i >= 0 {
		l.sets = slices.Delete(l.sets, i, i+1)
		if l.pools != nil {
			l.pools.remove(set)
		}
	}
	l.emitStageCompleted(set, reason)
	if reason == nil && set.remaining == 0 {
		l.noteSucceeded(set)
	}
}

// endJob takes an active job out, with all that only it used, and tells its caller.
func (l *loop) endJob(j *job, err error) {
	j.ended = true
	for _, st := range slices.Backward(j.stages) {
		if i := slices.Index(st.jobs, j); i >= 0 {
			st.jobs = slices.Delete(st.jobs, i, i+1)
		}
		if len(st.jobs) == 0 {
			l.removeStage(st, err)
		}
	}
	if i := slices.Index(l.jobs, j); i >= 0 {
		l.jobs = slices.Delete(l.jobs, i, i+1)
	}
	// A stage that is left with later users only has a lower priority now.
	slices.SortStableFunc(l.sets, setByPriority)
	if l.pools != nil {
		l.pools.sort()
	}
	l.emitJobEnded(j, err)
	j.done <- err
	l.forgetDeferred()
}

// removeStage forgets a stage that no job uses and kills what it runs.
func (l *loop) removeStage(st *stage, reason error) {
	if st.state == running {
		if reason == nil && st.shuffle != nil {
			reason = errNotNeeded
		}
		l.retire(st, reason)
	}
	st.state = gone
	st.blockedOn = nil
	l.registry.losses++ // whoever waits for it must look again
	l.commits.end(st)
	l.waiting = slices.DeleteFunc(l.waiting, func(w *stage) bool { return w == st })
	l.failed = slices.DeleteFunc(l.failed, func(w *stage) bool { return w == st })
	if st.shuffle != nil {
		delete(l.stages, st.shuffle.ID)
		if o := st.outputs; o.dropped == 0 && !(o.written && o.have == 0 && indeterminate(st)) {
			l.registry.unused(st.shuffle.ID) // else it is remembered, for what was made of lost outputs
		}
	}
	if len(l.running) > 0 {
		for _, a := range l.attempts(func(a *attempt) bool { return a.set.stage == st }) {
			l.kill(a)
		}
	}
}
