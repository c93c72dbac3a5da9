package memlog

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// GroupOptions say how a Group starts. The zero value is a group of one node, "local".
type GroupOptions struct {
	// Nodes are the names of the nodes, of which the first leads at the start. Empty means one, "local".
	Nodes []string
	// Snapshot is an encoded driverlog.State to start from. Empty means an empty log.
	Snapshot []byte
	// Plan is asked about each proposal, LeaderStarts of Lead among them, before it has its effect. It is called without locks and may call
	// methods of the group, such as Depose. Nil lets nothing happen.
	Plan func(call GroupCall) GroupFault
	// Applied is told each command that took effect, in the order of the log. It must not call the group. Nil tells nobody.
	Applied func(index uint64, cmd driverlog.Command)
	// Logger gets one Info a term. Nil discards.
	Logger *slog.Logger
}

// Validate returns an error for options that NewGroup would refuse.
func (o GroupOptions) Validate() error {
	var errs []error
	seen := map[string]bool{}
	for _, name := range o.Nodes {
		if name == "" || len(name) > driverlog.MaxName {
			errs = append(errs, fmt.Errorf("memlog: node name %q has %d bytes, want 1 to %d", name, len(name), driverlog.MaxName))
		}
		if seen[name] {
			errs = append(errs, fmt.Errorf("memlog: two nodes are called %q", name))
		}
		seen[name] = true
	}
	return errors.Join(errs...)
}

// A Group is the double of a replicated log, for tests and examples: several nodes with one State, of which one at most leads. Who does is
// said by Elect and Depose; nobody is elected otherwise but by Resign.
//
// What befalls a leader in a cluster befalls it by call: Pause stands its node still, so that its calls hang while it goes on to believe that it leads;
// Hush keeps the end of its term from it; Lag lets it see an old state. What befalls single commands is up to GroupOptions.Plan.
//
// All methods may be called from any goroutine. It starts none.
type Group struct {
	plan    func(GroupCall) GroupFault
	applied func(uint64, driverlog.Command)
	logger  *slog.Logger

	mu      sync.Mutex // guards all below, and what nodes have; nothing else is locked under it
	state   driverlog.State
	nodes   []*Node
	leader  *Node                 // nil: nobody
	late    [][]driverlog.Command // whose proposers do not know, and that take effect before the next one
	calls   int
	changed chan struct{} // closed by the next change of leader
}

// NewGroup returns a group whose first node leads.
//
// Errors: a snapshot that does not decode; invalid options.
func NewGroup(opts GroupOptions) (*Group, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	g := &Group{plan: opts.Plan, applied: opts.Applied, logger: opts.Logger, changed: make(chan struct{})}
	if g.logger == nil {
		g.logger = slog.New(slog.DiscardHandler)
	}
	if len(opts.Snapshot) > 0 {
		state, err := driverlog.DecodeState(opts.Snapshot)
		if err != nil {
			return nil, fmt.Errorf("memlog: read snapshot: %w", err)
		}
		g.state = state
	}
	names := opts.Nodes
	if len(names) == 0 {
		names = []string{"local"}
	}
	for _, name := range names {
		g.nodes = append(g.nodes, &Node{g: g, name: name, leading: make(chan struct{}, 1), stop: make(chan struct{})})
	}
	g.leader = g.nodes[0]
	return g, nil
}

// Node returns the node called name, nil if there is none.
func (g *Group) Node(name string) *Node {
	for _, n := range g.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// Leader returns the name of the node that leads, empty if none does.
func (g *Group) Leader() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leader == nil {
		return ""
	}
	return g.leader.name
}

// State returns a copy of the state, whoever leads.
func (g *Group) State() driverlog.State {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state.Clone()
}

// Depose ends the term of a node, if it leads. Nobody leads then.
func (g *Group) Depose(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leader != nil && g.leader.name == name {
		g.lead(nil)
	}
}

// Elect lets a node lead in place of whoever does. One that leads goes on; one that is not known or closed is not elected.
func (g *Group) Elect(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := g.Node(name); n != nil && !n.closed && g.leader != n {
		g.lead(n)
	}
}

// lead makes n the leader, nil for nobody, with g.mu held.
func (g *Group) lead(n *Node) {
	if g.leader != nil {
		g.leader.endTerm()
	}
	g.leader = n
	g.change()
}

// change wakes those who wait to lead, with g.mu held.
func (g *Group) change() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// node calls f with a node and g.mu held.
func (g *Group) node(name string, f func(n *Node)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := g.Node(name); n != nil {
		f(n)
	}
}

// Pause stands a node still: its calls hang, those too that are to be answered, and it is not told of the end of its term.
func (g *Group) Pause(name string) {
	g.node(name, func(n *Node) {
		if n.resume == nil {
			n.resume = make(chan struct{})
		}
	})
}

// Resume lets a paused node go on, and tells it what it has missed.
func (g *Group) Resume(name string) {
	g.node(name, func(n *Node) {
		if n.resume != nil {
			close(n.resume)
			n.resume = nil
			n.tell()
		}
	})
}

// Hush keeps the end of its terms from a node.
func (g *Group) Hush(name string) { g.node(name, func(n *Node) { n.hushed = true }) }

// Tell ends Hush: the node is told what it has missed.
func (g *Group) Tell(name string) {
	g.node(name, func(n *Node) {
		n.hushed = false
		n.tell()
	})
}

// Lag makes a node that does not lead see the state as it is now, whatever comes after.
func (g *Group) Lag(name string) {
	g.node(name, func(n *Node) {
		state := g.state.Clone()
		n.view = &state
	})
}

// CatchUp ends Lag.
func (g *Group) CatchUp(name string) { g.node(name, func(n *Node) { n.view = nil }) }

// apply steps the state, with g.mu held.
func (g *Group) apply(cmd driverlog.Command) (driverlog.Result, error) {
	index := g.state.Index + 1
	res, err := driverlog.Step(&g.state, index, cmd)
	if err != nil || res.Duplicate {
		return res, err
	}
	if n := g.leader; n != nil && n.lost != nil && g.state.Epoch != n.term {
		n.endTerm()
	}
	if g.applied != nil {
		g.applied(index, cmd)
	}
	return res, nil
}

// applyAll steps through cmds up to the first that is refused, after those that are late, with g.mu held.
func (g *Group) applyAll(cmds []driverlog.Command) (results []driverlog.Result, err error) {
	late := g.late
	g.late = nil
	for _, all := range late {
		for _, cmd := range all {
			if _, err := g.apply(cmd); err != nil {
				break
			}
		}
	}
	for _, cmd := range cmds {
		res, err := g.apply(cmd)
		if err != nil {
			return results, err
		}
		results = append(results, res)
	}
	return results, nil
}

// ask asks the plan.
func (g *Group) ask(n *Node, cmds []driverlog.Command) GroupFault {
	if g.plan == nil || len(cmds) == 0 {
		return GroupFault{}
	}
	g.mu.Lock()
	g.calls++
	call := GroupCall{Node: n.name, N: g.calls, Commands: cmds}
	g.mu.Unlock()
	return g.plan(call)
}
