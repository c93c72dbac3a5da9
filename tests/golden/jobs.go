package golden

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
)

// A JobShape is how a case writes a job: the task counts of the stages that ran, map stages sorted,
// the result stage last, and how many stages were skipped.
type JobShape struct {
	Tasks   []int `json:"tasks"`
	Skipped int   `json:"skipped"`
}

// A JobLog runs jobs on a scheduler and notes their shapes from what a listener hears.
type JobLog struct {
	rdd.Runner

	mu      sync.Mutex // guards what follows
	changed *sync.Cond
	asked   int // jobs given to the runner
	ended   int // jobs the listener saw end
	jobs    []*loggedJob
}

type loggedJob struct {
	stages []scheduler.StageInfo
	tasks  map[int]int // by stage, of those that were submitted
}

// NewJobLog returns a log; Runner must be set to the scheduler that has its Listener.
func NewJobLog() *JobLog {
	l := &JobLog{}
	l.changed = sync.NewCond(&l.mu)
	return l
}

// Run runs a job on the runner.
func (l *JobLog) Run(ctx context.Context, job lineage.Job) error {
	l.mu.Lock()
	l.asked++
	l.mu.Unlock()
	return l.Runner.Run(ctx, job)
}

// Listener returns what the scheduler has to tell.
func (l *JobLog) Listener() scheduler.Listener {
	return scheduler.Listener{
		JobStarted: func(e scheduler.JobStarted) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.jobs = append(l.jobs, &loggedJob{stages: e.Stages, tasks: map[int]int{}})
		},
		StageSubmitted: func(e scheduler.StageSubmitted) {
			l.mu.Lock()
			defer l.mu.Unlock()
			for _, j := range l.jobs {
				if slices.ContainsFunc(j.stages, func(s scheduler.StageInfo) bool { return s.Stage == e.Stage }) {
					j.tasks[e.Stage] = e.Tasks
				}
			}
		},
		JobEnded: func(scheduler.JobEnded) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.ended++
			l.changed.Broadcast()
		},
	}
}

// Shapes waits for the ends of the jobs run so far and returns their shapes since the last call.
func (l *JobLog) Shapes() []JobShape {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.ended < l.asked {
		l.changed.Wait()
	}
	shapes := []JobShape{}
	for _, j := range l.jobs {
		shapes = append(shapes, j.shape())
	}
	l.jobs = nil
	return shapes
}

func (j *loggedJob) shape() JobShape {
	s := JobShape{Tasks: []int{}}
	for i, stage := range j.stages {
		tasks, ran := j.tasks[stage.Stage]
		if i == len(j.stages)-1 {
			slices.Sort(s.Tasks)
		}
		if ran {
			s.Tasks = append(s.Tasks, tasks)
		} else {
			s.Skipped++
		}
	}
	if len(s.Tasks) == 0 {
		s.Skipped = 0 // a job without partitions has no stages to skip
	}
	return s
}

// sameJobs returns nil if the jobs have the wanted shapes.
func sameJobs(what string, got, want []JobShape) error {
	if slices.EqualFunc(got, want, func(a, b JobShape) bool {
		return a.Skipped == b.Skipped && slices.Equal(a.Tasks, b.Tasks)
	}) {
		return nil
	}
	return fmt.Errorf("%s: got jobs %v, want %v", what, got, want)
}
