package raftlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/raft"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// ErrNotElected is what a transfer ends with after which this node leads again: the other was asked to stand, and was not elected.
var ErrNotElected = errors.New("the other was not elected, and this node leads again")

// transferTries is how often another is asked to stand.
const transferTries = 3

// Transfer hands leadership to the voter called id, or to any where id is empty, and returns when another leads.
//
// Errors: *NotLeaderError; *MemberError if there is nobody to take it; the context's error; ErrNotElected, after three tries; what kept the other
// from being asked.
func (l *Log) Transfer(ctx context.Context, id string) error {
	err := l.leads()
	for try := 0; err == nil; try++ {
		if err = l.transfer(ctx, id); err == nil {
			return nil
		}
		if errors.Is(err, ErrNotElected) && try+1 < transferTries {
			err = nil
		}
	}
	if err != nil {
		return fmt.Errorf("transfer leadership: %w", err)
	}
	return nil
}

func (l *Log) transfer(ctx context.Context, id string) error {
	m, ok := l.member(id)
	switch {
	case id == l.id:
		return nil
	case id != "" && (!ok || !m.Voter):
		return &MemberError{ID: id, Reason: "is no voter"}
	case l.voters() < 2:
		return &MemberError{ID: l.id, Reason: "is the only voter"}
	}
	term := l.raft.CurrentTerm()
	_, err := l.call(ctx, func() (*answer, error) {
		if id == "" {
			return nil, l.raft.LeadershipTransfer().Error()
		}
		return nil, l.raft.LeadershipTransferToServer(raft.ServerID(id), raft.ServerAddress(m.Address)).Error()
	})
	if err != nil {
		return l.cause(ctx, err)
	}
	for {
		changed, err := l.usable()
		if err != nil {
			return err
		}
		if leader := l.leader(); leader.ID != "" && leader.ID != l.id {
			return nil
		}
		if l.raft.State() == raft.Leader && l.raft.CurrentTerm() > term {
			return ErrNotElected
		}
		if err := l.await(ctx, changed, l.opts.Timeouts.Heartbeat); err != nil {
			return err
		}
	}
}

// Resign hands leadership to any other voter, if this node has it and there is one. A stop that is planned calls it before Close.
//
// Errors: as of Transfer, after three tries.
func (l *Log) Resign(ctx context.Context) error {
	var err error
	for range transferTries {
		if l.raft.State() != raft.Leader || l.voters() < 2 {
			return nil
		}
		err = l.transfer(ctx, "")
		if err == nil || ctx.Err() != nil || errors.Is(err, driverlog.ErrClosed) || isPoison(err) {
			break
		}
		changed, _ := l.usable()
		if werr := l.await(ctx, changed, l.opts.Timeouts.Heartbeat); werr != nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("resign: %w", err)
	}
	return nil
}

// cause returns why a call that appends nothing did not succeed.
func (l *Log) cause(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, raft.ErrNotLeader), errors.Is(err, raft.ErrRaftShutdown):
		return l.meaning(err)
	}
	return err
}
