package rdd

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/leat-io/leat/lineage"
)

// updatable is an accumulator whatever its types.
type updatable interface{ update(lineage.Update) error }

// values are the broadcasts and accumulators of a context and its views.
type values struct {
	lastBroadcast, lastAccumulator atomic.Int64

	mu           sync.Mutex // guards accumulators
	accumulators map[lineage.AccumulatorID]updatable
}

func (v *values) register(id lineage.AccumulatorID, t updatable) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.accumulators == nil {
		v.accumulators = map[lineage.AccumulatorID]updatable{}
	}
	v.accumulators[id] = t
}

func (v *values) unregister(id lineage.AccumulatorID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.accumulators, id)
}

// update gives what a task has added to the accumulator it is for. That of an accumulator that is gone is dropped; one
// that cannot be merged is lost, and the job goes on.
func (s *shared) update(u lineage.Update) {
	s.values.mu.Lock()
	t := s.values.accumulators[u.ID]
	s.values.mu.Unlock()
	if t == nil {
		return
	}
	// The runner calls this on a goroutine that it needs for all other jobs, and merge is a function of the program.
	err := errGoexit
	var wg sync.WaitGroup
	wg.Go(func() { err = t.update(u) })
	wg.Wait()
	if err != nil && s.opts.Logger != nil {
		s.opts.Logger.LogAttrs(context.Background(), slog.LevelError, "accumulator update lost",
			slog.Int64("accumulator", int64(u.ID)), slog.String("name", u.Name), slog.Any("error", err))
	}
}
