package blockcopies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// patience is how long a block waits for copies before somebody is told.
const patience = time.Second

// A term is the log of received blocks of one term of leadership, and what is sent to the other drivers in it.
type term struct {
	c     *Copies
	epoch uint64
	log   *receivedlog.Log

	cancel context.CancelFunc // of what the goroutines below run in
	work   sync.WaitGroup     // the watch of the members, and a sender for each

	mu      sync.Mutex // guards what follows
	err     error      // why nothing is acknowledged any more
	senders []*sender  // one for each other member
	changed chan struct{}
	kept    receivedlog.Address // behind all that is acknowledged, its epoch zero
	lowest  receivedlog.Address // that is needed
	waiting int                 // appends that wait for copies
	told    bool                // that blocks wait
	closed  bool
	once    sync.Once
	closing error
}

var _ streamingcontext.BlockLog = (*term)(nil)

// Append makes a block durable here and on as many other drivers as there are to be copies of it.
//
// The order is what matters: it is durable here first, then this driver must not have promised itself to a newer leader, and each other one
// makes it durable only if it has not either. So whoever leads next is told of it by any of them, or it is not acknowledged.
func (t *term) Append(ctx context.Context, stream int32, block, meta []byte) (receivedlog.Address, error) {
	if err := t.failed(); err != nil {
		return receivedlog.Address{}, err
	}
	at, err := t.log.Append(ctx, stream, block, meta)
	if err == nil {
		err = t.c.store.allows(t.epoch)
	}
	if err == nil {
		err = t.await(ctx, at)
	}
	if err != nil {
		return receivedlog.Address{}, fmt.Errorf("received block of stream %d: %w", stream, err)
	}
	at.Epoch = t.epoch
	return at, nil
}

// await waits until there are copies enough of the record at an address.
func (t *term) await(ctx context.Context, at receivedlog.Address) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.senders {
		s.nudge()
	}
	t.waiting++
	defer func() { t.waiting-- }()
	slow := time.NewTimer(patience)
	defer slow.Stop()
	for {
		have := 1
		for _, s := range t.senders {
			if at.Compare(s.kept) < 0 {
				have++
			}
		}
		if have >= t.c.opts.Copies {
			if end := (receivedlog.Address{Segment: at.Segment, Offset: at.Offset + 1}); t.kept.Compare(end) < 0 {
				t.kept = end
			}
			if t.told {
				t.told = false
				t.c.opts.Logger.Info("received blocks have copies again", "epoch", t.epoch)
			}
			return nil
		}
		if t.err != nil {
			return t.err
		}
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		case <-slow.C:
			t.tell(have)
		}
		t.mu.Lock()
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
}

// tell says, once until there are copies again, that blocks wait for them.
func (t *term) tell(have int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.told {
		return
	}
	t.told = true
	var away []string
	for _, s := range t.senders {
		if !s.connected {
			away = append(away, fmt.Sprintf("%s: %v", s.ID, s.err))
		}
	}
	t.c.opts.Logger.Warn("received blocks wait for copies, and their receivers with them", "epoch", t.epoch, "copies", have,
		"want", t.c.opts.Copies, "drivers", len(t.senders)+1, "away", away)
}

// notify wakes those who wait for what t.mu guards, which is held.
func (t *term) notify() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// fail ends what is acknowledged.
func (t *term) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
		t.notify()
		t.c.opts.Logger.Warn("no received block is acknowledged any more", "epoch", t.epoch, "err", err)
	}
}

func (t *term) failed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// Read returns a block, of this term or an earlier one, from another driver if it cannot be read here.
func (t *term) Read(a receivedlog.Address) ([]byte, error) {
	t.mu.Lock()
	closed := t.closed
	t.mu.Unlock()
	if closed {
		return nil, ErrClosed
	}
	raw, err := t.c.store.record(a)
	if err == nil {
		return receivedlog.Block(raw, a)
	}
	if _, damaged := errors.AsType[*receivedlog.DamageError](err); damaged || !errors.Is(err, fs.ErrNotExist) {
		t.c.opts.Logger.Warn("received block cannot be read here, a copy is looked for", "block", a.String(), "err", err)
	}
	errs := []error{err}
	for _, m := range t.c.others() {
		raw, err := t.readFrom(m, a)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if a.Epoch < t.epoch { // the others get it from here, too
			if err := t.c.store.write(t.epoch, place{a.Epoch, a.Segment}, a.Offset, raw); err != nil {
				t.c.opts.Logger.Warn("received block is not repaired", "block", a.String(), "err", err)
			}
		}
		return receivedlog.Block(raw, a)
	}
	return nil, errors.Join(errs...)
}

func (t *term) readFrom(m Member, a receivedlog.Address) ([]byte, error) {
	ctx := context.Background() // each step of it has a deadline
	f, err := t.c.follow(ctx, m, t.epoch)
	if err != nil {
		if _, fenced := errors.AsType[*FencedError](err); fenced {
			t.fail(err)
		}
		return nil, err
	}
	defer f.close()
	raw, err := f.record(ctx, a)
	if err == nil {
		if _, err = receivedlog.Block(raw, a); err != nil {
			err = fmt.Errorf("driver %s: %w", m.ID, err)
		}
	}
	return raw, err
}

// Scan visits the blocks that there are of earlier terms, and of this one, in order.
func (t *term) Scan(ctx context.Context, visit func(receivedlog.Entry) error) error {
	err := t.c.store.scan(ctx, visit)
	if _, damaged := errors.AsType[*receivedlog.ScanError](err); err != nil && !damaged {
		return err
	}
	return errors.Join(err, t.log.Scan(ctx, func(e receivedlog.Entry) error {
		e.Address.Epoch = t.epoch
		return visit(e)
	}))
}

// Clean removes what nobody needs before an address, here and on the other drivers, those that are away now when they are back.
func (t *term) Clean(lowest receivedlog.Address) (removed int, err error) {
	if err := t.c.store.allows(t.epoch); err != nil {
		return 0, err
	}
	t.mu.Lock()
	if t.lowest.Compare(lowest) < 0 {
		t.lowest = lowest
	}
	// What is no more here is what the others have been told not to need, or will be first.
	for _, s := range t.senders {
		s.nudge()
	}
	t.mu.Unlock()
	return t.c.store.clean(t.epoch, lowest)
}

// End returns an address behind all blocks.
func (t *term) End() receivedlog.Address {
	at := t.log.End()
	at.Epoch = t.epoch
	return at
}

// Close ends the term: appends that wait fail, nothing is sent any more. What there is stays for whoever leads next.
func (t *term) Close() error {
	t.once.Do(func() {
		t.mu.Lock()
		if t.err == nil {
			t.err = ErrClosed
		}
		t.closed = true
		t.notify()
		t.mu.Unlock()
		t.cancel()
		t.work.Wait()
		t.closing = errors.Join(t.log.Close(), t.c.store.end())
		t.c.mu.Lock()
		t.c.term, t.c.leading = nil, false
		t.c.mu.Unlock()
	})
	return t.closing
}
