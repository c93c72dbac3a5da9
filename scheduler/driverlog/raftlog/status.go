package raftlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

// Snapshot takes a snapshot now, of what this node has applied.
//
// Errors: the context's; what kept it from being written. Nothing new to write is none.
func (l *Log) Snapshot(ctx context.Context) error {
	_, err := l.call(ctx, func() (*answer, error) {
		err := l.raft.Snapshot().Error()
		if errors.Is(err, raft.ErrNothingNewToSnapshot) {
			err = nil
		}
		return nil, err
	})
	if err != nil {
		return fmt.Errorf("snapshot driver log: %w", l.cause(ctx, err))
	}
	return nil
}

// A Status is what a node knows of itself and its cluster at a moment.
type Status struct {
	ID, Name, Cluster string
	Role              string // "leader", "follower", "candidate" or "stopped"
	Leader            Member // zero where none is known
	Term              uint64 // raft's
	Epoch             uint64 // of the last LeaderStart that this node has applied
	Index             uint64 // of the last command that took effect here
	Applied           uint64 // raft's index of the last entry applied here
	Committed         uint64 // raft's index of the last entry that this node knows to be decided
	Lag               uint64 // entries up to it that are not applied here
	Last              uint64 // raft's index of the last entry here
	LastContact       time.Duration
	Members           []Member
	Free              int64  // bytes that are free on its disk, -1 where that is not known
	LowSpace          bool   // it does not lead for want of room on its disk
	Poisoned          error  // why the node has stopped
	Digest            Digest // the last one taken
	DigestAt          uint64 // the number of entries of commands before it, 0 where none was taken
}

// Status returns what this node knows, without asking anybody. LastContact is 0 on the leader, and negative on a node that never had contact.
func (l *Log) Status() Status {
	s := Status{ID: l.id, Name: l.name, Leader: l.leader(), Term: l.raft.CurrentTerm(), Committed: l.raft.CommitIndex(), Last: l.raft.LastIndex(), Members: l.Members()}
	switch state := l.raft.State(); state {
	case raft.Leader:
		s.Role = "leader"
	case raft.Follower:
		s.Role = "follower"
	case raft.Candidate:
		s.Role = "candidate"
	default:
		s.Role = "stopped"
	}
	if s.Role != "leader" {
		s.LastContact = -1
		if last := l.raft.LastContact(); !last.IsZero() {
			s.LastContact = time.Since(last)
		}
	}
	// What says nothing, such as the first entry of a leader, is not handed to the state machine, so the last one that was applied may be before it.
	handed := uint64(0)
	if l.raft.Stats()["fsm_pending"] == "0" {
		handed = l.raft.AppliedIndex()
	}
	l.fsm.mu.Lock()
	s.Epoch, s.Index, s.Applied = l.fsm.state.Epoch, l.fsm.state.Index, l.fsm.index
	s.Lag = s.Committed - min(max(s.Applied, handed), s.Committed)
	if n := len(l.fsm.points); n > 0 {
		s.Digest, s.DigestAt = l.fsm.points[n-1].digest, l.fsm.points[n-1].applied
	}
	l.fsm.mu.Unlock()
	l.mu.Lock()
	s.Cluster, s.Poisoned = l.cluster.String(), l.poison
	s.Free, s.LowSpace = l.space.free, l.space.low
	if l.closed || l.poison != nil {
		s.Role = "stopped" // raft's word for it may be overtaken by what it was doing
	}
	l.mu.Unlock()
	return s
}
