package memlog

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// Options says how a Log starts. The zero value is an empty log of node "local".
type Options struct {
	// Node is the name that terms are started under. Empty means "local".
	Node string
	// Snapshot is an encoded driverlog.State to start from. Empty means an empty log.
	Snapshot []byte
	// LoseReply is asked after each command that took effect; true makes Propose, or the whole ProposeAll, return
	// driverlog.ErrUnknown instead of the answer. It must not call the log. Nil loses none.
	LoseReply func(cmd driverlog.Command) bool
	// Logger gets one Info a term. Nil discards.
	Logger *slog.Logger
}

// Validate returns an error for options that New would refuse.
func (o Options) Validate() error {
	if len(o.Node) > driverlog.MaxName {
		return fmt.Errorf("memlog: node name of %d bytes, at most %d are allowed", len(o.Node), driverlog.MaxName)
	}
	return nil
}

// Log is a driverlog.Log in memory.
type Log struct {
	node   string
	lose   func(driverlog.Command) bool
	logger *slog.Logger

	mu     sync.Mutex // guards all below; nothing else is locked under it
	state  driverlog.State
	index  uint64
	epoch  uint64        // of the current term
	lost   chan struct{} // closed with the current term; nil between terms
	closed bool
}

// New returns a log with opts. It starts no goroutine.
//
// Errors: a snapshot that does not decode; invalid options.
func New(opts Options) (*Log, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	l := &Log{node: opts.Node, lose: opts.LoseReply, logger: opts.Logger}
	if l.node == "" {
		l.node = "local"
	}
	if l.logger == nil {
		l.logger = slog.New(slog.DiscardHandler)
	}
	if len(opts.Snapshot) > 0 {
		state, err := driverlog.DecodeState(opts.Snapshot)
		if err != nil {
			return nil, fmt.Errorf("memlog: read snapshot: %w", err)
		}
		l.state, l.index = state, state.Index
	}
	return l, nil
}

// Propose applies cmd and returns its answer.
//
// Cost: well under a microsecond for an empty batch; no allocation beyond copies of the inputs and
// the manifest.
// Errors: as driverlog.Log says. A context that ends during the call has no effect.
func (l *Log) Propose(ctx context.Context, cmd driverlog.Command) (driverlog.Result, error) {
	res, err := l.propose(ctx, cmd)
	if err != nil {
		return driverlog.Result{}, fmt.Errorf("propose %s: %w", cmd.Kind, err)
	}
	return res, nil
}

func (l *Log) propose(ctx context.Context, cmd driverlog.Command) (driverlog.Result, error) {
	if err := ctx.Err(); err != nil {
		return driverlog.Result{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return driverlog.Result{}, driverlog.ErrClosed
	}
	res, err := l.apply(cmd)
	if err == nil && !res.Duplicate && l.lose != nil && l.lose(cmd) {
		return driverlog.Result{}, driverlog.ErrUnknown
	}
	return res, err
}

// ProposeAll applies cmds in order, nothing between them, and returns their answers.
//
// Cost: that of Propose for each, and one lock.
// Errors: as driverlog.Log says. A context that ends during the call has no effect.
func (l *Log) ProposeAll(ctx context.Context, cmds []driverlog.Command) ([]driverlog.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("propose %d commands: %w", len(cmds), err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, fmt.Errorf("propose %d commands: %w", len(cmds), driverlog.ErrClosed)
	}
	var results []driverlog.Result
	lost := false
	for i, cmd := range cmds {
		res, err := l.apply(cmd)
		if err != nil && !lost {
			return results, fmt.Errorf("propose command %d of %d, %s: %w", i+1, len(cmds), cmd.Kind, err)
		} else if err != nil {
			break
		}
		lost = lost || !res.Duplicate && l.lose != nil && l.lose(cmd)
		results = append(results, res)
	}
	if lost {
		return nil, fmt.Errorf("propose %d commands: %w", len(cmds), driverlog.ErrUnknown)
	}
	return results, nil
}

// apply steps the state under the next index, with l.mu held. A new epoch ends the term of the old one.
func (l *Log) apply(cmd driverlog.Command) (driverlog.Result, error) {
	l.index++
	res, err := driverlog.Step(&l.state, l.index, cmd)
	if l.lost != nil && l.state.Epoch != l.epoch {
		l.endTerm()
	}
	return res, err
}

func (l *Log) endTerm() {
	if l.lost != nil {
		close(l.lost)
		l.lost = nil
	}
}

// State returns a copy of the state.
//
// Cost: a copy of everything the state holds, some microseconds.
// Errors: as driverlog.Log says.
func (l *Log) State(ctx context.Context) (driverlog.State, error) {
	if err := ctx.Err(); err != nil {
		return driverlog.State{}, fmt.Errorf("read driver state: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return driverlog.State{}, fmt.Errorf("read driver state: %w", driverlog.ErrClosed)
	}
	return l.state.Clone(), nil
}

// Lead returns the current term, started by this call if there is none. It does not wait.
//
// Errors: as driverlog.Log says.
func (l *Log) Lead(ctx context.Context) (driverlog.Term, error) {
	if err := ctx.Err(); err != nil {
		return driverlog.Term{}, fmt.Errorf("lead: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return driverlog.Term{}, fmt.Errorf("lead: %w", driverlog.ErrClosed)
	}
	if l.lost == nil {
		res, err := l.apply(driverlog.Command{Kind: driverlog.LeaderStart, Node: l.node})
		if err != nil {
			return driverlog.Term{}, fmt.Errorf("lead: %w", err)
		}
		l.epoch, l.lost = res.Index, make(chan struct{})
		l.logger.InfoContext(ctx, "leader term started", "node", l.node, "epoch", l.epoch)
	}
	return driverlog.Term{Epoch: l.epoch, Lost: l.lost}, nil
}

// StepDown ends the current term, if there is one. As in an election, commands of its epoch are accepted
// until the next call of Lead has started another.
func (l *Log) StepDown() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endTerm()
}

// Close ends the term; everything else returns driverlog.ErrClosed from then on. It may be called
// again.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.endTerm()
	return nil
}
