package scheduler

import (
	"cmp"
	"slices"
	"time"
)

// An exclusion is what the loop knows of executors that failed tasks; nil where exclusion is off.
type exclusion struct {
	opts      Exclusion
	failures  map[ExecutorID][]oldFailure // of sets that have succeeded
	executors map[ExecutorID]excluded
	hosts     map[string]excluded
}

// An oldFailure is a task that failed on an executor, of a set that succeeded; it counts until then.
type oldFailure struct {
	stage, attempt, index int
	until                 time.Time
}

// An excluded is an executor or a host that gets no tasks until then.
type excluded struct {
	host  string
	until time.Time
}

// A setExclusion is what failed in one task set.
type setExclusion struct {
	failures  map[ExecutorID]*failuresOn
	executors map[ExecutorID]string // excluded ones, with their hosts
	hosts     map[string]bool
	last      error
	nowhere   time.Time // since when it waits for a new executor
}

type failuresOn struct {
	host  string
	tasks map[int]int // how often each index failed
}

func newExclusion(opts Exclusion) *exclusion {
	if !opts.Enabled {
		return nil
	}
	return &exclusion{opts: opts, failures: map[ExecutorID][]oldFailure{}, executors: map[ExecutorID]excluded{},
		hosts: map[string]excluded{}}
}

// barred reports whether a task must not run on an executor.
func (l *loop) barred(set *taskSet, index int, ex *executor) bool {
	x := l.exclusion
	if x == nil {
		return false
	}
	host := hostOf(ex)
	if _, out := x.executors[ex.ID]; out {
		return true
	}
	if _, out := x.hosts[host]; out {
		return true
	}
	f := set.excluded
	if f == nil {
		return false
	}
	if _, out := f.executors[ex.ID]; out || f.hosts[host] {
		return true
	}
	onHost := 0
	for id, on := range f.failures {
		if id == ex.ID && on.tasks[index] >= x.opts.TaskExecutor {
			return true
		}
		if on.host == host {
			onHost += on.tasks[index]
		}
	}
	return onHost >= x.opts.TaskHost
}

// noteFailure counts a failure that the task is to blame for.
func (l *loop) noteFailure(a *attempt, err error) {
	x, set := l.exclusion, a.set
	if x == nil {
		return
	}
	if set.excluded == nil {
		set.excluded = &setExclusion{failures: map[ExecutorID]*failuresOn{}, executors: map[ExecutorID]string{}, hosts: map[string]bool{}}
	}
	f := set.excluded
	f.last = err
	id, host := a.task.Executor, string(a.task.Executor)
	if ex := l.executor(id); ex != nil {
		host = hostOf(ex)
	}
	on := f.failures[id]
	if on == nil {
		on = &failuresOn{host: host, tasks: map[int]int{}}
		f.failures[id] = on
	}
	on.tasks[a.index]++
	if _, out := f.executors[id]; !out && len(on.tasks) >= x.opts.StageExecutor {
		f.executors[id] = on.host
		l.emitExcluded(Excluded{Executor: id, Host: on.host, Stage: set.stage.id, StageAttempt: set.attempt, Failures: len(on.tasks)})
		count := 0
		for _, h := range f.executors {
			if h == on.host {
				count++
			}
		}
		if !f.hosts[on.host] && count >= x.opts.StageHost {
			f.hosts[on.host] = true
			l.emitExcluded(Excluded{Host: on.host, Stage: set.stage.id, StageAttempt: set.attempt, Failures: count})
		}
	}
}

// noteSucceeded moves the failures of a set that has come through to those that count for all sets.
func (l *loop) noteSucceeded(set *taskSet) {
	x, f := l.exclusion, set.excluded
	if x == nil || f == nil {
		return
	}
	now := l.now()
	ids := make([]ExecutorID, 0, len(f.failures))
	for id := range f.failures {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		on := f.failures[id]
		for index := range on.tasks { // in any order: they all have the same time
			x.failures[id] = append(x.failures[id], oldFailure{set.stage.id, set.attempt, index, now.Add(x.opts.Timeout)})
		}
		x.expire(id, now)
		if _, out := x.executors[id]; !out && len(x.failures[id]) >= x.opts.Executor {
			l.exclude(id, on.host, len(x.failures[id]), now)
		}
	}
}

// expire forgets failures that count no longer.
func (x *exclusion) expire(id ExecutorID, now time.Time) {
	x.failures[id] = slices.DeleteFunc(x.failures[id], func(f oldFailure) bool { return !now.Before(f.until) })
	if len(x.failures[id]) == 0 {
		delete(x.failures, id)
	}
}

// exclude keeps all tasks from an executor, and from its host if that has several such executors.
func (l *loop) exclude(id ExecutorID, host string, failures int, now time.Time) {
	x := l.exclusion
	until := now.Add(x.opts.Timeout)
	x.executors[id] = excluded{host, until}
	delete(x.failures, id)
	l.emitExcluded(Excluded{Executor: id, Host: host, Stage: -1, Failures: failures, Until: until})
	count := 0
	for _, e := range x.executors {
		if e.host == host {
			count++
		}
	}
	if _, out := x.hosts[host]; !out && count >= x.opts.Host {
		x.hosts[host] = excluded{host, until}
		l.emitExcluded(Excluded{Host: host, Stage: -1, Failures: count, Until: until})
	}
	l.wakeAt(until)
}

// startAnew forgets what failed on an executor that has begun anew under its old name.
func (l *loop) startAnew(id ExecutorID) {
	if l.exclusion == nil {
		return
	}
	delete(l.exclusion.failures, id)
	delete(l.exclusion.executors, id)
	for _, set := range l.sets {
		if set.excluded != nil {
			delete(set.excluded.failures, id)
			delete(set.excluded.executors, id)
		}
	}
}

// excludeUnread excludes an executor whose outputs could not be read.
func (l *loop) excludeUnread(id ExecutorID) {
	x, ex := l.exclusion, l.executor(id)
	if x == nil || !x.opts.FetchFailures || ex == nil {
		return
	}
	if _, out := x.executors[id]; !out {
		l.exclude(id, hostOf(ex), 1, l.now())
	}
}

// readmit lets executors and hosts have tasks again whose time is over.
func (l *loop) readmit(now time.Time) {
	x := l.exclusion
	var back []Excluded
	for id, e := range x.executors {
		if !now.Before(e.until) {
			delete(x.executors, id)
			back = append(back, Excluded{Executor: id, Host: e.host, Stage: -1})
		} else {
			l.wakeAt(e.until)
		}
	}
	for host, e := range x.hosts {
		if !now.Before(e.until) {
			delete(x.hosts, host)
			back = append(back, Excluded{Host: host, Stage: -1})
		} else {
			l.wakeAt(e.until)
		}
	}
	slices.SortFunc(back, func(a, b Excluded) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Executor, b.Executor))
	})
	for _, e := range back {
		l.opts.Logger.Info("executor readmitted", keyExecutor, string(e.Executor), "host", e.Host)
		l.emit(func(li *Listener) {
			if li.ExecutorReadmitted != nil {
				li.ExecutorReadmitted(e)
			}
		})
	}
}

// giveUpNowhere ends the stages with a task that may run on no executor there is. An idle executor is
// replaced first, if the backend can do that, and the new one waited for.
func (l *loop) giveUpNowhere() {
	for _, set := range slices.Clone(l.sets) {
		if set.zombie || set.launchedIn == l.rounds {
			l.schedulable(set)
			continue
		}
		index, stuck := set.queue.find(set, func(index int) bool {
			return !slices.ContainsFunc(l.executors, func(ex *executor) bool { return !l.barred(set, index, ex) })
		})
		if !stuck || len(l.executors) == 0 {
			l.schedulable(set)
			continue
		}
		if !l.awaitReplacement(set) {
			var last error
			if set.excluded != nil {
				last = set.excluded.last
			}
			l.emitUnschedulable(set, false, false)
			l.abortStage(set.stage, &ExcludedError{Stage: set.stage.id, Partition: set.stage.partition(set.tasks[index].key), Err: last})
		}
	}
}

// schedulable ends a set's waiting for a new executor.
func (l *loop) schedulable(set *taskSet) {
	if set.excluded != nil && !set.excluded.nowhere.IsZero() {
		set.excluded.nowhere = time.Time{}
		l.emitUnschedulable(set, false, true)
	}
}

// awaitReplacement reports whether it is worth while to wait for a new executor.
func (l *loop) awaitReplacement(set *taskSet) bool {
	replacer, ok := l.backend.(Replacer)
	if !ok {
		return false
	}
	if set.excluded == nil {
		set.excluded = &setExclusion{}
	}
	now := l.now()
	wait := l.exclusion.opts.Wait
	if since := set.excluded.nowhere; !since.IsZero() {
		if now.Sub(since) >= wait {
			return false
		}
		l.wakeAt(since.Add(wait))
		return true
	}
	i := slices.IndexFunc(l.executors, func(ex *executor) bool { return ex.free == ex.Slots })
	if i < 0 {
		return false
	}
	set.excluded.nowhere = now
	l.emitUnschedulable(set, true, false)
	l.wakeAt(now.Add(wait))
	replacer.Replace(l.executors[i].ID)
	return true
}
