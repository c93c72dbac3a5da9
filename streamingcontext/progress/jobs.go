package progress

import (
	"slices"
	"sync"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler"
)

// A Job is an RDD job that an output of a batch started.
type Job struct {
	ID     int
	Batch  dstream.Time
	Output int
	// Known is false where the store has forgotten the rest.
	Known              bool
	Name, Site         string
	Group, Description string
	Started, Ended     time.Time // Ended is zero while it runs
	Err                error
	Stages             []Stage // parents first; not to be changed
}

// A Stage is a stage of a job.
type Stage struct {
	scheduler.StageInfo
	RDDs []scheduler.RDDInfo // what it computes, its last RDD first
	// Skipped is set where it did not run for the job, since its outputs were there.
	Skipped, Running     bool
	Attempts             int
	Submitted, Completed time.Time // the first attempt's begin, the last one's end
	Err                  error     // why the last attempt did not finish
	Tasks                int       // of the first attempt
	Succeeded, Failed    int       // tasks
	Killed               int
}

// Duration returns how long the job took; false while it runs, or if it is not known.
func (j Job) Duration() (time.Duration, bool) {
	if !j.Known || j.Ended.IsZero() {
		return 0, false
	}
	return j.Ended.Sub(j.Started), true
}

// Duration returns how long the stage took, from its first task to its last; false while it runs and if it did not.
func (s Stage) Duration() (time.Duration, bool) {
	if s.Skipped || s.Submitted.IsZero() || s.Completed.IsZero() {
		return 0, false
	}
	return s.Completed.Sub(s.Submitted), true
}

// jobs is what a store knows of the scheduler. Its lock is taken before the store's.
type jobs struct {
	retained int
	open     func() int // how many batches are known

	mu     sync.Mutex // guards the fields below
	links  map[dstream.Time]*link
	order  []dstream.Time // of links, by their first job
	byID   map[int]*jobRecord
	ended  []int // jobs in byID that have ended, in the order of their ends
	stages map[int]*stageRecord
	counts SchedulerCounts
}

// A link is the jobs of one batch, in the order of their starts.
type link struct{ jobs []linked }

type linked struct{ output, job int }

type jobRecord struct {
	Job
	stages, skipped []int
}

// A stageRecord is a stage, for the jobs that use it.
type stageRecord struct {
	Stage
	jobs int
}

// More than these are not linked to one batch, or kept of one job.
const (
	maxLinks  = 10_000
	maxStages = 1_000
)

func newJobs(retained int, open func() int) *jobs {
	return &jobs{retained: retained, open: open, links: map[dstream.Time]*link{}, byID: map[int]*jobRecord{}, stages: map[int]*stageRecord{}}
}

// link notes a job of a batch, also of one that the store has not heard of yet.
func (j *jobs) link(t dstream.Time, output, job int) {
	l := j.links[t]
	if l == nil {
		l = &link{}
		j.links[t] = l
		j.order = append(j.order, t)
		if len(j.order) > j.open()+10 {
			delete(j.links, j.order[0])
			j.order = slices.Delete(j.order, 0, 1)
		}
	}
	if len(l.jobs) < maxLinks {
		l.jobs = append(l.jobs, linked{output, job})
	}
}

// of returns the jobs of an output, in the order of their starts.
func (j *jobs) of(t dstream.Time, output int) []Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	l := j.links[t]
	if l == nil {
		return nil
	}
	var all []Job
	for _, at := range l.jobs {
		if at.output == output {
			all = append(all, j.job(at.job, t, output))
		}
	}
	return all
}

// job returns what is known of a job. mu is held.
func (j *jobs) job(id int, t dstream.Time, output int) Job {
	r := j.byID[id]
	if r == nil {
		return Job{ID: id, Batch: t, Output: output}
	}
	job := r.Job
	for _, s := range r.stages {
		if st := j.stages[s]; st != nil {
			stage := st.Stage
			stage.Skipped = slices.Contains(r.skipped, s)
			job.Stages = append(job.Stages, stage)
		}
	}
	return job
}

// evict forgets the jobs that ended first. mu is held.
func (j *jobs) evict() {
	for len(j.ended) > j.retained {
		r := j.byID[j.ended[0]]
		j.ended = slices.Delete(j.ended, 0, 1)
		delete(j.byID, r.ID)
		for _, s := range r.stages {
			if st := j.stages[s]; st != nil {
				if st.jobs--; st.jobs == 0 {
					delete(j.stages, s)
				}
			}
		}
	}
}

// Jobs returns the jobs of one output of a batch, in the order of their starts. Of jobs that are forgotten
// it has the numbers.
func (s *Store) Jobs(t dstream.Time, output int) []Job { return s.jobs.of(t, output) }
