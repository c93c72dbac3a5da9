package raftlog

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// enqueueBound is how long raft may take to look at a command. It is not a bound of the command.
const enqueueBound = 5 * time.Second

// Propose appends cmd and returns its answer once most voters have it on disk and this node has applied it. All kinds of commands are
// durable when they are answered.
//
// Cost: an entry, that is a flush here and one on another voter; calls that overlap share flushes.
// Errors: as driverlog.Log says. *NotLeaderError, which is driverlog.ErrNotLeader, says who leads. A context that ends during the call
// ends it at once with ErrUnknown around the context's error, as the command may be in the log already. ErrUnknown around a *PoisonError, *CorruptError or
// *DivergedError means that the node has stopped for good.
func (l *Log) Propose(ctx context.Context, cmd driverlog.Command) (driverlog.Result, error) {
	results, err := l.propose(ctx, []driverlog.Command{cmd})
	if err != nil {
		return driverlog.Result{}, fmt.Errorf("propose %s: %w", cmd.Kind, err)
	}
	return results[0], nil
}

// ProposeAll appends cmds in one entry, which is applied as one, and returns their answers.
//
// Cost: as of one Propose.
// Errors: as of Propose; the results before a refused command come with its error. More than 4 MiB are refused with a
// *driverlog.LimitError.
func (l *Log) ProposeAll(ctx context.Context, cmds []driverlog.Command) ([]driverlog.Result, error) {
	results, err := l.propose(ctx, cmds)
	switch {
	case err == nil:
		return results, nil
	case driverlog.Refused(err) && len(results) < len(cmds):
		return results, fmt.Errorf("propose command %d of %d, %s: %w", len(results)+1, len(cmds), cmds[len(results)].Kind, err)
	}
	return nil, fmt.Errorf("propose %d commands: %w", len(cmds), err)
}

func (l *Log) propose(ctx context.Context, cmds []driverlog.Command) ([]driverlog.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if _, err := l.usable(); err != nil {
		return nil, err
	}
	if err := l.short(); err != nil && l.raft.State() == raft.Leader {
		return nil, &NotLeaderError{Reason: err.Error()}
	}
	// A command that no state accepts cannot be encoded by all, so it is refused here; those before it go on.
	var invalid error
	size := 0
	for i := range cmds {
		if invalid = cmds[i].Validate(); invalid != nil {
			cmds = cmds[:i]
			break
		}
		size += sizeOf(&cmds[i])
	}
	if size > maxGroup-64 {
		return nil, &driverlog.LimitError{What: "bytes of commands proposed together", Limit: maxGroup - 64}
	}
	if len(cmds) == 0 {
		return nil, invalid
	}
	cluster, err := l.known(ctx)
	if err != nil {
		return nil, err
	}
	a, err := l.append(ctx, envelope{kind: CommandsEntry, cluster: cluster, payload: appendCommands(nil, cmds)})
	if err != nil {
		return nil, err
	}
	if a.refused != nil {
		return a.results, a.refused
	}
	return a.results, invalid
}

// sizeOf returns a bound of the bytes of a command's encoding.
func sizeOf(cmd *driverlog.Command) int {
	n := 128 + len(cmd.Node) + len(cmd.App) + len(cmd.Manifest)
	for i := range cmd.Inputs {
		n += 16 + len(cmd.Inputs[i].Data)
	}
	return n
}

// known returns the cluster's id, which the first leader of a new cluster makes.
func (l *Log) known(ctx context.Context) (clusterID, error) {
	l.mu.Lock()
	cluster := l.cluster
	l.mu.Unlock()
	if cluster != (clusterID{}) {
		return cluster, nil
	}
	var id clusterID
	_, _ = rand.Read(id[:]) // never fails
	if _, err := l.append(ctx, envelope{kind: ClusterEntry, cluster: id}); err != nil {
		return clusterID{}, fmt.Errorf("make the cluster's id: %w", notYet(err))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cluster, nil
}

// notYet returns the error of what came before a command: whatever became of that, the command was not appended.
func notYet(err error) error {
	if errors.Is(err, driverlog.ErrUnknown) && !isPoison(err) {
		return &NotLeaderError{Reason: err.Error()}
	}
	return err
}

func isPoison(err error) bool {
	var p *PoisonError
	var c *CorruptError
	var d *DivergedError
	return errors.As(err, &p) || errors.As(err, &c) || errors.As(err, &d)
}

// append appends an entry and returns what came of it.
func (l *Log) append(ctx context.Context, e envelope) (*answer, error) {
	data := e.append(make([]byte, 0, envelopeHead+len(e.payload)+4))
	return l.decide(ctx, func() (*answer, error) {
		f := l.raft.Apply(data, enqueueBound)
		if err := f.Error(); err != nil {
			return nil, err
		}
		a := f.Response().(*answer)
		return a, a.err
	})
}

// decide runs a call that appends an entry, and says what its error means for that.
func (l *Log) decide(ctx context.Context, run func() (*answer, error)) (*answer, error) {
	a, err := l.call(ctx, run)
	return a, l.meaning(err)
}

// errAbandoned says that a context ended while raft was at work.
var errAbandoned = errors.New("not waited for")

// call runs one call to raft, in a goroutine that Close waits for: raft knows no contexts. The caller's ends at once.
func (l *Log) call(ctx context.Context, run func() (*answer, error)) (*answer, error) {
	type outcome struct {
		answer *answer
		err    error
	}
	done := make(chan outcome, 1)
	l.mu.Lock()
	if err := l.refusal(); err != nil {
		l.mu.Unlock()
		return nil, err
	}
	l.calls.Add(1)
	l.mu.Unlock()
	go func() {
		defer l.calls.Done()
		a, err := run()
		done <- outcome{a, err}
	}()
	select {
	case o := <-done:
		return o.answer, o.err
	case <-ctx.Done():
	case <-l.poisoned:
	}
	select {
	case o := <-done: // it was answered all the same
		return o.answer, o.err
	default:
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", errAbandoned, err)
	}
	return nil, raft.ErrRaftShutdown
}

// meaning returns what an error of raft means for a command.
func (l *Log) meaning(err error) error {
	if err == nil {
		return nil
	}
	l.mu.Lock()
	poison := l.poison
	l.mu.Unlock()
	switch {
	case errors.Is(err, driverlog.ErrClosed), errors.Is(err, driverlog.ErrUnknown):
		return err // the call was not made
	case errors.Is(err, raft.ErrNotLeader):
		return &NotLeaderError{Leader: l.leader()}
	case errors.Is(err, raft.ErrEnqueueTimeout), errors.Is(err, raft.ErrLeadershipTransferInProgress), errors.Is(err, raft.ErrAbortedByRestore):
		return &NotLeaderError{Leader: l.leader(), Reason: err.Error()}
	case poison != nil:
		return fmt.Errorf("%w: %w", driverlog.ErrUnknown, poison)
	}
	// ErrLeadershipLost, ErrRaftShutdown and what the store returned: the entry may be in the log of somebody.
	return fmt.Errorf("%w: %w", driverlog.ErrUnknown, err)
}
