package blockcopies

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// A sender brings another driver what it lacks: earlier logs first, then this term's, whose records follow as they become durable. It counts as one that
// has a record when it has all before it.
type sender struct {
	Member
	cancel context.CancelFunc
	wake   chan struct{} // has one when there may be something to send

	// Guarded by term.mu.
	kept      receivedlog.Address // behind what it has of this term's log without a gap, its epoch zero
	settled   bool                // it has all of the earlier logs
	connected bool
	tries     int // since it was connected
	err       error
	behind    int64 // bytes that it lacks
}

// nudge never blocks.
func (s *sender) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// watch keeps a sender for each other member.
func (t *term) watch(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			t.members(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// members begins and ends senders as members come and go. A member whose address has changed is another.
func (t *term) members(ctx context.Context) {
	now := t.c.others()
	t.mu.Lock()
	defer t.mu.Unlock()
	had := t.senders
	t.senders = slices.DeleteFunc(slices.Clone(had), func(s *sender) bool {
		if slices.Contains(now, s.Member) {
			return false
		}
		s.cancel()
		return true
	})
	for _, m := range now {
		if slices.ContainsFunc(t.senders, func(s *sender) bool { return s.Member == m }) || t.closed {
			continue
		}
		ctx, cancel := context.WithCancel(ctx)
		s := &sender{Member: m, cancel: cancel, wake: make(chan struct{}, 1)}
		t.senders = append(t.senders, s)
		t.work.Go(func() {
			defer cancel()
			t.send(ctx, s)
		})
	}
	if !slices.Equal(had, t.senders) {
		t.notify()
	}
}

// send keeps a driver supplied until ctx ends or it refuses this one.
func (t *term) send(ctx context.Context, s *sender) {
	wait := t.c.opts.Retry
	for ctx.Err() == nil {
		f, err := t.c.follow(ctx, s.Member, t.epoch)
		if err == nil {
			wait = t.c.opts.Retry
			err = t.supply(ctx, s, f)
			f.close()
		}
		t.mu.Lock()
		s.connected, s.err = false, err
		s.tries++
		once := s.tries == 1
		t.notify()
		t.mu.Unlock()
		if _, fenced := errors.AsType[*FencedError](err); fenced {
			t.fail(err)
			return
		}
		if ctx.Err() != nil {
			return
		}
		level := slog.LevelDebug
		if once {
			level = slog.LevelWarn
		}
		t.c.opts.Logger.Log(ctx, level, "copies of received blocks are not sent", "driver", s.ID, "epoch", t.epoch, "err", err)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		wait = min(2*wait, 8*t.c.opts.Retry)
	}
}

// supply sends what a driver lacks over one connection, and what there is to clean.
func (t *term) supply(ctx context.Context, s *sender, f *follower) error {
	var cleaned receivedlog.Address
	ping := time.NewTicker(t.c.opts.Timeout / 3)
	defer ping.Stop()
	for {
		have := t.c.store.holdings()
		todo, behind := lacks(have, f.has)
		t.mu.Lock()
		lowest := t.lowest
		s.connected, s.err, s.tries, s.behind = true, nil, 0, behind
		s.settled = len(todo) == 0 || todo[0].epoch == t.epoch
		s.kept = reached(have, todo, t.epoch)
		t.notify()
		t.mu.Unlock()
		if cleaned.Compare(lowest) < 0 {
			if err := f.clean(ctx, lowest); err != nil {
				return err
			}
			cleaned = lowest
			f.has = slices.DeleteFunc(f.has, func(h holding) bool { return h.before(place{lowest.Epoch, lowest.Segment}) })
			continue
		}
		if len(todo) > 0 {
			if err := t.sendPiece(ctx, f, todo[0]); err != nil {
				return err
			}
			continue
		}
		select {
		case <-s.wake:
		case <-ping.C:
			if err := f.ping(ctx); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// lacks returns what has is short of, in order, and how many bytes that is.
func lacks(have, has []holding) (todo []holding, behind int64) {
	for _, h := range have {
		rest := h.parts.without(partsOf(has, h.place))
		for _, p := range rest {
			behind += p.To - p.From
		}
		if len(rest) > 0 {
			todo = append(todo, holding{h.place, rest})
		}
	}
	return todo, behind
}

// reached returns behind what of an epoch's log nothing is lacking.
func reached(have, todo []holding, epoch uint64) (at receivedlog.Address) {
	for _, h := range have {
		if h.epoch != epoch {
			continue
		}
		if rest := partsOf(todo, h.place); len(rest) > 0 {
			return receivedlog.Address{Segment: h.segment, Offset: rest[0].From}
		}
		at = receivedlog.Address{Segment: h.segment, Offset: h.parts.end()}
	}
	return at
}

// sendPiece sends the beginning of what is lacking of a segment.
func (t *term) sendPiece(ctx context.Context, f *follower, h holding) error {
	part := h.parts[0]
	data, err := t.c.store.piece(h.place, part)
	if err != nil {
		return err
	}
	if len(data) > 0 {
		return f.send(ctx, h.place, part.From, data)
	}
	whole, err := t.c.store.again(h.place)
	if err != nil {
		return err
	}
	damage := coverage{part}.without(whole)
	if len(damage) == 0 {
		return &FrameError{fmt.Sprintf("driver %s has a part of a record at byte %d of segment %d of epoch %d", f.ID, part.From, h.segment, h.epoch)}
	}
	lost := &receivedlog.DamageError{File: t.c.store.path(h.place), Offset: damage[0].From, Length: damage[0].To - damage[0].From, Reason: "damaged record"}
	t.c.opts.Logger.Warn("received blocks are damaged here", "epoch", h.epoch, "err", lost)
	t.mu.Lock()
	fatal := h.epoch == t.epoch && t.kept.Compare(receivedlog.Address{Segment: h.segment, Offset: damage.end()}) < 0
	t.mu.Unlock()
	if fatal { // it may be one that waits for copies
		t.fail(lost)
		return lost
	}
	return nil
}
