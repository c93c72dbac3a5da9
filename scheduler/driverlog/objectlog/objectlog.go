package objectlog

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/leat-io/leat/blobstore"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/internal/groupcommit"
)

// Log is a driverlog.Log in a blob store.
type Log struct {
	store  blobstore.Store
	names  names
	opts   Options
	logger *slog.Logger
	writer identity

	leading chan struct{} // holds a value while Lead runs, so that its callers share a term
	closing sync.Mutex    // held by Close
	stop    chan struct{} // closed by Close
	renewal sync.WaitGroup

	mu       sync.Mutex         // guards the fields below
	queue    *groupcommit.Queue // calls that wait to be written
	closed   bool
	failed   error // what ended the log
	term     driverlog.Term
	lost     chan struct{} // closed with the term; nil between terms
	renewing bool          // the goroutine runs
	durable  uint64        // index of the last entry that is
	epoch    uint64        // of the latest term of this log

	record chan struct{} // holds a value while owner is used, which may wait for another; mu may be taken meanwhile
	owner  *owner

	write    chan struct{} // holds a value while the fields below are used, which may take Options.Timeout; mu may be taken meanwhile
	contents contents      // as of the last read, with what this log has written since; its state has pending in it
	tenure   bool          // the last entry is ours, and the entries behind it can only be
	pending  []byte        // encoded commands that have been applied and are not durable: Committed only, outside of a write
	count    int           // of the commands in pending
}

// Open returns the log in store, empty if there is none. It starts no goroutine.
//
// Cost: a listing, a read of a snapshot and of each object behind it, and a swap of the owner's record.
// Errors: *LockedError if the log has an owner, after Options.Wait; *CorruptError for a damaged object, which is left as it is;
// *driverlog.VersionError within it for one of a later version; invalid options; those of the store.
func Open(ctx context.Context, store blobstore.Store, opts Options) (*Log, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	l := &Log{
		store: store, names: names{opts.Prefix}, opts: opts, logger: opts.Logger,
		leading: make(chan struct{}, 1), stop: make(chan struct{}), record: make(chan struct{}, 1),
		write: make(chan struct{}, 1),
	}
	rand.Read(l.writer[:]) // never fails
	l.queue = groupcommit.New(&l.mu, groupcommit.Options{
		Limit: maxGroup, Size: sizeOf, Refusal: l.refusal, Failed: func() error { return l.failed }, Write: l.apply,
	})
	l.owner = newOwner(store, l.names, opts, l.writer)
	if err := l.owner.claim(ctx, opts.Wait); err != nil {
		return nil, fmt.Errorf("open driver log: %w", err)
	}
	if err := l.reload(ctx); err != nil {
		// Nobody else need wait for a log that was never used.
		return nil, fmt.Errorf("open driver log: %w", errors.Join(err, l.release(ctx)))
	}
	l.logger.Info("driver log opened", "store", store.String(), "index", l.contents.state.Index, "entries", l.contents.behind)
	return l, nil
}

// reload reads the log from the store, with l.write taken or not needed yet.
func (l *Log) reload(ctx context.Context) error {
	l.record <- struct{}{}
	least := l.owner.me.Last
	<-l.record
	c, err := load(ctx, l.store, l.names, least, false)
	if err != nil {
		return err
	}
	if c.damaged != nil {
		l.logger.Warn("driver log read from an older snapshot", "store", l.store.String(), "found", c.damaged)
	}
	l.contents, l.tenure, l.pending, l.count = c, false, nil, 0
	l.setDurable(c.state.Index)
	return nil
}

func (l *Log) setDurable(index uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.durable = index
}

// State returns a copy of the state, as of this log's last write or read. It waits for a write under way.
//
// Cost: a copy of everything the state holds.
// Errors: as driverlog.Log says; ErrUnknown once the log has given up.
func (l *Log) State(ctx context.Context) (driverlog.State, error) {
	if err := ctx.Err(); err != nil {
		return driverlog.State{}, fmt.Errorf("read driver state: %w", err)
	}
	select {
	case l.write <- struct{}{}:
		defer func() { <-l.write }()
	case <-ctx.Done():
		return driverlog.State{}, fmt.Errorf("read driver state: %w", ctx.Err())
	}
	if err := l.usable(); err != nil {
		return driverlog.State{}, fmt.Errorf("read driver state: %w", err)
	}
	return l.contents.state.Clone(), nil
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

// Close lets calls under way finish, makes durable what was answered before it was, ends the term and gives the owner's record up.
// Everything else returns driverlog.ErrClosed from then on. It may be called again. It takes Options.Timeout at most for each of the two
// writes.
//
// Errors: *StorageError if what was answered could not be written; nil after an error that other calls have returned. A record that
// could not be given up lapses.
func (l *Log) Close() error {
	l.closing.Lock()
	defer l.closing.Unlock()
	l.mu.Lock()
	if !l.closed {
		close(l.stop)
	}
	again := l.closed
	l.closed = true
	l.queue.AwaitIdle()
	failed := l.failed
	l.mu.Unlock()
	if again {
		return nil
	}
	l.renewal.Wait()

	l.write <- struct{}{}
	defer func() { <-l.write }()
	var err error
	if failed == nil && l.count > 0 {
		if err = l.flush(context.Background(), false); errors.Is(err, errOvertaken) {
			err = nil // another driver finds those batches prepared, as after a crash
		}
	}
	l.mu.Lock()
	l.endTerm()
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), l.opts.Timeout)
	defer cancel()
	if rerr := l.release(ctx); rerr != nil {
		l.logger.Warn("driver log owner not given up", "store", l.store.String(), "error", rerr)
	}
	if err != nil {
		return fmt.Errorf("close driver log: %w", err)
	}
	return nil
}

// release writes that this log has ended, if the record is ours.
func (l *Log) release(ctx context.Context) error {
	l.record <- struct{}{}
	defer func() { <-l.record }()
	if !l.owner.owns {
		return nil
	}
	l.note()
	l.owner.me.Ended = true
	err := l.owner.renew(ctx)
	l.owner.owns = false
	return err
}

// note brings the record up to date, with l.record taken.
func (l *Log) note() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owner.me.Last = max(l.owner.me.Last, l.durable)
	l.owner.me.Epoch = l.epoch
}

// keepOwning renews the owner's record until the log is closed or has another owner.
func (l *Log) keepOwning() {
	ctx, cancel := context.WithCancel(context.Background())
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel()
	watch.Go(func() { // Close does not wait for a store that does not answer
		select {
		case <-l.stop:
			cancel()
		case <-ctx.Done():
		}
	})
	ticker := time.NewTicker(max(l.opts.Lease/3, time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if !l.renewOnce(ctx) {
			return
		}
	}
}

// renewOnce renews the record, taking no longer than a lease, and ends the term where another has taken it.
func (l *Log) renewOnce(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, l.opts.Lease)
	defer cancel()
	l.record <- struct{}{}
	defer func() { <-l.record }()
	l.note()
	if err := l.owner.renew(ctx); err != nil {
		l.logger.Warn("driver log owner not renewed", "store", l.store.String(), "error", err)
	}
	if l.owner.owns {
		return true
	}
	l.logger.Warn("driver log has another owner", "store", l.store.String())
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endTerm()
	l.renewing = false
	return false
}
