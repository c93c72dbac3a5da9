package raftlog

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/internal/filelock"
)

// Log is a node of a cluster, and a driverlog.Log.
type Log struct {
	dir    string
	opts   Options
	logger *slog.Logger
	id     string
	name   string

	raft  *raft.Raft
	fsm   *machine
	store *store
	trans io.Closer
	net   *transport // nil in a cluster of one without a network

	events   *events
	notify   chan bool       // raft says whether it leads
	points   chan point      // the digest to compare next, of one
	enough   chan struct{}   // a snapshot is due, of one
	joined   chan clusterID  // the cluster's id is to be written, of one
	readable chan struct{}   // closed by Close: snapshots that are being written are given up
	quit     chan struct{}   // closed by Close, when raft has stopped: the goroutines below end
	tasks    sync.WaitGroup  // recording and housekeeping
	calls    sync.WaitGroup  // calls to raft under way; added to under mu while not closed
	leading  chan struct{}   // of one: held by Lead, so that its callers share a term
	changing chan struct{}   // of one: held by a change of the members
	ctx      context.Context // ends with the node; for what the node proposes by itself
	stop     context.CancelFunc
	closing  sync.Once
	closeErr error
	down     func() raft.Future // shuts raft down, once

	mu       sync.Mutex // guards the fields below; nothing else is locked under it
	closed   bool
	poison   error         // why the node has stopped
	poisoned chan struct{} // closed with poison
	role     role
	changed  chan struct{} // closed and replaced with every change of role, and when a leader is found or lost
	epoch    uint64        // of the last LeaderStart applied
	term     driverlog.Term
	lost     chan struct{} // closed with the term; nil between terms
	barrier  uint64        // the raft term in which this node leads and has applied all that came before
	identity identity
	cluster  clusterID
	entries  uint64 // applied since the last snapshot
	live     bool   // Open is done
	space    space
	skipped  error // a snapshot that could not be used when raft started
}

// A role is what raft last said of this node.
type role struct {
	leads bool
	seq   uint64 // counts what raft said
}

// Open opens the node whose folder dir is, made if there is none, and starts it. It does not wait for a leader.
//
// A folder is made a new cluster of this node if Options.Bootstrap says so, or waits to be joined to one; a folder that has been a
// member is a member still. Options.Network is the log's from here on, whatever Open returns.
//
// Cost: a read of the newest snapshot and of the entries behind it; a write that shows that the disk takes one, and two flushes more for a new folder.
// Errors: *LockedError if the folder is in use; *IdentityError if it is another node's; *CorruptError, with a
// *driverlog.VersionError in it for what a later version has written; *SpaceError where too little is free; *PoisonError where the disk takes no
// write; invalid options; those of the file system.
func Open(dir string, opts Options) (log *Log, err error) {
	defer func() {
		if err != nil && opts.Network != nil {
			err = errors.Join(err, opts.Network.Close())
		}
	}()
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open driver log: %w", err)
	}
	lock, err := filelock.Take(lockPath(dir), dir, opts.LockTimeout)
	if err != nil {
		return nil, err
	}
	id, err := ownIdentity(dir, opts.Name)
	if err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	d, err := openDisk(dir, false)
	if err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	if opts.Disk != nil {
		d = passedOn{d, opts.Disk}
	}
	if opts.wrap != nil {
		d = opts.wrap(d)
	}
	l := &Log{
		dir: dir, opts: opts, logger: opts.Logger.With("node", id.ID), id: id.ID, name: opts.Name, identity: id,
		fsm: &machine{dir: dir, every: opts.digests}, events: newEvents(opts.Listener),
		notify: make(chan bool, 16), points: make(chan point, 1), enough: make(chan struct{}, 1), joined: make(chan clusterID, 1),
		readable: make(chan struct{}), quit: make(chan struct{}), leading: make(chan struct{}, 1), changing: make(chan struct{}, 1),
		poisoned: make(chan struct{}), changed: make(chan struct{}), space: space{free: -1},
	}
	l.ctx, l.stop = context.WithCancel(context.Background())
	if c, err := hex.DecodeString(id.Cluster); err == nil && len(c) == clusterSize {
		l.cluster = clusterID(c)
	}
	l.fsm.hooks = hooks{cluster: l.learned, epoch: l.began, entries: l.count, recorded: l.compare, members: l.configured, broken: l.fail, unread: l.unreadable}
	var full *SpaceError
	if err := l.look(); errors.As(err, &full) { // anything else the first write finds out
		l.stop()
		return nil, errors.Join(fmt.Errorf("open driver log %s: %w", dir, err), d.Close(), lock.Release())
	}
	l.store = newStore(d, dir, opts.Stall, func(p *PoisonError) { l.fail(p) }, lock.Release)
	if err := l.start(); err != nil {
		l.stop()
		return nil, errors.Join(fmt.Errorf("open driver log %s: %w", dir, err), l.store.close())
	}
	l.logger.Info("driver log opened", "path", dir, "options", opts.String(), "index", l.Status().Index)
	return l, nil
}

// ID returns the node's id: its name, "-" and 16 hexadecimal digits that its folder keeps.
func (l *Log) ID() string { return l.id }

// Cluster returns the cluster's id, 32 hexadecimal digits, or "" before the node has heard of it.
func (l *Log) Cluster() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cluster.String()
}

// await waits until changed is closed, for bound at most. It returns why there is nothing to wait for, if so.
func (l *Log) await(ctx context.Context, changed <-chan struct{}, bound time.Duration) error {
	timer := time.NewTimer(bound)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-l.poisoned:
	case <-l.ctx.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// usable returns a channel that is closed when something changes, or why the node takes no calls.
func (l *Log) usable() (<-chan struct{}, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed, l.refusal()
}

// refusal returns why the node takes no calls, with l.mu held.
func (l *Log) refusal() error {
	switch {
	case l.closed:
		return driverlog.ErrClosed
	case l.poison != nil:
		return fmt.Errorf("%w: %w", driverlog.ErrUnknown, l.poison)
	}
	return nil
}

// tell wakes whoever waits for a change, with l.mu held.
func (l *Log) tell() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// Failed returns a channel that is closed when the node has stopped for good; Status.Poisoned says why. Whoever runs it closes it then, and opens it
// again once its disk is well.
func (l *Log) Failed() <-chan struct{} { return l.poisoned }

// fail stops the node for good. It does not block: the goroutines of raft call it.
func (l *Log) fail(err error) {
	l.mu.Lock()
	if l.poison != nil {
		l.mu.Unlock()
		return
	}
	l.poison = err
	close(l.poisoned)
	l.endTerm()
	l.tell()
	l.mu.Unlock()
	l.logger.Error("driver log stopped", "error", err)
	l.events.add(func(t *Listener) {
		if t.Poisoned != nil {
			t.Poisoned(err)
		}
	})
}

// unreadable is told of a snapshot that cannot be read. While the node starts an older one will do.
func (l *Log) unreadable(err error) {
	l.mu.Lock()
	live := l.live
	if !live {
		l.skipped = err
	}
	l.mu.Unlock()
	if live {
		l.fail(err)
		return
	}
	l.logger.Warn("driver log snapshot not used", "error", err)
}
