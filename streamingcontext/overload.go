package streamingcontext

import (
	"fmt"
	"sync"
	"time"

	"github.com/leat-io/leat/dstream"
)

// An OverloadPhase says where an overload is in its life.
type OverloadPhase int

// The phases, in the order in which they are told.
const (
	OverloadBegun OverloadPhase = iota // a batch is more than an interval late
	OverloadGrown                      // the delay has doubled since it was last told
	OverloadOver                       // a batch started at most an interval late
)

// String returns the phase's name.
func (p OverloadPhase) String() string {
	switch p {
	case OverloadBegun:
		return "begun"
	case OverloadGrown:
		return "grown"
	case OverloadOver:
		return "over"
	}
	return fmt.Sprintf("phase %d", int(p))
}

// OverloadInfo says that batches take longer than the interval between them, or no longer do. A context whose
// batches are late holds more and more received records, and its results come later and later.
type OverloadInfo struct {
	Phase OverloadPhase
	// Batch is the batch whose turn comes late, and SchedulingDelay how long it has waited for it so far.
	Batch           dstream.Time
	SchedulingDelay time.Duration
	// Waiting is how many batches were made and have not started, Batch included while it has not.
	Waiting int
	// Interval is the time there is for the batch: a batch interval, or as many as it covers.
	Interval time.Duration
	// Held is how many items, as files, inputs have left for later batches because of a limit or a rate, and HeldBytes how large
	// they are together, both when the newest batch was made.
	Held, HeldBytes int64
	// Completed is the batch that ended last, 0 if none has yet. ProcessingTime is what its jobs took, by the
	// context's clock, and Stage the one of its stages that took the most.
	Completed      dstream.Time
	ProcessingTime time.Duration
	Stage          StageTime
}

// String returns the info in words.
func (o OverloadInfo) String() string {
	s := fmt.Sprintf("overload %v: batch %s has a scheduling delay of %v, %d wait", o.Phase, o.Batch, o.SchedulingDelay, o.Waiting)
	if o.Completed != 0 {
		s += fmt.Sprintf("; batch %s took %v of an interval of %v", o.Completed, o.ProcessingTime, o.Interval)
	}
	if o.Held > 0 {
		s += fmt.Sprintf("; inputs hold %d items of %d bytes for later", o.Held, o.HeldBytes)
	}
	if o.Stage.Op != "" {
		s += fmt.Sprintf(", %.0f %% of it %s at %s", 100*o.Stage.Share, o.Stage.Op, o.Stage.Site)
	}
	return s
}

// overload watches how late batches are and tells when that is more than an interval.
type overload struct {
	r *running

	mu   sync.Mutex // guards the fields below
	last OverloadInfo
	late bool
	next time.Duration // the delay at which it is told again
}

// ticked looks at the batches that wait: one that holds up all others is told of before it ends.
func (o *overload) ticked() {
	n, oldest := o.r.ledger.waiting()
	if oldest != nil {
		o.observe(oldest, n, false)
	}
}

// started looks at a batch whose turn has come.
func (o *overload) started(b *batch) {
	o.r.c.engine.stages.open(b.time)
	n, _ := o.r.ledger.waiting()
	o.observe(b, n, true)
}

// made takes note of what inputs have left for later.
func (o *overload) made(infos []dstream.InputInfo) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last.Held, o.last.HeldBytes = BatchInfo{Inputs: infos}.Waiting()
}

// completed takes note of what a batch took.
func (o *overload) completed(b *batch) {
	now := o.r.c.opts.Clock.Now()
	b.mu.Lock()
	processing, all := time.Duration(now-b.started)*time.Millisecond, time.Since(b.began)
	b.mu.Unlock()
	stage := o.r.c.engine.stages.take(b.time, all)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last.Completed, o.last.ProcessingTime, o.last.Stage = b.time, processing, stage
}

func (o *overload) observe(b *batch, waiting int, started bool) {
	c := o.r.c
	delay, interval := b.delay(c.opts.Clock.Now()), b.span(c)
	o.mu.Lock()
	defer o.mu.Unlock()
	info := o.last
	info.Batch, info.SchedulingDelay, info.Waiting, info.Interval = b.time, delay, waiting, interval
	switch {
	case !o.late && delay > interval:
		o.late, o.next = true, 2*delay
	case o.late && delay >= o.next:
		o.next = 2 * delay
		info.Phase = OverloadGrown
	case o.late && started && delay <= interval:
		o.late = false
		info.Phase = OverloadOver
	default:
		return
	}
	o.tell(info)
}

// tell logs and posts the info. mu is held, which keeps the order.
func (o *overload) tell(info OverloadInfo) {
	c := o.r.c
	c.opts.Logger.Warn("streaming context "+info.String(), "batch", int64(info.Batch), "scheduling delay", info.SchedulingDelay,
		"waiting", info.Waiting, "stage", info.Stage.Op, "site", info.Stage.Site)
	c.bus.post(func(l *Listener) {
		if l.Overloaded != nil {
			l.Overloaded(info)
		}
	})
}
