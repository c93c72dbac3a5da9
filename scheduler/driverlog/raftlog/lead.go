package raftlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"github.com/leat-io/leat/scheduler/driverlog"
)

const (
	// startBound is how long a LeaderStart may take: a leader that cannot decide is none.
	startBound = 5 * time.Second
	// startPause is how long a node that could not decide lets others lead.
	startPause = time.Second
)

// Lead waits until this node leads and its LeaderStart has been applied, and returns the term. Calls within a term return the same.
//
// A leader whose LeaderStart is not applied within 5 s hands leadership to another, and waits. So does one whose disk has less than Options.MinFree free.
//
// Errors: as driverlog.Log says; ErrUnknown once the node has stopped.
func (l *Log) Lead(ctx context.Context) (driverlog.Term, error) {
	term, err := l.lead(ctx)
	if err != nil {
		return driverlog.Term{}, fmt.Errorf("lead: %w", err)
	}
	return term, nil
}

func (l *Log) lead(ctx context.Context) (driverlog.Term, error) {
	if err := ctx.Err(); err != nil {
		return driverlog.Term{}, err
	}
	select {
	case l.leading <- struct{}{}:
		defer func() { <-l.leading }()
	case <-ctx.Done():
		return driverlog.Term{}, ctx.Err()
	}
	for {
		if err := ctx.Err(); err != nil {
			return driverlog.Term{}, err
		}
		l.mu.Lock()
		term, open, role, changed, err := l.term, l.lost != nil, l.role, l.changed, l.refusal()
		leads := role.leads && !l.space.low
		l.mu.Unlock()
		switch {
		case err != nil:
			return driverlog.Term{}, err
		case open:
			return term, nil
		case !leads:
			if err := l.await(ctx, changed, time.Minute); err != nil {
				return driverlog.Term{}, err
			}
			continue
		}
		epoch, err := l.startTerm(ctx)
		if err == nil {
			if term, ok := l.open(epoch, role); ok {
				l.logger.Info("leader term started", "epoch", epoch)
				l.events.add(func(t *Listener) {
					if t.TermStarted != nil {
						t.TermStarted(epoch)
					}
				})
				return term, nil
			}
			continue
		}
		pause := l.opts.Timeouts.Heartbeat
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			l.logger.Warn("leader term not started, leadership is handed over", "error", err)
			l.yield(ctx, "")
			pause = startPause
		}
		// What raft says next is the truth. Nothing may come where it has said all, so the wait is bounded.
		if err := l.await(ctx, changed, pause); err != nil {
			return driverlog.Term{}, err
		}
	}
}

// startTerm proposes the LeaderStart.
func (l *Log) startTerm(ctx context.Context) (epoch uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, startBound)
	defer cancel()
	term := l.raft.CurrentTerm()
	results, err := l.propose(ctx, []driverlog.Command{{Kind: driverlog.LeaderStart, Node: l.name}})
	if err != nil {
		return 0, err
	}
	l.mu.Lock()
	l.barrier = max(l.barrier, term) // all before it is applied
	l.mu.Unlock()
	return results[0].Epoch, nil
}

// open opens the term of an epoch, unless it is over already.
func (l *Log) open(epoch uint64, was role) (driverlog.Term, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.role != was || l.epoch != epoch || l.closed || l.poison != nil || l.space.low {
		return driverlog.Term{}, false
	}
	l.lost = make(chan struct{})
	l.term = driverlog.Term{Epoch: epoch, Lost: l.lost}
	return l.term, true
}

// yield hands leadership to the voter called id, or to any where id is empty, if there is one that takes it.
func (l *Log) yield(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(ctx, startBound)
	defer cancel()
	if err := l.Transfer(ctx, id); err != nil {
		l.logger.Warn("leadership not handed over", "error", err)
	}
}

// endTerm ends the term, with l.mu held.
func (l *Log) endTerm() {
	if l.lost == nil {
		return
	}
	close(l.lost)
	l.lost = nil
	epoch := l.term.Epoch
	l.events.add(func(t *Listener) {
		if t.TermEnded != nil {
			t.TermEnded(epoch)
		}
	})
}

// began is told of every LeaderStart that has been applied. It ends the term of another epoch.
func (l *Log) began(epoch uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.epoch = epoch
	if l.lost != nil && l.term.Epoch != epoch {
		l.endTerm()
	}
}

// record takes note of whether raft leads, and does nothing else: raft waits for it.
func (l *Log) record() {
	for {
		select {
		case leads := <-l.notify:
			l.mu.Lock()
			l.role = role{leads: leads, seq: l.role.seq + 1}
			if !leads {
				l.endTerm()
			}
			l.tell()
			l.mu.Unlock()
		case <-l.quit:
			return
		}
	}
}

// watch takes note of who leads. What it is told may be old, or one of many, so it asks.
func (l *Log) watch(observed <-chan raft.Observation) {
	var last Member
	for {
		select {
		case <-observed:
			leader := l.leader()
			if leader == last {
				continue
			}
			last = leader
			l.logger.Info("driver log leader", "leader", leader.ID)
			l.events.add(func(t *Listener) {
				if t.LeaderChanged != nil {
					t.LeaderChanged(leader)
				}
			})
			l.mu.Lock()
			l.tell()
			l.mu.Unlock()
		case <-l.quit:
			return
		}
	}
}
