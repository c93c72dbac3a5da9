package driverlog

import (
	"context"
	"errors"
)

// A Log orders the decisions of drivers and applies them, each once, to one State. The batch loops
// of streaming contexts and structured queries call it; several may share one Log, each under an
// application name of its own.
//
// All methods may be called from any goroutine and may overlap.
type Log interface {
	// Propose appends cmd, waits until it has been applied and returns the answer of Step. It is
	// called a few times a batch. It does not keep the slices of cmd. A LeaderStart is proposed by Lead
	// and may be proposed by hand; either ends the term before.
	//
	// Errors: a refusal of Step (see Refused), ErrNotLeader, ErrClosed and a context that had ended
	// before the call all mean that the command has not taken effect and never will. ErrUnknown, which
	// may wrap the context's error, means that it may have or may yet: the caller must not retry
	// under a new request id, but end its term, and let the next one read the state.
	//
	// A Committed may be answered before it is durable: a crash may undo those that were answered last, and the batch is
	// then found prepared. They are durable with the next command of another kind, and with Close. All other commands are
	// durable when they are answered, if the log is a durable one.
	Propose(ctx context.Context, cmd Command) (Result, error)
	// ProposeAll appends cmds at consecutive indexes with no other command between them and applies them in order, up to the first
	// one that is refused. They become durable together: after a crash all of them have taken effect or none has, but
	// for Committed ones alone, which may come later as with Propose. It does not keep cmds or slices of theirs. No
	// commands have no results.
	//
	// Errors: with a refusal the results are those of the commands before the refused one, which took effect; the refused one
	// and all behind it never will. With any other error there are no results, and it means for all commands what it
	// means for one of Propose.
	ProposeAll(ctx context.Context, cmds []Command) ([]Result, error)
	// State returns a copy of the state that includes every command answered before the call. It is
	// called at the start of a term, by monitoring, and once an interval by drivers that are several; the copy is the caller's.
	State(ctx context.Context) (State, error)
	// Lead waits until this node leads and its LeaderStart has been applied, and returns the term. All
	// callers within one term get the same epoch. After a term has ended the next call never
	// returns its epoch again.
	Lead(ctx context.Context) (Term, error)
	// Close ends the term, lets calls under way finish or return ErrClosed, and releases what the
	// log holds. It may be called more than once.
	Close() error
}

// A Term is one stretch of leadership of this node.
type Term struct {
	// Epoch is the log index of the term's LeaderStart. Every other command carries it.
	Epoch uint64
	// Lost is closed when the term has ended, as far as this node knows. It may lag behind: only the
	// answer to a command tells whether an epoch still holds, so nothing is safe because Lost is open.
	Lost <-chan struct{}
}

// Causes for a Log to give no answer of Step.
var (
	// ErrNotLeader says that this node does not lead; the command was not appended.
	ErrNotLeader = errors.New("not the leader")
	// ErrUnknown says that the command may have taken effect, or may yet.
	ErrUnknown = errors.New("outcome unknown")
	// ErrClosed says that the log has been closed.
	ErrClosed = errors.New("driver log closed")
)
