package scheduler

import (
	"log/slog"
	"slices"

	"github.com/leat-io/leat/lineage"
)

// fetchFailed gives up a stage's attempt because an output it needs is gone: what is lost is
// unregistered and the stage submitted again, its parents first. Only the newest attempt of a stage
// is listened to. Many failures within one attempt are one.
func (l *loop) fetchFailed(a *attempt, fetch *FetchError, cause error) {
	set := a.set
	st := set.stage
	if st.set != set || st.state == gone {
		return
	}
	first := !set.fetchFailed
	if first {
		if st.state != running {
			return
		}
		set.fetchFailed = true
		st.failures++
		st.state = failed
		l.retire(st, cause)
	}
	l.outputLost(fetch, a.task.Epoch)
	l.doubtCached(a, fetch)
	if l.lostIndeterminate(a, fetch, cause); st.state == gone || !first {
		return
	}
	if st.failures >= l.opts.MaxStageFailures || l.opts.MaxStageAttempts > 0 && st.attempts >= l.opts.MaxStageAttempts {
		l.abortStage(st, l.asTaskError(a, cause))
		return
	}
	l.logAttempt(slog.LevelWarn, "fetch failed, running the stage again", a, cause)
	l.resubmitLater(st)
}

// outputLost unregisters one output and, since whoever loses one has likely lost all, those of its
// executor. What was written after the task that complains had been launched is not meant.
func (l *loop) outputLost(fetch *FetchError, epoch int64) {
	o := l.registry.shuffle(fetch.Shuffle)
	if o != nil && fetch.Map >= 0 && fetch.Map < len(o.maps) && o.lose(fetch.Map, fetch.Executor, epoch) {
		l.registry.epoch++
		l.registry.losses++
	}
	if fetch.Executor != "" {
		l.registry.loseOutputs(fetch.Executor, epoch)
		l.excludeUnread(fetch.Executor)
	}
}

// doubtCached forgets the persisted partitions a task was told of if it went past them to a shuffle
// that is incomplete and that they should have spared it: they cannot be had. Without this the shuffle
// would be left out at the next attempt too.
func (l *loop) doubtCached(a *attempt, fetch *FetchError) {
	if p := l.stages[fetch.Shuffle]; p != nil && (p.outputs.complete() || slices.Contains(l.missingParents(a.set.stage), p)) {
		return
	}
	for _, c := range a.task.Cached {
		for _, ex := range c.Executors {
			l.registry.unkeep(c.BlockID, ex)
			l.emitBlock(c.BlockID, ex, false)
		}
	}
}

// resubmitFailed submits the stages that fetch failures have stopped.
func (l *loop) resubmitFailed() {
	stages := l.failed
	l.failed = nil
	slices.SortFunc(stages, byPriority)
	for _, st := range stages {
		if st.state == failed {
			st.state = idle
			l.submitStage(st)
		}
	}
}

func (l *loop) executor(id ExecutorID) *executor {
	for _, ex := range l.executors {
		if ex.ID == id {
			return ex
		}
	}
	return nil
}

// addExecutor takes in an executor. One that is known has started anew: what it held is lost.
func (l *loop) addExecutor(info ExecutorInfo) {
	id, slots := info.ID, max(info.Slots, 0)
	info.Slots = slots
	if l.executor(id) != nil {
		l.loseExecutor(id, Loss{})
	}
	delete(l.registry.failed, id)
	ex := &executor{ExecutorInfo: info, free: slots}
	l.startAnew(id)
	l.nearer(ex, l.executors)
	l.executors = append(l.executors, ex)
	l.free += slots
	l.opts.Logger.Info("executor added", keyExecutor, string(id), "slots", slots)
	l.emit(func(li *Listener) {
		if li.ExecutorAdded != nil {
			li.ExecutorAdded(info)
		}
	})
}

// loseExecutor unregisters all that an executor held and puts back what ran, or had run, on it.
func (l *loop) loseExecutor(id ExecutorID, loss Loss) {
	ex := l.executor(id)
	if ex == nil {
		return
	}
	l.executors = slices.DeleteFunc(l.executors, func(e *executor) bool { return e == ex })
	l.free -= ex.free
	l.registry.loseOutputs(id, l.registry.epoch)
	l.registry.loseCached(id)
	l.opts.Logger.Info("executor lost", keyExecutor, string(id), keyError, loss.Err)
	l.emit(func(li *Listener) {
		if li.ExecutorLost != nil {
			li.ExecutorLost(id, loss)
		}
	})
	err := &ExecutorLostError{Executor: id, Err: loss.Err}
	lost := l.attempts(func(a *attempt) bool { return a.task.Executor == id })
	for _, a := range slices.Backward(lost) { // so that the lowest partition is requeued last, in front
		l.detach(a)
	}
	for _, a := range lost {
		l.emitTaskEnded(a, nil, err)
	}
	for _, a := range slices.Backward(lost) {
		l.commits.free(a)
		if !a.killed {
			l.taskFailed(a, err, !loss.Blameless)
		}
	}
	// Map tasks of live attempts that had succeeded there have to run again.
	for _, set := range l.sets {
		if set.stage.shuffle == nil {
			continue
		}
		for i := len(set.tasks) - 1; i >= 0; i-- {
			if t := &set.tasks[i]; t.done && t.ranOn == id && !set.stage.outputs.has(t.key) {
				t.done = false
				set.remaining++
				l.commits.reopen(set.stage, t.key)
				set.requeue(i)
			}
		}
	}
}

// forget drops blocks everywhere. Scopes and shuffles that active jobs use wait until these are over.
func (l *loop) forget(d lineage.Drop) {
	now := lineage.Drop{Nodes: d.Nodes, Broadcasts: d.Broadcasts}
	for _, scope := range d.Scopes {
		if l.inUse(scope) {
			l.deferred.Scopes = append(l.deferred.Scopes, scope)
		} else {
			now.Scopes = append(now.Scopes, scope)
		}
	}
	for _, id := range d.Shuffles {
		if l.stages[id] != nil {
			l.deferred.Shuffles = append(l.deferred.Shuffles, id)
		} else {
			now.Shuffles = append(now.Shuffles, id)
		}
	}
	if now.Empty() {
		return
	}
	l.emitUnpersisted(now)
	l.registry.drop(now)
	for _, a := range l.running {
		if a.forget == nil {
			a.forget = new(lineage.Drop)
		}
		a.forget.Scopes = append(a.forget.Scopes, now.Scopes...)
		a.forget.Nodes = append(a.forget.Nodes, now.Nodes...)
		a.forget.Shuffles = append(a.forget.Shuffles, now.Shuffles...)
	}
	l.backend.Drop(now)
}

// inUse reports whether an active job belongs to a scope or has a stage that does.
func (l *loop) inUse(scope lineage.Scope) bool {
	for _, j := range l.jobs {
		if j.spec.Scope == scope {
			return true
		}
		for _, st := range j.stages {
			if st.final.ID().Scope == scope || st.shuffle != nil && st.shuffle.ID.Node.Scope == scope {
				return true
			}
		}
	}
	return false
}

func (l *loop) forgetDeferred() {
	if !l.deferred.Empty() {
		d := l.deferred
		l.deferred = lineage.Drop{}
		l.forget(d)
	}
}
