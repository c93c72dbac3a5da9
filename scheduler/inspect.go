package scheduler

import (
	"time"

	"github.com/leat-io/leat/lineage"
)

// Kept reports which partitions of a node some executor holds, up to the last one that is held. What was dropped
// before the call is not there any more.
//
// It waits for the scheduler's loop, and so must not be called from a job's Done or Update.
func (s *Scheduler) Kept(node lineage.NodeID) []bool {
	var kept []bool
	s.ask(func(l *loop) {
		parts := l.registry.of(node.Scope).cached[node]
		last := -1
		for part := range parts {
			last = max(last, part)
		}
		kept = make([]bool, last+1)
		for part := range parts {
			kept[part] = true
		}
	})
	return kept
}

// Written returns how many outputs of a shuffle are registered, and of how many; 0 of 0 for one that is not known.
// It waits for the scheduler's loop, like Kept.
func (s *Scheduler) Written(id lineage.ShuffleID) (have, maps int) {
	s.ask(func(l *loop) {
		if o := l.registry.shuffle(id); o != nil {
			have, maps = o.have, len(o.maps)
		}
	})
	return have, maps
}

// question is an event that only looks: the registry belongs to the loop, so the loop answers.
type question struct {
	look func(l *loop)
	done chan struct{}
}

func (q question) apply(l *loop) {
	q.look(l)
	close(q.done)
}

// unheard is posted to learn whether the loop still is.
type unheard struct{}

func (unheard) apply(*loop) {}

// unheardAfter is how often somebody who waits looks whether the loop has ended without an answer.
const unheardAfter = 10 * time.Millisecond

// ask has the loop call look. It does nothing before the first Run, when nothing is known, and after Close.
func (s *Scheduler) ask(look func(l *loop)) {
	s.mu.Lock()
	running := s.started && !s.closed
	s.mu.Unlock()
	q := question{look: look, done: make(chan struct{})}
	if !running || !s.inbox.post(q) {
		return
	}
	tick := time.NewTicker(unheardAfter)
	defer tick.Stop()
	for {
		select {
		case <-q.done:
			return
		case <-tick.C:
			// An inbox that refuses has been emptied: q was answered before, or never will be.
			if !s.inbox.post(unheard{}) {
				return
			}
		}
	}
}
