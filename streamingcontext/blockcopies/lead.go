package blockcopies

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// Lead finds what was acknowledged in earlier terms, and returns the log of a new one, whose epoch must be larger than any before. Where these
// Copies have led in the epoch themselves, and their log is closed, it goes on with that.
//
// Before it returns, so many drivers have promised to take nothing from older leaders, this one among them, that of those left over there are too few
// to acknowledge anything: all but Copies - 1. It waits for them. What they have and this one lacks is copied here, and then to others, until there
// are as many copies as there can be now.
//
// Errors: *FencedError if a newer driver has been here; ErrLeads while the log of an earlier term is open; ErrClosed; ctx's cause; the disk's.
func (c *Copies) Lead(ctx context.Context, epoch uint64) (streamingcontext.BlockLog, error) {
	c.mu.Lock()
	err := error(nil)
	switch {
	case c.closed:
		err = ErrClosed
	case c.leading:
		err = ErrLeads
	}
	c.leading = c.leading || err == nil
	c.mu.Unlock()
	if err == nil {
		var t *term
		if t, err = c.lead(ctx, epoch); err == nil {
			return t, nil
		}
		c.mu.Lock()
		if t == nil { // else its Close has said so
			c.leading = false
		}
		c.mu.Unlock()
	}
	return nil, fmt.Errorf("lead in epoch %d: copies of received blocks: %w", epoch, err)
}

func (c *Copies) lead(ctx context.Context, epoch uint64) (*term, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel(nil)
	watching.Go(func() {
		select {
		case <-c.done:
			cancel(ErrClosed)
		case <-ctx.Done():
		}
	})
	c.mu.Lock()
	again := c.last == epoch
	c.mu.Unlock()
	if err := c.store.promise(epoch, !again); err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.last = epoch
	c.mu.Unlock()
	answered, err := c.gather(ctx, epoch)
	if err != nil {
		return nil, err
	}
	log, err := receivedlog.Open(c.store.folder(epoch), receivedlog.Options{MaxRecord: MaxBlock, SegmentBytes: c.opts.SegmentBytes, Logger: c.opts.Logger})
	if err != nil {
		return nil, err
	}
	working, end := context.WithCancel(context.WithoutCancel(ctx))
	t := &term{c: c, epoch: epoch, log: log, cancel: end, changed: make(chan struct{}), lowest: c.store.cleaned()}
	c.store.begin(epoch, log)
	c.mu.Lock()
	c.term = t // from now on a newer leader ends it
	if c.closed {
		err = ErrClosed
	}
	c.mu.Unlock()
	t.members(working)
	t.work.Go(func() { t.watch(working) })
	if err == nil {
		err = c.store.allows(epoch)
	}
	if err == nil {
		err = t.settle(ctx, answered)
	}
	if err != nil {
		return t, errors.Join(err, t.Close())
	}
	return t, nil
}

// gather asks the other drivers what they have, until enough have told, and copies what this one lacks.
func (c *Copies) gather(ctx context.Context, epoch uint64) (answered int, err error) {
	told := map[string]bool{}
	for round := 0; ; round++ {
		var pending []Member
		members := c.others()
		for _, m := range members {
			if !told[m.ID] {
				pending = append(pending, m)
			}
		}
		need := len(members) + 1 - (c.opts.Copies - 1)
		if c.opts.Copies == 1 {
			need = 1 // nobody was promised that anything is elsewhere
		}
		enough := func() bool { return 1+len(members)-len(pending) >= need }
		lost, suspect := c.store.missing()
		if !enough() || suspect && round == 0 {
			if pending, err = c.gatherFrom(ctx, epoch, pending, func(left []Member) (stop, soon bool) {
				pending = left
				lost, suspect = c.store.missing()
				return enough() && !suspect, enough() && len(lost) == 0
			}); err != nil {
				return 0, err
			}
			lost, _ = c.store.missing()
		}
		for _, m := range members {
			told[m.ID] = true
		}
		for _, m := range pending {
			told[m.ID] = false
		}
		if enough() {
			if len(lost) > 0 {
				c.opts.Logger.Warn("received blocks are damaged, and no driver that answers has them", "epoch", epoch, "places", len(lost), "first", lost[0].Error())
			}
			return len(members) - len(pending), nil
		}
		c.opts.Logger.Warn("drivers that may have copies of received blocks do not answer, they are waited for", "epoch", epoch,
			"answered", 1+len(members)-len(pending), "need", need, "drivers", len(members)+1)
		timer := time.NewTimer(c.opts.Retry)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return 0, context.Cause(ctx)
		}
	}
}

// gatherFrom asks drivers at once, until done says that it is enough or soon will be, and returns those that have not answered.
func (c *Copies) gatherFrom(ctx context.Context, epoch uint64, members []Member, done func(left []Member) (stop, soon bool)) ([]Member, error) {
	type answer struct {
		member Member
		f      *follower
		err    error
	}
	asking, cancel := context.WithCancel(ctx)
	answers := make(chan answer, len(members)) // bounded: one for each
	var work sync.WaitGroup
	for _, m := range members {
		work.Go(func() {
			f, err := c.follow(asking, m, epoch)
			answers <- answer{m, f, err}
		})
	}
	defer func() {
		cancel()
		work.Wait()
		close(answers)
		for a := range answers {
			if a.f != nil {
				a.f.close()
			}
		}
	}()
	left := members
	var soon <-chan time.Time // when those that may have what is damaged here are not waited for any longer
	if _, ok := done(left); ok {
		soon = time.After(patience)
	}
	for range members {
		var a answer
		select {
		case a = <-answers:
		case <-soon:
			return left, nil
		}
		if a.err == nil {
			a.err = c.fetch(ctx, a.f)
		}
		if _, fenced := errors.AsType[*FencedError](a.err); fenced {
			return left, a.err
		}
		if ctx.Err() != nil {
			return left, context.Cause(ctx)
		}
		if a.err != nil {
			c.opts.Logger.Warn("driver does not tell which copies of received blocks it has", "driver", a.member.ID, "err", a.err)
			continue
		}
		var rest []Member
		for _, m := range left {
			if m != a.member {
				rest = append(rest, m)
			}
		}
		left = rest
		stop, ok := done(left)
		if stop {
			break
		}
		if ok && soon == nil {
			soon = time.After(patience)
		}
	}
	return left, nil
}

// fetch copies what a driver has and this one lacks. Where a part has become damaged there, it is asked again what it has.
func (c *Copies) fetch(ctx context.Context, f *follower) (err error) {
	for try := 0; ; try++ {
		err = c.fetchAll(ctx, f)
		f.close()
		if _, changed := errors.AsType[*RemoteError](err); !changed || try == 3 {
			return err
		}
		if f, err = c.follow(ctx, f.Member, f.epoch); err != nil {
			return err
		}
	}
}

func (c *Copies) fetchAll(ctx context.Context, f *follower) error {
	// What it knows to be needed by nobody need not be here.
	if _, err := c.store.clean(f.epoch, receivedlog.Address{Epoch: f.lowest.epoch, Segment: f.lowest.segment}); err != nil {
		return err
	}
	lowest, have := c.store.inventory()
	f.has = slices.DeleteFunc(f.has, func(h holding) bool { return h.before(lowest) })
	todo, bytes := lacks(f.has, have)
	if bytes > 0 {
		c.opts.Logger.Info("received blocks are copied from another driver", "driver", f.ID, "epoch", f.epoch, "bytes", bytes)
	}
	for _, h := range todo {
		for _, part := range h.parts {
			for from := part.From; from < part.To; {
				data, err := f.read(ctx, h.place, from)
				if err != nil {
					return err
				}
				// All that is written is checked.
				if err := c.store.write(f.epoch, h.place, from, data); err != nil {
					return fmt.Errorf("copy from driver %s: %w", f.ID, err)
				}
				from += int64(len(data))
			}
		}
	}
	return nil
}

// settle waits until what was found has as many copies as it can have with those that answered.
func (t *term) settle(ctx context.Context, answered int) error {
	if len(t.c.store.holdings()) == 0 {
		return nil
	}
	want := min(t.c.opts.Copies-1, answered)
	limit := time.NewTimer(t.c.opts.Timeout)
	defer limit.Stop()
	for {
		t.mu.Lock()
		settled, err, changed := 0, t.err, t.changed
		for _, s := range t.senders {
			if s.settled {
				settled++
			}
		}
		t.mu.Unlock()
		if err != nil {
			return err
		}
		if settled >= want {
			if settled < t.c.opts.Copies-1 {
				t.c.opts.Logger.Warn("received blocks of earlier terms have too few copies for now", "epoch", t.epoch, "copies", 1+settled, "want", t.c.opts.Copies)
			}
			return nil
		}
		select {
		case <-changed:
		case <-limit.C:
			want = 0
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
