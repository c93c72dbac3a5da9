package boltlog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/internal/filelock"
	"github.com/leat-io/leat/scheduler/driverlog/internal/groupcommit"
)

// Log is a driverlog.Log in a file.
type Log struct {
	path   string
	node   string
	every  int
	logger *slog.Logger
	lock   *filelock.Lock

	leading sync.Mutex // held by Lead, so that its callers share a term; taken before all others
	closing sync.Mutex // held by Close

	mu     sync.Mutex         // guards the fields below
	queue  *groupcommit.Queue // calls that wait to be written
	closed bool
	failed error // the first error of the store
	term   driverlog.Term
	lost   chan struct{} // closed with the term; nil between terms

	write   sync.Mutex // guards the fields below; mu may be taken under it
	store   *store     // nil once closed
	state   driverlog.State
	buf     []byte // the bytes of pending
	pending []span // applied and not durable: Committed only, outside of a write
	behind  int    // entries in the file behind its snapshot
}

// lockSuffix is behind the name of a log in that of its lock file.
const lockSuffix = ".lock"

// Open returns the log in the file at path, made if there is none; its folder must be there. Beside it lie a lock file and a
// small file that says how far the log was durable, with .lock and .tail behind the name. Open starts no goroutine.
//
// Cost: a read of the file, whose size is bounded by Options.SnapshotEvery and the state.
// Errors: *LockedError if the log is open, in this process or another; *CorruptError for a damaged file, which is left as it
// is; *driverlog.VersionError within it for one of a later version; invalid options; those of the file system.
func Open(path string, opts Options) (*Log, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	path = resolve(path)
	lock, err := filelock.Take(path+lockSuffix, path, opts.LockTimeout)
	if err != nil {
		return nil, err
	}
	s, c, note, err := openStore(path)
	if err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	l := &Log{
		path: path, node: opts.Node, every: opts.SnapshotEvery, logger: opts.Logger, lock: lock,
		store: s, state: c.state, behind: c.behind,
	}
	l.queue = groupcommit.New(&l.mu, groupcommit.Options{
		Refusal: l.refusal, Failed: func() error { return l.failed }, Write: l.apply,
	})
	if note != "" {
		l.logger.Warn("driver log repaired", "path", path, "found", note)
	}
	l.logger.Info("driver log opened", "path", path, "index", c.state.Index, "entries", c.behind)
	return l, nil
}

// resolve follows symbolic links, so that the lock and the tail lie beside the file itself, whatever it is called by.
func resolve(path string) string {
	if file, err := filepath.EvalSymlinks(path); err == nil {
		return file
	}
	return path // there is no file yet, or opening it says what is wrong
}

// State returns a copy of the state. It waits for a write under way.
//
// Cost: a copy of everything the state holds.
// Errors: as driverlog.Log says; ErrUnknown once the file could not be written.
func (l *Log) State(ctx context.Context) (driverlog.State, error) {
	if err := ctx.Err(); err != nil {
		return driverlog.State{}, fmt.Errorf("read driver state: %w", err)
	}
	l.write.Lock()
	defer l.write.Unlock()
	if err := l.usable(); err != nil {
		return driverlog.State{}, fmt.Errorf("read driver state: %w", err)
	}
	return l.state.Clone(), nil
}

// Lead returns the current term, started by this call if there is none: the first call after Open starts one.
//
// Cost: a transaction if a term is started.
// Errors: as driverlog.Log says; ErrUnknown once the file could not be written.
func (l *Log) Lead(ctx context.Context) (driverlog.Term, error) {
	l.leading.Lock()
	defer l.leading.Unlock()
	if err := ctx.Err(); err != nil {
		return driverlog.Term{}, fmt.Errorf("lead: %w", err)
	}
	if err := l.usable(); err != nil {
		return driverlog.Term{}, fmt.Errorf("lead: %w", err)
	}
	l.mu.Lock()
	term, leads := l.term, l.lost != nil
	l.mu.Unlock()
	if leads {
		return term, nil
	}
	c := &groupcommit.Call{Commands: []driverlog.Command{{Kind: driverlog.LeaderStart, Node: l.node}}, Lead: true}
	if err := l.queue.Submit(ctx, c); err != nil {
		return driverlog.Term{}, fmt.Errorf("lead: %w", err)
	}
	l.logger.InfoContext(ctx, "leader term started", "node", l.node, "epoch", c.Term.Epoch)
	return c.Term, nil
}

// Close lets calls under way finish, makes durable what was answered before it was, ends the term and gives the file up.
// Everything else returns driverlog.ErrClosed from then on. It may be called again.
//
// Errors: *StorageError if what was answered could not be written; nil after an error that other calls have returned.
func (l *Log) Close() error {
	l.closing.Lock()
	defer l.closing.Unlock()
	l.mu.Lock()
	l.closed = true
	l.queue.AwaitIdle()
	failed := l.failed
	l.mu.Unlock()

	l.write.Lock()
	defer l.write.Unlock()
	if l.store == nil {
		return nil
	}
	var errs []error
	if failed == nil && len(l.pending) > 0 {
		if err := l.flush(); err != nil {
			errs = append(errs, fmt.Errorf("close driver log: %w", err))
		}
	}
	err := errors.Join(l.store.close(), l.lock.Release())
	if failed == nil && err != nil {
		errs = append(errs, fmt.Errorf("close driver log %s: %w", l.path, err))
	}
	l.store = nil
	l.mu.Lock()
	l.endTerm()
	l.mu.Unlock()
	return errors.Join(errs...)
}

// usable returns why the log takes no calls, if it does not.
func (l *Log) usable() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refusal()
}

// refusal is usable with l.mu held.
func (l *Log) refusal() error {
	if l.closed {
		return driverlog.ErrClosed
	}
	if l.failed != nil {
		return fmt.Errorf("%w: %w", driverlog.ErrUnknown, l.failed)
	}
	return nil
}

// endTerm ends the term, with l.mu held.
func (l *Log) endTerm() {
	if l.lost != nil {
		close(l.lost)
		l.lost = nil
	}
}
