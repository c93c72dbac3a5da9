package scheduler

import (
	"errors"
	"slices"
	"time"

	"github.com/leat-io/leat/lineage"
)

// JobStarted says that a job was accepted.
type JobStarted struct {
	Job        int
	Name, Site string
	Scope      lineage.Scope
	Properties lineage.Properties
	Time       time.Time
	// Stages are all stages of the job, parents first, also those that will be skipped because their
	// outputs are there. The last one brings the results.
	Stages []StageInfo
	// RDDs are, for each of Stages, what it computes: its last RDD first, at most MaxStageRDDs.
	RDDs [][]RDDInfo
}

// StageInfo describes a stage.
type StageInfo struct {
	Stage    int
	Op, Site string // of the node it ends at
	Map      bool
	Shuffle  lineage.ShuffleID // what a map stage writes
	Parts    int               // partitions of the node it ends at
	Present  int               // of them those of a map stage whose outputs are there already
	Parents  []int             // stages whose outputs it reads, ascending
}

// JobEnded says that a job is over; Err is what Run returns.
type JobEnded struct {
	Job  int
	Err  error
	Time time.Time
	// Skipped are the stages of the job that did not run while it did, ascending.
	Skipped []int
}

// StageSubmitted says that an attempt of a stage begins with so many tasks.
type StageSubmitted struct {
	StageInfo
	Attempt, Tasks int
	Properties     lineage.Properties
	Time           time.Time
}

// StageCompleted says that an attempt of a stage is over; Err is the reason if it did not finish.
type StageCompleted struct {
	StageInfo
	Attempt, Tasks  int
	Properties      lineage.Properties // as of its submission
	Err             error
	Submitted, Time time.Time
}

// TaskStarted says that an attempt was launched.
type TaskStarted struct {
	Task        TaskID
	Attempt     lineage.Attempt
	Executor    ExecutorID
	Locality    Locality
	Speculative bool // a copy of an attempt that still runs
	Time        time.Time
}

// TaskEnded says that an attempt is over.
type TaskEnded struct {
	TaskStarted
	Err    error
	Killed bool // nobody needed it any more
	Ended  time.Time
	// Metrics is what the attempt did, nothing where it cannot say so any more.
	Metrics lineage.Metrics
	// Updates are what it added to accumulators that have a name.
	Updates []lineage.Update
	// ResultBytes is the size of its result where that came encoded.
	ResultBytes int
}

// Excluded says that an executor gets no tasks, or some again.
type Excluded struct {
	Executor ExecutorID // empty: all of the host
	Host     string
	// Stage and StageAttempt are whose tasks it gets no more; Stage is -1 for any.
	Stage, StageAttempt int
	// Failures is how many tasks, for a host how many executors, are the reason.
	Failures int
	// Until is when it gets tasks again; zero: not before the stage's attempt is over.
	Until time.Time
}

// Unschedulable says that a stage has a task that may run nowhere.
type Unschedulable struct {
	StageInfo
	Attempt int
	// Waiting is set where a new executor is waited for, Over where that need not be done any longer. If
	// neither is, the stage is given up.
	Waiting, Over bool
}

// BlockUpdated says that an executor holds a persisted partition, or does no longer.
type BlockUpdated struct {
	BlockID
	Executor ExecutorID
	Held     bool
}

// info describes a stage to listeners.
func (l *loop) info(st *stage) StageInfo {
	i := StageInfo{Stage: st.id, Op: st.final.Op(), Site: st.final.Site(), Map: st.shuffle != nil, Parts: st.parts}
	if st.shuffle != nil {
		i.Shuffle, i.Present = st.shuffle.ID, st.outputs.have
	}
	for _, sh := range st.reads {
		if p := l.stages[sh.ID]; p != nil {
			i.Parents = append(i.Parents, p.id)
		}
	}
	slices.Sort(i.Parents)
	return i
}

func (l *loop) emitJobStarted(j *job) {
	if !l.listening() {
		return
	}
	ev := JobStarted{Job: j.id, Name: j.spec.Name, Site: j.spec.Site, Scope: j.spec.Scope, Properties: j.spec.Properties, Time: l.now()}
	ev.Properties.Tags = slices.Clone(ev.Properties.Tags)
	for _, st := range j.stages {
		ev.Stages = append(ev.Stages, l.info(st))
		ev.RDDs = append(ev.RDDs, l.rdds(st))
	}
	l.emit(func(li *Listener) {
		if li.JobStarted != nil {
			li.JobStarted(ev)
		}
	})
}

func (l *loop) emitJobEnded(j *job, err error) {
	if !l.listening() {
		return
	}
	ev := JobEnded{Job: j.id, Err: err, Time: l.now()}
	for _, st := range j.stages {
		if st.lastEvent <= j.since {
			ev.Skipped = append(ev.Skipped, st.id)
		}
	}
	slices.Sort(ev.Skipped)
	l.emit(func(li *Listener) {
		if li.JobEnded != nil {
			li.JobEnded(ev)
		}
	})
}

func (l *loop) emitStageSubmitted(set *taskSet) {
	st := set.stage
	l.stageEvents++
	st.lastEvent = l.stageEvents
	if !l.listening() && l.opts.StageWatch == nil {
		return
	}
	set.submitted = l.now()
	ev := StageSubmitted{StageInfo: l.info(st), Attempt: set.attempt, Tasks: len(set.tasks), Properties: set.properties, Time: set.submitted}
	l.emit(func(li *Listener) {
		if li.StageSubmitted != nil {
			li.StageSubmitted(ev)
		}
	})
}

func (l *loop) emitStageCompleted(set *taskSet, reason error) {
	st := set.stage
	l.stageEvents++
	st.lastEvent = l.stageEvents
	if !l.listening() && l.opts.StageWatch == nil {
		return
	}
	ev := StageCompleted{StageInfo: l.info(st), Attempt: set.attempt, Tasks: len(set.tasks), Properties: set.properties,
		Err: reason, Submitted: set.submitted, Time: l.now()}
	if l.opts.StageWatch != nil {
		l.opts.StageWatch(ev)
	}
	l.emit(func(li *Listener) {
		if li.StageCompleted != nil {
			li.StageCompleted(ev)
		}
	})
}

func started(a *attempt) TaskStarted {
	at := TaskStarted{Task: a.task.ID, Attempt: a.task.Attempt, Executor: a.task.Executor, Time: a.started,
		Locality: a.level, Speculative: a.copied}
	if at.Locality == NoPref {
		at.Locality = ProcessLocal
	}
	return at
}

func (l *loop) emitTaskStarted(a *attempt) {
	if !l.listening() {
		return
	}
	ev := started(a)
	l.emit(func(li *Listener) {
		if li.TaskStarted != nil {
			li.TaskStarted(ev)
		}
	})
}

// emitTaskEnded tells how an attempt ended; end is nil where it did not report.
func (l *loop) emitTaskEnded(a *attempt, end *TaskEnd, err error) {
	if !l.listening() {
		return
	}
	ev := TaskEnded{TaskStarted: started(a), Err: err, Killed: a.killed || errors.Is(err, ErrOutrun), Ended: l.now()}
	if end != nil {
		ev.Metrics, ev.ResultBytes = end.Metrics, len(end.ResultData)
		for _, u := range end.Updates {
			if u.Name != "" && err == nil {
				ev.Updates = append(ev.Updates, u)
			}
		}
	}
	l.emit(func(li *Listener) {
		if li.TaskEnded != nil {
			li.TaskEnded(ev)
		}
	})
}

func (l *loop) emitExcluded(e Excluded) {
	l.opts.Logger.Warn("executor excluded", keyExecutor, string(e.Executor), "host", e.Host, keyStage, e.Stage, "failures", e.Failures)
	l.emit(func(li *Listener) {
		if li.ExecutorExcluded != nil {
			li.ExecutorExcluded(e)
		}
	})
}

func (l *loop) emitUnschedulable(set *taskSet, waiting, over bool) {
	if !l.listening() {
		return
	}
	ev := Unschedulable{StageInfo: l.info(set.stage), Attempt: set.attempt, Waiting: waiting, Over: over}
	l.emit(func(li *Listener) {
		if li.Unschedulable != nil {
			li.Unschedulable(ev)
		}
	})
}

func (l *loop) emitBlock(id BlockID, executor ExecutorID, held bool) {
	if !l.listening() {
		return
	}
	ev := BlockUpdated{id, executor, held}
	l.emit(func(li *Listener) {
		if li.BlockUpdated != nil {
			li.BlockUpdated(ev)
		}
	})
}

func (l *loop) emitUnpersisted(d lineage.Drop) {
	if !l.listening() {
		return
	}
	l.emit(func(li *Listener) {
		if li.Unpersisted != nil {
			li.Unpersisted(d)
		}
	})
}
