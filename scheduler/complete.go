package scheduler

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/leat-io/leat/lineage"
)

// taskEnded takes in the report of an attempt. One about an attempt that is over, or was lost with
// its executor, means nothing any more.
func (l *loop) taskEnded(end *TaskEnd) {
	a := l.running[end.Task]
	if a == nil {
		return
	}
	l.detach(a)
	if ex := l.executor(a.task.Executor); ex != nil {
		ex.free++
		l.free++
	}
	err := end.Err
	if a.outrun {
		err = ErrOutrun // even if it came through
	}
	l.logAttempt(slog.LevelDebug, "task ended", a, err)
	l.emitTaskEnded(a, end, err)
	l.noteCached(a, end)
	if a.outrun {
		l.commits.free(a)
		return
	}
	if end.Err == nil {
		if !l.succeeded(a, end) {
			l.commits.free(a)
		}
		return
	}
	l.commits.free(a)
	var fetch *FetchError
	var denied *CommitDeniedError
	switch {
	case a.killed:
	case errors.As(end.Err, &fetch):
		l.fetchFailed(a, fetch, end.Err)
	default:
		l.taskFailed(a, end.Err, !errors.As(end.Err, &denied))
	}
}

// noteCached registers what an attempt stored, also a failed one: each is a complete partition. What
// has been dropped since is dropped again.
func (l *loop) noteCached(a *attempt, end *TaskEnd) {
	again := false
	var outdated []lineage.NodeID
	for _, c := range end.Cached {
		if a.forget != nil && a.forget.Covers(c.Node) {
			again = true
			continue
		}
		if l.isOutdated(a, c.Node) {
			outdated = append(outdated, c.Node)
			continue
		}
		for _, ex := range c.Executors {
			if l.executor(ex) != nil && l.registry.keep(c.BlockID, ex, a.task.Epoch) {
				l.emitBlock(c.BlockID, ex, true)
			}
		}
	}
	if sh := a.task.Shuffle; sh != nil && a.forget != nil && a.forget.CoversShuffle(sh.ID) {
		again = true
	}
	if again {
		l.backend.Drop(*a.forget)
	}
	l.dropKept(outdated)
}

// succeeded counts a success, also one of an older attempt of the stage. It reports whether the
// partition is done by it.
func (l *loop) succeeded(a *attempt, end *TaskEnd) bool {
	set := a.set
	st := set.stage
	t := &set.tasks[a.index]
	if a.killed && t.done || st.state == gone {
		return false
	}
	if st.shuffle != nil {
		l.update(st.updatesMaps(), a, end)
	}
	if stale(set) {
		return false
	}
	t.ranOn = a.task.Executor
	set.finish(a.index)
	if l.opts.Speculation.Enabled {
		set.pace.add(l.now().Sub(a.started), end.Metrics.InputRows+end.Metrics.FetchedRows)
	}
	l.outrun(set, a.index)
	counts := true
	if st.shuffle == nil {
		l.resultArrived(a, end)
		if st.state == gone {
			return true
		}
	} else if !l.registry.bogus(a.task.Executor, a.task.Epoch) {
		st.outputs.register(t.key, MapOutput{Executor: a.task.Executor, MapStatus: end.Status}, a.task.Epoch)
	} else if counts = false; st.set != set {
		return false // a lost output of an older attempt spares the live one nothing
	}
	if live := st.set; live != set {
		l.spare(live, t.key, a.task.Executor)
	}
	if st.state == running && st.shuffle != nil && st.set.remaining == 0 {
		l.attemptDone(st)
	}
	return counts
}

// spare takes a partition off the live attempt that an older one has brought.
func (l *loop) spare(live *taskSet, key int, by ExecutorID) {
	index, ok := live.find(key)
	if !ok || live.tasks[index].done {
		return
	}
	live.tasks[index].ranOn = by
	live.finish(index)
	l.outrun(live, index)
}

// resultArrived hands the first result for a position to the job.
func (l *loop) resultArrived(a *attempt, end *TaskEnd) {
	set, st, key := a.set, a.set.stage, a.key()
	j := st.job
	if j.finished[key] {
		return
	}
	if set.resultBytes += end.Metrics.ResultBytes; l.opts.MaxResultSize > 0 && set.resultBytes > l.opts.MaxResultSize {
		l.abortStage(st, &ResultSizeError{Stage: st.id, Results: len(set.tasks) - set.remaining,
			Bytes: set.resultBytes, Limit: l.opts.MaxResultSize})
		return
	}
	j.finished[key] = true
	j.remaining--
	l.update(j, a, end)
	if j.spec.Done != nil {
		if err := guard(func() error { return j.spec.Done(key, end.Result) }); err != nil {
			l.endJob(j, j.fail(fmt.Errorf("take result of partition %d: %w", st.partition(key), err)))
			return
		}
	}
	if j.remaining == 0 {
		l.endJob(j, nil)
	}
}

// taskFailed requeues a partition, or aborts the stage if it has failed too often or for good.
func (l *loop) taskFailed(a *attempt, err error, counts bool) {
	set := a.set
	t := &set.tasks[a.index]
	if set.zombie || t.done {
		return
	}
	if counts {
		t.failures++
		l.noteFailure(a, err)
	}
	final := !Retryable(err)
	if final || counts && t.failures >= l.opts.MaxFailures {
		l.abortStage(set.stage, l.asTaskError(a, err))
		return
	}
	l.logAttempt(slog.LevelWarn, "task failed, running it again", a, err)
	if t.running == 0 || !l.runs(set, a.index) {
		set.requeue(a.index)
	}
}

// abortStage fails every job that needs a stage.
func (l *loop) abortStage(st *stage, err error) {
	l.opts.Logger.Error("stage given up", keyStage, st.id, keyError, err)
	for _, j := range slices.Clone(st.jobs) {
		l.endJob(j, j.fail(err))
	}
}

// asTaskError says where err happened, if it does not say so itself.
func (l *loop) asTaskError(a *attempt, err error) error {
	var te *TaskError
	if errors.As(err, &te) {
		return err
	}
	final := a.set.stage.final
	at := a.task.Attempt
	return &TaskError{Job: at.Job, Stage: at.Stage, Partition: at.Partition, Attempt: at.Number,
		Executor: a.task.Executor, Op: final.Op(), Site: final.Site(), Err: err}
}

// kill cancels a running attempt. It keeps its slot until its end is reported.
func (l *loop) kill(a *attempt) {
	if !a.killed {
		a.killed = true
		l.commits.revoke(a)
		l.backend.Cancel(a.task.ID)
	}
}

// attach takes in an attempt that is being launched.
func (l *loop) attach(a *attempt) {
	l.commits.add(a)
	a.set.running++
	a.set.tasks[a.index].running++
	if l.pools != nil {
		l.pools.count(a.set.pool, 1)
	}
}

// detach takes out an attempt that is over.
func (l *loop) detach(a *attempt) {
	l.commits.remove(a)
	a.set.running--
	a.set.tasks[a.index].running--
	if l.pools != nil {
		l.pools.count(a.set.pool, -1)
	}
}

// attempts returns the running attempts that match, by id.
func (l *loop) attempts(match func(*attempt) bool) []*attempt {
	var found []*attempt
	for _, a := range l.running {
		if match(a) {
			found = append(found, a)
		}
	}
	slices.SortFunc(found, func(a, b *attempt) int { return cmp.Compare(a.task.ID, b.task.ID) })
	return found
}
