package scheduler

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leat-io/leat/lineage"
)

// A Summary adds up what the tasks of recent jobs did, by stage and job. Its methods may be called from any
// goroutine.
//
//	summary := scheduler.NewSummary(100)
//	s := scheduler.New(backend, scheduler.Options{Listeners: []scheduler.Listener{summary.Listener()}})
//	...
//	fmt.Print(summary)
type Summary struct {
	keep int

	mu      sync.Mutex // guards what follows
	jobs    []*jobRecord
	stages  map[int]*stageRecord
	dropped int
}

// A jobRecord is a job as listeners hear of it.
type jobRecord struct {
	JobSummary
	stages, skipped []int
}

// A stageRecord is a stage, for the jobs that use it.
type stageRecord struct {
	StageSummary
	jobs int
	took []time.Duration // by the successes
}

// A JobSummary is what a job did.
type JobSummary struct {
	Job        int
	Name, Site string
	Scope      lineage.Scope
	Properties lineage.Properties
	// Ended is zero while the job runs.
	Started, Ended time.Time
	Err            error
	// Stages are all of the job, parents first. A stage that other jobs use as well counts what it did for
	// them too.
	Stages []StageSummary
	// Total adds up the stages that the job did not skip.
	Total Counts
}

// A StageSummary is what a stage did.
type StageSummary struct {
	StageInfo
	// Skipped is set where the stage did not run while the job did, Running where an attempt is under way.
	Skipped, Running bool
	Attempts         int
	// Submitted is when the first attempt began, Completed when the last one ended.
	Submitted, Completed time.Time
	// Err is why the last attempt did not finish.
	Err error
	Counts
	// Times are those of attempts that succeeded.
	Times Distribution
}

// Counts add up attempts of tasks.
type Counts struct {
	Launched, Succeeded, Failed int
	Killed                      int // that nobody needed any more
	Copies                      int // launched because others were slow
	Retries                     int // launched because one of the same partition had failed or was lost
	// Metrics is the sum over all attempts, also failed ones; PeakMemory is the most that one had.
	Metrics lineage.Metrics
}

// A Distribution describes durations.
type Distribution struct {
	Min, Median, Max time.Duration
}

// NewSummary returns a summary that remembers the last keep jobs that have ended. 0 means 100.
func NewSummary(keep int) *Summary {
	if keep <= 0 {
		keep = 100
	}
	return &Summary{keep: keep, stages: map[int]*stageRecord{}}
}

// Listener returns what to put into Options.Listeners, of one scheduler.
func (s *Summary) Listener() Listener {
	return Listener{
		JobStarted: s.jobStarted, JobEnded: s.jobEnded, StageSubmitted: s.stageSubmitted, StageCompleted: s.stageCompleted,
		TaskStarted: s.taskStarted, TaskEnded: s.taskEnded,
		Dropped: func(events int) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.dropped += events
		},
	}
}

// Jobs returns the jobs that run or ended lately, oldest first.
func (s *Summary) Jobs() []JobSummary {
	s.mu.Lock()
	defer s.mu.Unlock()
	jobs := make([]JobSummary, 0, len(s.jobs))
	for _, j := range s.jobs {
		sum := j.JobSummary
		sum.Stages = make([]StageSummary, 0, len(j.stages))
		for _, id := range j.stages {
			st := s.stages[id]
			if st == nil {
				continue
			}
			one := st.StageSummary
			one.Skipped = slices.Contains(j.skipped, id)
			one.Times = distribution(st.took)
			sum.Stages = append(sum.Stages, one)
			if !one.Skipped {
				sum.Total.add(one.Counts)
			}
		}
		jobs = append(jobs, sum)
	}
	return jobs
}

// Dropped returns how many events the summary has missed: its counts are short by what those said.
func (s *Summary) Dropped() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// String returns the jobs as a page of text, a line for each job and each stage.
func (s *Summary) String() string {
	var out strings.Builder
	for _, j := range s.Jobs() {
		out.WriteString(j.String())
	}
	return out.String()
}

// String returns a line for the job and one for each stage.
func (j JobSummary) String() string {
	var out strings.Builder
	state := "running"
	switch {
	case j.Ended.IsZero():
	case j.Err != nil:
		state = "failed"
	default:
		state = "done"
	}
	if !j.Ended.IsZero() {
		state += fmt.Sprintf(" in %v", j.Ended.Sub(j.Started).Round(time.Microsecond))
	}
	fmt.Fprintf(&out, "job %d%s: %s, %s\n", j.Job, called(j.Name, j.Site), state, j.Total)
	for _, st := range j.Stages {
		if st.Skipped {
			fmt.Fprintf(&out, "  stage %d (%s): skipped\n", st.Stage, st.Op)
			continue
		}
		fmt.Fprintf(&out, "  stage %d (%s): %s, %s\n", st.Stage, st.Op, st.Counts, st.Times)
	}
	return out.String()
}

// String returns the counts that are not 0.
func (c Counts) String() string {
	words := []string{fmt.Sprintf("%d tasks done", c.Succeeded)}
	m := c.Metrics
	for _, f := range []struct {
		format string
		value  int64
	}{
		{"%d failed", int64(c.Failed)}, {"%d retried", int64(c.Retries)}, {"%d copied", int64(c.Copies)},
		{"%d killed", int64(c.Killed)}, {"read %d rows", m.InputRows}, {"fetched %d B", m.FetchedBytes},
		{"shuffled %d B", m.ShuffleBytes}, {"spilled %d B", m.SpilledBytes}, {"results %d B", m.ResultBytes},
	} {
		if f.value != 0 {
			words = append(words, fmt.Sprintf(f.format, f.value))
		}
	}
	return strings.Join(words, ", ")
}

// String returns the three durations.
func (d Distribution) String() string {
	return fmt.Sprintf("took %v, %v, %v", d.Min.Round(time.Microsecond), d.Median.Round(time.Microsecond), d.Max.Round(time.Microsecond))
}

func distribution(took []time.Duration) Distribution {
	if len(took) == 0 {
		return Distribution{}
	}
	p := pace{durations: slices.Clone(took)}
	median := p.median()
	return Distribution{Min: p.durations[0], Median: median, Max: p.durations[len(took)-1]}
}

func (c *Counts) add(o Counts) {
	c.Launched += o.Launched
	c.Succeeded += o.Succeeded
	c.Failed += o.Failed
	c.Killed += o.Killed
	c.Copies += o.Copies
	c.Retries += o.Retries
	addMetrics(&c.Metrics, o.Metrics)
}

func addMetrics(m *lineage.Metrics, o lineage.Metrics) {
	m.RunTime += o.RunTime
	m.WaitTime += o.WaitTime
	m.EncodeTime += o.EncodeTime
	m.DecodeTime += o.DecodeTime
	m.ResultBytes += o.ResultBytes
	m.PeakMemory = max(m.PeakMemory, o.PeakMemory)
	m.SpilledBytes += o.SpilledBytes
	m.SpilledRows += o.SpilledRows
	m.InputBytes += o.InputBytes
	m.InputRows += o.InputRows
	m.OutputBytes += o.OutputBytes
	m.OutputRows += o.OutputRows
	m.LocalBlocks += o.LocalBlocks
	m.RemoteBlocks += o.RemoteBlocks
	m.FetchedBytes += o.FetchedBytes
	m.FetchedRows += o.FetchedRows
	m.ShuffleBytes += o.ShuffleBytes
	m.ShuffleRows += o.ShuffleRows
	m.ShuffleTime += o.ShuffleTime
	m.KeptPartitions += o.KeptPartitions
	m.KeptFailed += o.KeptFailed
	m.EvictedBlocks += o.EvictedBlocks
	m.EvictedBytes += o.EvictedBytes
}
