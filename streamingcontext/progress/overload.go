package progress

import (
	"time"

	"github.com/leat-io/leat/dstream"
)

// An Overload says that batches come faster than they are processed: their total delay grows.
type Overload struct {
	Batches  int           // over how many of the last completed batches
	From, To time.Duration // the total delay of the first and last of them
	Waiting  int           // batches that wait for their turn
	// Slowest is the stage that took longest in the last of them; false if the store does not know its stages.
	Slowest SlowStage
	Found   bool
}

// A SlowStage is the stage of a batch that took longest.
type SlowStage struct {
	Batch    dstream.Time
	Output   int
	Job      int
	Stage    int
	Op, Site string // of the operation it ends at
	Took     time.Duration
	Share    float64 // of the time that all stages of the batch took
}

// overloadBatches is how far back Overload looks, and overloadLeast how many batches it needs.
const (
	overloadBatches = 6
	overloadLeast   = 3
)

// Overload returns whether, and how, the program falls behind: the last batch was more than an interval late, and
// the total delay has grown by at least half an interval over the last three to six completed batches.
func (s *Store) Overload() (Overload, bool) { return s.OverloadOf(s.Snapshot()) }

// OverloadOf is Overload for what the store knew a moment ago.
func (s *Store) OverloadOf(snap Snapshot) (Overload, bool) {
	n := min(len(snap.Completed), overloadBatches)
	if n < overloadLeast {
		return Overload{}, false
	}
	to, ok := snap.Completed[0].TotalDelay()
	from, before := snap.Completed[n-1].TotalDelay()
	if !ok || !before || to <= snap.Interval || to-from < snap.Interval/2 {
		return Overload{}, false
	}
	o := Overload{Batches: n, From: from, To: to, Waiting: len(snap.Waiting)}
	o.Slowest, o.Found = s.Slowest(snap.Completed[0].Time)
	return o, true
}

// Slowest returns the stage of a batch that took longest; false if no stage of it is known.
func (s *Store) Slowest(t dstream.Time) (slowest SlowStage, found bool) {
	var sum time.Duration
	for _, j := range s.jobs.batch(t) {
		for _, st := range j.Stages {
			took, ok := st.Duration()
			if !ok {
				continue
			}
			sum += took
			if !found || took > slowest.Took {
				slowest = SlowStage{Batch: t, Output: j.Output, Job: j.ID, Stage: st.Stage, Op: s.OperationOf(st), Site: st.Site, Took: took}
				found = true
			}
		}
	}
	if sum > 0 {
		slowest.Share = float64(slowest.Took) / float64(sum)
	}
	return slowest, found
}

// OperationOf returns the name of the stream or output whose RDD a stage ends at; of an RDD that none made, its
// operator's.
func (s *Store) OperationOf(st Stage) string {
	if len(st.RDDs) > 0 {
		for _, op := range s.Operations() {
			if op.ID == st.RDDs[0].ID.Stream {
				return op.Op
			}
		}
	}
	return st.Op
}

// batch returns all jobs of a batch, in the order of their starts.
func (j *jobs) batch(t dstream.Time) []Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	l := j.links[t]
	if l == nil {
		return nil
	}
	all := make([]Job, len(l.jobs))
	for i, at := range l.jobs {
		all[i] = j.job(at.job, t, at.output)
	}
	return all
}
