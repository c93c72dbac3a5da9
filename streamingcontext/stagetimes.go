package streamingcontext

import (
	"cmp"
	"sync"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler"
)

// A StageTime is what one stage had of a batch's processing time, all attempts of it and all jobs of the batch
// together.
type StageTime struct {
	Op, Site string        // the operator the stage ends at, and where it is declared; empty if no stage ran
	Time     time.Duration // from submission to end, by package time
	Share    float64       // of the batch's processing time, by package time; at most 1
}

// stageTimes adds up how long the stages of batches took. The scheduler tells it on its own loop, before the
// job that waited for the stage returns, so a batch that has ended has all its stages here.
type stageTimes struct {
	mu      sync.Mutex // guards batches
	batches map[dstream.Time]map[stageName]time.Duration
}

type stageName struct{ site, op string }

// open makes room for the stages of a batch. What comes for other batches is left out.
func (s *stageTimes) open(t dstream.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.batches == nil {
		s.batches = map[dstream.Time]map[stageName]time.Duration{}
	}
	if s.batches[t] == nil {
		s.batches[t] = map[stageName]time.Duration{}
	}
}

// over is told of each stage attempt that has ended.
func (s *stageTimes) over(e scheduler.StageCompleted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stages := s.batches[dstream.Time(e.Properties.Batch)]; stages != nil {
		stages[stageName{e.Site, e.Op}] += e.Time.Sub(e.Submitted)
	}
}

// alsoTold returns over, in front of another function that is to be told as well, nil for none.
func (s *stageTimes) alsoTold(other func(scheduler.StageCompleted)) func(scheduler.StageCompleted) {
	if other == nil {
		return s.over
	}
	return func(e scheduler.StageCompleted) {
		s.over(e)
		other(e)
	}
}

// take returns the stage that took the longest of a batch that took so long in all, and forgets the batch.
func (s *stageTimes) take(t dstream.Time, all time.Duration) StageTime {
	s.mu.Lock()
	defer s.mu.Unlock()
	var worst StageTime
	for name, took := range s.batches[t] {
		// Ties go by name, so that the order of the map does not show.
		c := cmp.Or(cmp.Compare(took, worst.Time), cmp.Compare(worst.Site, name.site), cmp.Compare(worst.Op, name.op))
		if worst == (StageTime{}) || c > 0 {
			worst = StageTime{Op: name.op, Site: name.site, Time: took}
		}
	}
	delete(s.batches, t)
	if all > 0 {
		worst.Share = min(1, float64(worst.Time)/float64(all))
	}
	return worst
}

// reset forgets all batches.
func (s *stageTimes) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches = nil
}
