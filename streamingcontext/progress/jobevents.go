package progress

import (
	"slices"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler"
)

// SchedulerCounts are totals over all jobs of the scheduler, also those that are not of a batch, since the store
// began to listen.
type SchedulerCounts struct {
	JobsRunning, JobsSucceeded, JobsFailed       int64
	StagesRunning, StagesSucceeded, StagesFailed int64 // attempts
	StagesSkipped                                int64
	TasksRunning, TasksSucceeded, TasksFailed    int64 // attempts
	TasksKilled                                  int64 // that nobody needed any more
	Executors, ExecutorsLost                     int64
	DroppedEvents                                int64 // that the store has missed
}

// Scheduler returns the totals of the scheduler.
func (s *Store) Scheduler() SchedulerCounts {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	return s.jobs.counts
}

func (j *jobs) listener() scheduler.Listener {
	return scheduler.Listener{
		JobStarted: j.jobStarted, JobEnded: j.jobEnded,
		StageSubmitted: j.stageSubmitted, StageCompleted: j.stageCompleted,
		TaskStarted: j.taskStarted, TaskEnded: j.taskEnded,
		ExecutorAdded: func(scheduler.ExecutorInfo) { j.count(func(c *SchedulerCounts) { c.Executors++ }) },
		ExecutorLost: func(scheduler.ExecutorID, scheduler.Loss) {
			j.count(func(c *SchedulerCounts) { down(&c.Executors); c.ExecutorsLost++ })
		},
		Dropped: func(events int) { j.count(func(c *SchedulerCounts) { c.DroppedEvents += int64(events) }) },
	}
}

func (j *jobs) count(change func(*SchedulerCounts)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change(&j.counts)
}

// down counts one less of what began; the event of its begin may have been lost.
func down(n *int64) { *n = max(0, *n-1) }

func (j *jobs) jobStarted(e scheduler.JobStarted) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.counts.JobsRunning++
	if e.Properties.Batch == 0 {
		return
	}
	t := dstream.Time(e.Properties.Batch)
	j.link(t, e.Properties.Output, e.Job)
	r := &jobRecord{Job: Job{
		ID: e.Job, Batch: t, Output: e.Properties.Output, Known: true, Name: e.Name, Site: e.Site,
		Group: e.Properties.Group, Description: e.Properties.Description, Started: e.Time,
	}}
	j.byID[e.Job] = r
	for i, info := range e.Stages {
		if i == maxStages {
			break
		}
		var rdds []scheduler.RDDInfo
		if i < len(e.RDDs) {
			rdds = e.RDDs[i]
		}
		j.use(r, info, rdds)
	}
}

// use makes a job a user of a stage.
func (j *jobs) use(r *jobRecord, info scheduler.StageInfo, rdds []scheduler.RDDInfo) {
	st := j.stages[info.Stage]
	if st == nil {
		st = &stageRecord{Stage: Stage{StageInfo: info, RDDs: rdds}}
		j.stages[info.Stage] = st
	}
	st.jobs++
	r.stages = append(r.stages, info.Stage)
}

func (j *jobs) jobEnded(e scheduler.JobEnded) {
	j.mu.Lock()
	defer j.mu.Unlock()
	down(&j.counts.JobsRunning)
	if e.Err != nil {
		j.counts.JobsFailed++
	} else {
		j.counts.JobsSucceeded++
	}
	j.counts.StagesSkipped += int64(len(e.Skipped))
	r := j.byID[e.Job]
	if r == nil || !r.Ended.IsZero() {
		return
	}
	r.Ended, r.Err, r.skipped = e.Time, e.Err, e.Skipped
	j.ended = append(j.ended, e.Job)
	j.evict()
}

func (j *jobs) stageSubmitted(e scheduler.StageSubmitted) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.counts.StagesRunning++
	st := j.stages[e.Stage]
	if st == nil {
		// A stage that a job turned out to need later on: of the output's newest job that runs.
		l := j.links[dstream.Time(e.Properties.Batch)]
		if l == nil {
			return
		}
		for _, at := range slices.Backward(l.jobs) {
			if r := j.byID[at.job]; r != nil && r.Ended.IsZero() && at.output == e.Properties.Output && len(r.stages) < maxStages {
				j.use(r, e.StageInfo, nil)
				break
			}
		}
		if st = j.stages[e.Stage]; st == nil {
			return
		}
	}
	if st.Attempts == 0 {
		st.Tasks, st.Submitted = e.Tasks, e.Time
	}
	st.Attempts++
	st.Running, st.Err = true, nil
}

func (j *jobs) stageCompleted(e scheduler.StageCompleted) {
	j.mu.Lock()
	defer j.mu.Unlock()
	down(&j.counts.StagesRunning)
	if e.Err != nil {
		j.counts.StagesFailed++
	} else {
		j.counts.StagesSucceeded++
	}
	if st := j.stages[e.Stage]; st != nil {
		st.Running, st.Completed, st.Err = false, e.Time, e.Err
	}
}

func (j *jobs) taskStarted(scheduler.TaskStarted) {
	j.count(func(c *SchedulerCounts) { c.TasksRunning++ })
}

func (j *jobs) taskEnded(e scheduler.TaskEnded) {
	j.mu.Lock()
	defer j.mu.Unlock()
	down(&j.counts.TasksRunning)
	var stage Stage // counts for nobody
	into := &stage
	if st := j.stages[e.Attempt.Stage]; st != nil {
		into = &st.Stage
	}
	switch {
	case e.Killed:
		j.counts.TasksKilled++
		into.Killed++
	case e.Err != nil:
		j.counts.TasksFailed++
		into.Failed++
	default:
		j.counts.TasksSucceeded++
		into.Succeeded++
	}
}
