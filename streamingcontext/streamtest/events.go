package streamtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/streamingcontext"
)

// An Event is something that a listener of the context was told. Its text is one of
//
//	streaming started
//	receiver 0 started
//	receiver 0 reported: <error>
//	receiver 0 stopped
//	batch 2 submitted
//	batch 2 started
//	batch 2 output 0 started
//	batch 2 output 0 completed
//	batch 2 output 0 failed
//	batch 2 completed
//	batch 2 failed
//	batch 2 set aside
//	overload begun
//
// where batches are counted from 1, and receivers and outputs from 0 in the order declared. A batch has failed if
// one of its outputs has.
type Event struct {
	Text string
	// Batch is the number of the batch it is about, 0 where it is about none.
	Batch int
	// Err is why something failed, if it did.
	Err error
}

// String returns the text.
func (e Event) String() string { return e.Text }

// events collects what the listener of a kit is told.
type events struct {
	interval int64 // ms

	mu      sync.Mutex // guards the fields below
	all     []Event
	taken   int           // by Step and AwaitEvent
	changed chan struct{} // closed by the next event; nil while nobody waits
}

func newEvents(interval time.Duration) *events { return &events{interval: interval.Milliseconds()} }

func (e *events) add(batch dstream.Time, err error, format string, args ...any) {
	event := Event{Text: fmt.Sprintf(format, args...), Err: err}
	if batch > 0 {
		event.Batch = int(int64(batch) / e.interval)
		event.Text = fmt.Sprintf("batch %d %s", event.Batch, event.Text)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, event)
	if e.changed != nil {
		close(e.changed)
		e.changed = nil
	}
}

func (e *events) listener() streamingcontext.Listener {
	type info = streamingcontext.ReceiverInfo
	return streamingcontext.Listener{
		StreamingStarted: func(int64) { e.add(0, nil, "streaming started") },
		ReceiverStarted:  func(r info) { e.add(0, nil, "receiver %d started", r.Stream) },
		ReceiverError:    func(r info) { e.add(0, r.LastError, "receiver %d reported: %v", r.Stream, r.LastError) },
		ReceiverStopped:  func(r info) { e.add(0, nil, "receiver %d stopped", r.Stream) },
		BatchSubmitted:   func(b streamingcontext.BatchInfo) { e.add(b.Time, nil, "submitted") },
		BatchStarted:     func(b streamingcontext.BatchInfo) { e.add(b.Time, nil, "started") },
		BatchCompleted: func(b streamingcontext.BatchInfo) {
			for _, o := range b.Outputs {
				if o.Err != nil {
					e.add(b.Time, o.Err, "failed")
					return
				}
			}
			e.add(b.Time, nil, "completed")
		},
		BatchSetAside: func(b streamingcontext.SetAsideBatch) { e.add(b.Time, b.Err, "set aside") },
		OutputStarted: func(o streamingcontext.OutputInfo) { e.add(o.Batch, nil, "output %d started", o.ID) },
		OutputCompleted: func(o streamingcontext.OutputInfo) {
			if o.Err != nil {
				e.add(o.Batch, o.Err, "output %d failed", o.ID)
				return
			}
			e.add(o.Batch, nil, "output %d completed", o.ID)
		},
		Overloaded: func(o streamingcontext.OverloadInfo) { e.add(0, nil, "overload %v", o.Phase) },
	}
}

// take returns the next event that was not taken and matches, and takes those before it as well. If there is
// none, it returns a channel that the next event closes.
func (e *events) take(match func(Event) bool) (Event, <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := e.taken; i < len(e.all); i++ {
		if match(e.all[i]) {
			e.taken = i + 1
			return e.all[i], nil
		}
	}
	if e.changed == nil {
		e.changed = make(chan struct{})
	}
	return Event{}, e.changed
}

func (e *events) texts() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make([]string, len(e.all))
	for i, event := range e.all {
		out[i] = event.Text
	}
	return out
}

// Events returns what has happened so far, in order. The test fails where a listener has not been told of it all after
// Options.Timeout.
func (k *Kit) Events() []Event {
	k.t.Helper()
	if k.started {
		ctx, cancel := context.WithTimeout(context.Background(), k.opts.Timeout)
		defer cancel()
		if err := k.ssc.AwaitListeners(ctx); err != nil {
			k.t.Errorf("events: %v", err)
		}
	}
	k.events.mu.Lock()
	defer k.events.mu.Unlock()
	return slices.Clone(k.events.all)
}

// AwaitEvent waits for the next event that matches, behind those that it and Step have returned, and returns it. The
// clock stands still meanwhile: Tick moves it. The test fails after Options.Timeout.
func (k *Kit) AwaitEvent(match func(Event) bool) Event {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), k.opts.Timeout)
	defer cancel()
	for {
		e, changed := k.events.take(match)
		if changed == nil {
			return e
		}
		select {
		case <-changed:
		case <-ctx.Done():
			k.t.Fatalf("no such event in %v; so far %q", k.opts.Timeout, k.events.texts())
			return Event{}
		}
	}
}

// AwaitText waits for the next event with this text, as AwaitEvent.
func (k *Kit) AwaitText(text string) Event {
	k.t.Helper()
	return k.AwaitEvent(func(e Event) bool { return e.Text == text })
}

// stepTicks is how many batches Step makes at most: those without jobs have no events.
const stepTicks = 1000

// Step returns the next event, behind those that it and AwaitEvent have returned. Once all batches are settled and
// nothing is left to tell, it makes the next batch. The test fails after Options.Timeout, and where the context has
// ended.
func (k *Kit) Step() Event {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), k.opts.Timeout)
	defer cancel()
	for ticks := 0; ; {
		// Whether the context is idle is asked before the look: what comes afterwards was told by then.
		idle, err := k.idle(ctx)
		e, changed := k.events.take(func(Event) bool { return true })
		switch {
		case changed == nil:
			return e
		case err == nil && idle:
			if ticks++; ticks > stepTicks {
				err = fmt.Errorf("%d batches had none", stepTicks)
				break
			}
			err = k.tick(ctx)
		case err == nil:
			k.eventOrSettled(ctx, changed)
		}
		if err != nil {
			k.t.Fatalf("no event behind %q: %v", k.events.texts(), err)
			return Event{}
		}
	}
}

// eventOrSettled waits until changed is closed or all batches are settled, as one without jobs is without an event.
func (k *Kit) eventOrSettled(ctx context.Context, changed <-chan struct{}) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = k.ssc.Settled(ctx, k.Now()) // idle sees its error
	}()
	select {
	case <-changed:
	case <-done:
	}
	cancel()
	<-done
}

// idle reports whether all batches are settled and listeners know of it.
func (k *Kit) idle(ctx context.Context) (bool, error) {
	if !k.started {
		return true, nil
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	switch err := k.ssc.Settled(ended, k.Now()); {
	case errors.Is(err, context.Canceled):
		return false, nil
	case err != nil:
		return false, err
	}
	return true, k.ssc.AwaitListeners(ctx)
}

// AssertEvents fails the test unless the events about batches, so far, are these. The others can be looked up with
// Events.
func (k *Kit) AssertEvents(want ...string) {
	k.t.Helper()
	var got []string
	for _, e := range k.Events() {
		if e.Batch > 0 {
			got = append(got, e.Text)
		}
	}
	if diff := cmp.Diff(got, want); diff != "" {
		k.t.Errorf("events of batches (-got +want):\n%s", diff)
	}
}

// AssertOrder fails the test unless events with these texts have happened in this order, with any others before,
// between and behind them.
func (k *Kit) AssertOrder(want ...string) {
	k.t.Helper()
	_ = k.Events() // waits
	got := k.events.texts()
	at := 0
	for _, text := range want {
		i := slices.Index(got[at:], text)
		if i < 0 {
			k.t.Errorf("no %q behind the first %d of the events %q", text, at, got)
			return
		}
		at += i + 1
	}
}
