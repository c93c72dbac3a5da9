package memlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// A Node is the driverlog.Log of one member of a Group.
type Node struct {
	g       *Group
	name    string
	leading chan struct{} // holds a value while Lead begins a term, so that its callers share it
	stop    chan struct{} // closed by Close

	// Guarded by g.mu.
	term   uint64        // the epoch of its latest term
	lost   chan struct{} // closed with the term; nil between terms
	missed []chan struct{}
	resume chan struct{} // closed by Resume; nil unless it is paused
	hushed bool
	view   *driverlog.State // what it sees where it lags
	closed bool
}

// Name returns the node's name.
func (n *Node) Name() string { return n.name }

// endTerm ends the term of the node, which may not be told so at once, with g.mu held.
func (n *Node) endTerm() {
	if n.lost != nil {
		n.missed = append(n.missed, n.lost)
		n.lost = nil
	}
	n.tell()
}

// tell tells the node of the terms that have ended, if it hears, with g.mu held.
func (n *Node) tell() {
	if n.resume != nil || n.hushed {
		return
	}
	for _, lost := range n.missed {
		close(lost)
	}
	n.missed = nil
}

// awake waits while the node is paused.
//
// Errors: driverlog.ErrClosed; ctx's.
func (n *Node) awake(ctx context.Context) error {
	for {
		n.g.mu.Lock()
		resume, closed := n.resume, n.closed
		n.g.mu.Unlock()
		switch {
		case closed:
			return driverlog.ErrClosed
		case resume == nil:
			return nil
		}
		select {
		case <-resume:
		case <-n.stop:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Propose applies cmd where the node leads.
//
// Errors: as driverlog.Log says.
func (n *Node) Propose(ctx context.Context, cmd driverlog.Command) (driverlog.Result, error) {
	results, err := n.propose(ctx, []driverlog.Command{cmd})
	if err != nil {
		return driverlog.Result{}, fmt.Errorf("propose %s: %w", cmd.Kind, err)
	}
	return results[0], nil
}

// ProposeAll applies cmds in order, nothing between them, where the node leads.
//
// Errors: as driverlog.Log says.
func (n *Node) ProposeAll(ctx context.Context, cmds []driverlog.Command) ([]driverlog.Result, error) {
	results, err := n.propose(ctx, cmds)
	switch {
	case err != nil && driverlog.Refused(err):
		i := len(results)
		return results, fmt.Errorf("propose command %d of %d, %s: %w", i+1, len(cmds), cmds[i].Kind, err)
	case err != nil:
		return nil, fmt.Errorf("propose %d commands: %w", len(cmds), err)
	}
	return results, nil
}

func (n *Node) propose(ctx context.Context, cmds []driverlog.Command) ([]driverlog.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := n.awake(ctx); err != nil {
		return nil, unknown(err)
	}
	f := n.g.ask(n, cmds)
	if err := n.awake(ctx); err != nil { // the plan may have paused it
		return nil, unknown(err)
	}
	results, err := n.effect(cmds, f.Outcome)
	return n.answer(ctx, f, results, err)
}

// unknown wraps the end of a context during a call.
func unknown(err error) error {
	if errors.Is(err, driverlog.ErrClosed) {
		return err
	}
	return fmt.Errorf("%w: %w", driverlog.ErrUnknown, err)
}

// effect does what a proposal does to the log.
func (n *Node) effect(cmds []driverlog.Command, as GroupOutcome) ([]driverlog.Result, error) {
	g := n.g
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case n.closed:
		return nil, driverlog.ErrClosed
	case g.leader != n:
		return nil, driverlog.ErrNotLeader
	case as == Dropped:
		return nil, nil
	case as == Late:
		all := make([]driverlog.Command, len(cmds))
		for i, cmd := range cmds {
			all[i] = copied(cmd)
		}
		g.late = append(g.late, all)
		return nil, nil
	}
	return g.applyAll(cmds)
}

// copied returns cmd with slices of its own.
func copied(cmd driverlog.Command) driverlog.Command {
	c, err := driverlog.DecodeCommand(cmd.Append(nil))
	if err != nil {
		return driverlog.Command{} // one that no state accepts
	}
	return c
}

// answer returns what a proposer is told.
func (n *Node) answer(ctx context.Context, f GroupFault, results []driverlog.Result, err error) ([]driverlog.Result, error) {
	if f.After != nil {
		f.After()
	}
	if werr := f.wait(ctx); werr != nil {
		return nil, unknown(werr)
	}
	if werr := n.awake(ctx); werr != nil {
		return nil, fmt.Errorf("%w: %w", driverlog.ErrUnknown, werr)
	}
	if err == nil && f.Outcome != Answered {
		return nil, driverlog.ErrUnknown
	}
	return results, err
}

// State returns a copy of the state, as far as the node has come.
//
// Errors: as driverlog.Log says.
func (n *Node) State(ctx context.Context) (driverlog.State, error) {
	err := ctx.Err()
	if err == nil {
		err = n.awake(ctx)
	}
	if err != nil {
		return driverlog.State{}, fmt.Errorf("read driver state: %w", err)
	}
	n.g.mu.Lock()
	defer n.g.mu.Unlock()
	if n.view != nil && n.g.leader != n {
		return n.view.Clone(), nil
	}
	return n.g.state.Clone(), nil
}

// Lead waits until the node leads, and returns its term.
//
// Errors: as driverlog.Log says; driverlog.ErrUnknown where the plan says so of the LeaderStart, and no term has begun then as far as
// the node knows.
func (n *Node) Lead(ctx context.Context) (driverlog.Term, error) {
	term, err := n.lead(ctx)
	if err != nil {
		return driverlog.Term{}, fmt.Errorf("lead: %w", err)
	}
	return term, nil
}

func (n *Node) lead(ctx context.Context) (driverlog.Term, error) {
	if err := ctx.Err(); err != nil {
		return driverlog.Term{}, err
	}
	select {
	case n.leading <- struct{}{}:
		defer func() { <-n.leading }()
	case <-ctx.Done():
		return driverlog.Term{}, ctx.Err()
	}
	for {
		if err := n.elected(ctx); err != nil {
			return driverlog.Term{}, err
		}
		if term, ok := n.current(); ok {
			return term, nil
		}
		start := []driverlog.Command{{Kind: driverlog.LeaderStart, Node: n.name}}
		f := n.g.ask(n, start)
		if err := n.awake(ctx); err != nil {
			return driverlog.Term{}, err
		}
		term, results, err := n.begin(start, f.Outcome)
		if _, err = n.answer(ctx, f, results, err); errors.Is(err, driverlog.ErrNotLeader) {
			continue
		} else if err != nil {
			return driverlog.Term{}, err
		}
		n.g.logger.InfoContext(ctx, "leader term started", "node", n.name, "epoch", term.Epoch)
		return term, nil
	}
}

// elected waits until the node leads.
func (n *Node) elected(ctx context.Context) error {
	for {
		if err := n.awake(ctx); err != nil {
			return err
		}
		n.g.mu.Lock()
		leads, changed := n.g.leader == n, n.g.changed
		n.g.mu.Unlock()
		if leads {
			return nil
		}
		select {
		case <-changed:
		case <-n.stop:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// current returns the term of the node, if there is one.
func (n *Node) current() (driverlog.Term, bool) {
	n.g.mu.Lock()
	defer n.g.mu.Unlock()
	return driverlog.Term{Epoch: n.term, Lost: n.lost}, n.lost != nil
}

// begin begins a term with a LeaderStart. One whose answer gets lost is none.
func (n *Node) begin(start []driverlog.Command, as GroupOutcome) (driverlog.Term, []driverlog.Result, error) {
	results, err := n.effect(start, as)
	if err != nil || as != Answered {
		return driverlog.Term{}, results, err
	}
	n.g.mu.Lock()
	defer n.g.mu.Unlock()
	n.term = results[0].Epoch
	n.lost = make(chan struct{})
	term := driverlog.Term{Epoch: n.term, Lost: n.lost}
	if n.g.leader != n || n.g.state.Epoch != n.term { // in between
		n.endTerm()
	}
	return term, results, nil
}

// Resign lets the next node lead, in the order of their names' list, that is neither closed nor paused. It does nothing where the node does not
// lead, or there is no other.
//
// Errors: driverlog.ErrClosed; ctx's.
func (n *Node) Resign(ctx context.Context) error {
	err := ctx.Err()
	if err == nil {
		err = n.awake(ctx)
	}
	if err != nil {
		return fmt.Errorf("resign: %w", err)
	}
	g := n.g
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leader != n {
		return nil
	}
	at := 0
	for g.nodes[at] != n {
		at++
	}
	for i := 1; i < len(g.nodes); i++ {
		if next := g.nodes[(at+i)%len(g.nodes)]; !next.closed && next.resume == nil {
			g.lead(next)
			return nil
		}
	}
	return nil
}

// Close takes the node out of the group; everything else returns driverlog.ErrClosed from then on. Nobody leads where it did. It may be
// called again.
func (n *Node) Close() error {
	n.g.mu.Lock()
	defer n.g.mu.Unlock()
	if n.closed {
		return nil
	}
	n.closed = true
	close(n.stop)
	if n.g.leader == n {
		n.g.lead(nil)
	}
	n.hushed, n.resume = false, nil
	n.tell()
	return nil
}
