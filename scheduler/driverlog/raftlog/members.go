package raftlog

import (
	"context"
	"fmt"

	"github.com/hashicorp/raft"
)

// A Member is a node of a cluster.
type Member struct {
	ID      string // name + "-" + 16 hexadecimal digits
	Name    string
	Address string // what others dial
	Voter   bool   // it votes and counts; others only follow
}

func membersOf(c raft.Configuration) []Member {
	members := make([]Member, 0, len(c.Servers))
	for _, s := range c.Servers {
		members = append(members, memberOf(s))
	}
	return members
}

func memberOf(s raft.Server) Member {
	name, _ := nameOf(string(s.ID))
	return Member{ID: string(s.ID), Name: name, Address: string(s.Address), Voter: s.Suffrage == raft.Voter}
}

// Members returns the members as this node knows them, itself among them once it has joined.
func (l *Log) Members() []Member { return membersOf(l.raft.GetConfiguration().Configuration()) }

func (l *Log) member(id string) (Member, bool) {
	for _, m := range l.Members() {
		if m.ID == id {
			return m, true
		}
	}
	return Member{}, false
}

// leader returns who leads, as far as this node knows.
func (l *Log) leader() Member {
	address, id := l.raft.LeaderWithID()
	if id == "" {
		return Member{}
	}
	if m, ok := l.member(string(id)); ok {
		return m
	}
	name, _ := nameOf(string(id))
	return Member{ID: string(id), Name: name, Address: string(address)}
}

// Join makes m a voter of the cluster that this node leads: m first follows, and votes once it has all that was decided before. m.Name and m.Voter are
// not looked at. A member that is there gets m.Address. One change is made at a time.
//
// Time: as long as it takes m to receive the state. A call that ends before leaves m as a member that does not vote; the next goes on from there.
// Errors: *NotLeaderError; *MemberError for an id or an address that cannot be; the context's error; ErrUnknown if it may have taken effect.
func (l *Log) Join(ctx context.Context, m Member) error {
	if err := l.join(ctx, m); err != nil {
		return fmt.Errorf("join %s: %w", m.ID, err)
	}
	return nil
}

func (l *Log) join(ctx context.Context, m Member) error {
	_, ok := nameOf(m.ID)
	switch {
	case !ok:
		return &MemberError{ID: m.ID, Reason: "is no id of a node"}
	case m.Address == "" || len(m.Address) > maxAddress:
		return &MemberError{ID: m.ID, Reason: "has no address that can be dialled"}
	}
	unlock, err := l.change(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	switch {
	case l.net == nil:
		return &MemberError{ID: m.ID, Reason: "cannot join a node without a network"}
	case m.ID == l.id && m.Address != l.opts.Address:
		return &MemberError{ID: m.ID, Reason: "is the leader, at " + l.opts.Address}
	case m.ID == l.id:
		return nil
	}
	for _, other := range l.Members() {
		if other.ID != m.ID && other.Address == m.Address {
			return &MemberError{ID: m.ID, Reason: "has the address of " + other.ID}
		}
	}
	id, address := raft.ServerID(m.ID), raft.ServerAddress(m.Address)
	have, there := l.member(m.ID)
	if there && have.Voter {
		if have.Address == m.Address {
			return nil
		}
		return l.configure(ctx, func() raft.IndexFuture { return l.raft.AddVoter(id, address, 0, enqueueBound) })
	}
	l.net.forget()
	if err := l.configure(ctx, func() raft.IndexFuture { return l.raft.AddNonvoter(id, address, 0, enqueueBound) }); err != nil {
		return err
	}
	if err := l.caughtUp(ctx, id, l.raft.LastIndex()); err != nil {
		return err
	}
	if err := l.configure(ctx, func() raft.IndexFuture { return l.raft.AddVoter(id, address, 0, enqueueBound) }); err != nil {
		return err
	}
	l.spread(ctx, l.raft.LastIndex())
	return nil
}

// spread waits until the other voters have the entry at index too, for as long as an election may take: one that has not heard of a new
// voter does not vote for it, and if this leader ended now the two might wait for each other for ever.
func (l *Log) spread(ctx context.Context, index uint64) {
	ctx, cancel := context.WithTimeout(ctx, 2*l.opts.Timeouts.Election)
	defer cancel()
	for _, m := range l.Members() {
		if m.Voter && m.ID != l.id && l.caughtUp(ctx, raft.ServerID(m.ID), index) != nil {
			return // it is down, or we do not lead any more
		}
	}
}

// caughtUp waits until a member has the entry at index, as long as this node leads.
func (l *Log) caughtUp(ctx context.Context, id raft.ServerID, index uint64) error {
	for {
		at, moved := l.net.progress(id)
		if at >= index {
			return nil
		}
		if err := l.leads(); err != nil {
			return err
		}
		if err := l.await(ctx, moved, l.opts.Timeouts.Heartbeat); err != nil {
			return err
		}
	}
}

// Remove takes a member out of the cluster that this node leads; one that is not there is no error. A leader does not remove itself: it hands leadership
// over, and the *NotLeaderError that is returned says to whom the call is to be made.
//
// Errors: *NotLeaderError; *MemberError for the last voter; the context's error; ErrUnknown if it may have taken effect.
func (l *Log) Remove(ctx context.Context, id string) error {
	if err := l.remove(ctx, id); err != nil {
		return fmt.Errorf("remove %s: %w", id, err)
	}
	return nil
}

func (l *Log) remove(ctx context.Context, id string) error {
	unlock, err := l.change(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	m, ok := l.member(id)
	if !ok {
		return nil
	}
	if m.Voter && l.voters() == 1 {
		return &MemberError{ID: id, Reason: "is the last voter"}
	}
	if id == l.id {
		if err := l.transfer(ctx, ""); err != nil {
			return err
		}
		return &NotLeaderError{Leader: l.leader()}
	}
	return l.configure(ctx, func() raft.IndexFuture { return l.raft.RemoveServer(raft.ServerID(id), 0, enqueueBound) })
}

func (l *Log) voters() int {
	n := 0
	for _, m := range l.Members() {
		if m.Voter {
			n++
		}
	}
	return n
}

// change begins a change of the members, which ends with unlock.
func (l *Log) change(ctx context.Context) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case l.changing <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := l.leads(); err != nil {
		<-l.changing
		return nil, err
	}
	return func() { <-l.changing }, nil
}

// leads returns an error unless this node leads.
func (l *Log) leads() error {
	if _, err := l.usable(); err != nil {
		return err
	}
	if l.raft.State() != raft.Leader {
		return &NotLeaderError{Leader: l.leader()}
	}
	return nil
}

func (l *Log) configure(ctx context.Context, run func() raft.IndexFuture) error {
	_, err := l.decide(ctx, func() (*answer, error) { return nil, run().Error() })
	return err
}
