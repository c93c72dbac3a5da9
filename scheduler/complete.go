package scheduler

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
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
	l.logAttempt(slog.LevelDebug, "task ended", a, end.Err)
	l.emitTaskEnded(a, end.Err)
	l.noteCached(a, end)
	if end.Err == nil {
		l.succeeded(a, end)
		return
	}
	var fetch *FetchError
	switch {
	case a.killed:
	case errors.As(end.Err, &fetch):
		l.fetchFailed(a, fetch, end.Err)
	default:
		l.taskFailed(a, end.Err, true)
	}
}

// noteCached registers what an attempt stored, also a failed one: each is a complete partition. What
// has been dropped since is dropped again.
func (l *loop) noteCached(a *attempt, end *TaskEnd) {
	again := false
	for _, c := range end.Cached {
		if a.forget != nil && a.forget.Covers(c.Node) {
			again = true
			continue
		}
		for _, ex := range c.Executors {
			if l.executor(ex) != nil {
				l.registry.keep(c.BlockID, ex)
			}
		}
	}
	if sh := a.task.Shuffle; sh != nil && a.forget != nil && a.forget.CoversShuffle(sh.ID) {
		again = true
	}
	if again {
		l.backend.Drop(*a.forget)
	}
}

// succeeded counts a success, also one of an older attempt of the stage.
func (l *loop) succeeded(a *attempt, end *TaskEnd) {
	set := a.set
	st := set.stage
	t := &set.tasks[a.index]
	t.ranOn = a.task.Executor
	set.finish(a.index)
	if st.state == gone {
		return
	}
	if st.shuffle == nil {
		l.resultArrived(st, t.key, end)
		if st.state == gone {
			return
		}
	} else if !l.registry.bogus(a.task.Executor, a.task.Epoch) {
		st.outputs.register(t.key, MapOutput{Executor: a.task.Executor, MapStatus: end.Status}, a.task.Epoch)
	} else if st.set != set {
		return // a lost output of an older attempt spares the live one nothing
	}
	if live := st.set; live != set {
		l.spare(live, t.key, a.task.Executor)
	}
	if st.state == running && st.shuffle != nil && st.set.remaining == 0 {
		l.attemptDone(st)
	}
}

// spare takes a partition off the live attempt that an older one has brought.
func (l *loop) spare(live *taskSet, key int, by ExecutorID) {
	index, ok := live.find(key)
	if !ok || live.tasks[index].done {
		return
	}
	live.tasks[index].ranOn = by
	live.finish(index)
	for _, a := range l.attempts(func(a *attempt) bool { return a.set == live && a.index == index }) {
		l.kill(a)
	}
}

// resultArrived hands the first result for a position to the job.
func (l *loop) resultArrived(st *stage, key int, end *TaskEnd) {
	j := st.job
	if j.finished[key] {
		return
	}
	j.finished[key] = true
	j.remaining--
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
	}
	final := !Retryable(err)
	if final || counts && t.failures >= l.opts.MaxFailures {
		l.abortStage(set.stage, l.asTaskError(a, err))
		return
	}
	l.logAttempt(slog.LevelWarn, "task failed, running it again", a, err)
	set.requeue(a.index)
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
		l.backend.Cancel(a.task.ID)
	}
}

func (l *loop) detach(a *attempt) { delete(l.running, a.task.ID) }

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

func (l *loop) emitTaskEnded(a *attempt, err error) {
	if !l.listening() {
		return
	}
	ev := TaskEnded{TaskStarted: started(a), Err: err}
	l.emit(func(li *Listener) {
		if li.TaskEnded != nil {
			li.TaskEnded(ev)
		}
	})
}
