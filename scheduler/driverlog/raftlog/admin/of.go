package admin

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

// Of returns a node of a replicated driver log as a Server asks it. It is a Controller as well. Its status says the build, for people.
func Of(log *raftlog.Log, build string) Node { return logNode{log, build} }

type logNode struct {
	log   *raftlog.Log
	build string
}

// Status returns what the log knows.
func (n logNode) Status() Status {
	s := n.log.Status()
	out := Status{ID: s.ID, Name: s.Name, Cluster: s.Cluster, Role: s.Role, Leader: Member(s.Leader), Term: s.Term, Epoch: s.Epoch,
		Index: s.Index, Applied: s.Applied, LastContact: s.LastContact, Build: n.build, Free: s.Free, LowSpace: s.LowSpace}
	for _, m := range s.Members {
		out.Members = append(out.Members, Member(m))
	}
	if s.Poisoned != nil {
		out.Poisoned = s.Poisoned.Error()
	}
	if s.DigestAt > 0 {
		out.Digest = fmt.Sprintf("%s at %d", hex.EncodeToString(s.Digest[:8]), s.DigestAt)
	}
	return out
}

// Join makes m a member.
func (n logNode) Join(ctx context.Context, m Member) error {
	return ofLog(n.log.Join(ctx, raftlog.Member(m)))
}

// Remove removes a member.
func (n logNode) Remove(ctx context.Context, id string) error { return ofLog(n.log.Remove(ctx, id)) }

// Transfer lets another node lead.
func (n logNode) Transfer(ctx context.Context, id string) error {
	return ofLog(n.log.Transfer(ctx, id))
}

// Snapshot takes a snapshot.
func (n logNode) Snapshot(ctx context.Context) error { return ofLog(n.log.Snapshot(ctx)) }

// SetStatus sets the status of an application.
func (n logNode) SetStatus(ctx context.Context, app string, status driverlog.Status) error {
	return ofLog(driverlog.SetStatus(ctx, n.log, app, status))
}

// ofLog returns an error of the log as a client is to see it.
func ofLog(err error) error {
	var elsewhere *raftlog.NotLeaderError
	switch {
	case errors.As(err, &elsewhere):
		return &NotLeaderError{Leader: Member(elsewhere.Leader)}
	case errors.Is(err, driverlog.ErrUnknown):
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return err
}
