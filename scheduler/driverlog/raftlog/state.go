package raftlog

import (
	"context"
	"fmt"

	"github.com/hashicorp/raft"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// State returns a copy of this node's state. On the leader it includes every command answered before the call; it waits until
// what earlier terms have decided is applied. The only voter of a cluster waits until it leads. On other nodes it is what they have heard of.
//
// A leader that does not know yet that another was elected returns what it has. So nothing is decided by a state alone: the
// commands that follow from it carry its epoch, and are fenced.
//
// Cost: a copy of everything the state holds; the first call in a term waits for an entry.
// Errors: as driverlog.Log says; ErrUnknown once the node has stopped.
func (l *Log) State(ctx context.Context) (driverlog.State, error) {
	for {
		if err := ctx.Err(); err != nil {
			return driverlog.State{}, fmt.Errorf("read driver state: %w", err)
		}
		changed, err := l.usable()
		if err != nil {
			return driverlog.State{}, fmt.Errorf("read driver state: %w", err)
		}
		leads := l.raft.State() == raft.Leader
		if leads && l.passed() || !leads && !l.alone() {
			return l.fsm.copyState(), nil
		}
		if leads {
			if err := l.pass(ctx); err == nil {
				continue
			}
		}
		if err := l.await(ctx, changed, l.opts.Timeouts.Heartbeat); err != nil {
			return driverlog.State{}, fmt.Errorf("read driver state: %w", err)
		}
	}
}

// alone tells whether this node is the only voter.
func (l *Log) alone() bool {
	voters := 0
	self := false
	for _, s := range l.raft.GetConfiguration().Configuration().Servers {
		if s.Suffrage == raft.Voter {
			voters++
			self = self || s.ID == raft.ServerID(l.id)
		}
	}
	return self && voters == 1
}

// passed tells whether this node leads in a term in which it has applied all that came before.
func (l *Log) passed() bool {
	term := l.raft.CurrentTerm()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.barrier == term
}

// pass waits until all that earlier terms decided is applied.
func (l *Log) pass(ctx context.Context) error {
	term := l.raft.CurrentTerm()
	_, err := l.decide(ctx, func() (*answer, error) { return nil, l.raft.Barrier(enqueueBound).Error() })
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.barrier = max(l.barrier, term)
	l.mu.Unlock()
	return nil
}
