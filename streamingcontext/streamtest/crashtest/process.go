package crashtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink/sinktest/disk"
	"github.com/leat-io/leat/scheduler/driverlog/memlog"
	"github.com/leat-io/leat/streamingcontext"
)

// A process is one life of the program. Whatever it declares works on the world through step.
type process struct {
	w    *World
	n    int // from 1
	shot shot
	log  *memlog.Log // as the world had it when the process began; so is disk
	disk *disk.Disk

	mu        sync.Mutex // guards the fields below
	end       context.CancelCauseFunc
	dead      bool
	over      bool // it has ended well, and only what it shows is read
	fired     bool // the shot
	counts    map[string]int
	ops       []operation
	recovered int // how many operations there were when all was done that the process before had left
}

// An operation is one that a process has tried.
type operation struct {
	spot
	fault Fault
}

func (o operation) String() string {
	if o.fault == None {
		return o.point
	}
	return fmt.Sprintf("%v: %s", o.fault, o.point)
}

// step is one operation. Its name is a point.
func (p *process) step(point string, effect func() error) error {
	p.mu.Lock()
	if p.over {
		p.mu.Unlock()
		return effect()
	}
	if p.dead {
		p.mu.Unlock()
		return ErrDied
	}
	p.counts[point]++
	at := spot{point, p.counts[point]}
	f := None
	if at == p.shot.spot {
		f, p.fired = p.shot.fault, true
	}
	p.ops = append(p.ops, operation{at, f})
	p.dead = f.dies()
	end := p.end
	p.mu.Unlock()
	switch f {
	case DiesBefore:
		end(ErrDied)
		return ErrDied
	case DiesAfter:
		err := effect()
		end(ErrDied)
		return errors.Join(ErrDied, err)
	case Fails:
		return fmt.Errorf("%s: %w", point, ErrInjected)
	case SeemsToFail:
		return errors.Join(fmt.Errorf("%s: %w", point, ErrInjected), effect())
	}
	return effect()
}

// errHangs says that a process neither went on nor ended.
var errHangs = errors.New("the process does not go on")

// live runs the process from a time until the batches up to another are done, it dies or it ends with an error. It returns the time
// that it came to.
func (p *process) live(ctx context.Context, now, until int64) (int64, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	ctx, cancel := context.WithTimeoutCause(ctx, p.w.program.Timeout, errHangs)
	defer cancel()
	p.mu.Lock()
	p.end = end
	p.mu.Unlock()
	clock := new(streamingcontext.ManualClock)
	clock.Set(now)
	ran := make(chan error, 1)
	go func() { ran <- p.run(ctx, clock, until) }()
	patience := time.NewTimer(2*p.w.program.Timeout + 10*time.Second)
	defer patience.Stop()
	select {
	case err := <-ran:
		if cause := context.Cause(ctx); cause != nil && (err != nil || errors.Is(cause, ErrDied)) {
			err = cause
		}
		return clock.Now(), err
	case <-patience.C: // its goroutines are left behind
		return clock.Now(), fmt.Errorf("%w, nor does it end", errHangs)
	}
}

// run makes the context and batches.
func (p *process) run(ctx context.Context, clock *streamingcontext.ManualClock, until int64) error {
	w := p.w
	opts := w.program.Options
	// Here is the place for the store that checkpoints lie in. Until contexts have one they are in the folder, which loses nothing.
	opts.Clock, opts.Log = clock, worldLog{p.log, p}
	ssc, err := streamingcontext.GetOrCreate(w.dir, opts, func(ssc *streamingcontext.Context) error { return w.program.Setup(ssc, w) })
	if err != nil {
		return err
	}
	err = p.batches(ctx, ssc, clock, until)
	stopped := ssc.Stop(context.WithoutCancel(ctx), streamingcontext.StopOptions{})
	if err == nil {
		err = stopped
	}
	return err
}

func (p *process) batches(ctx context.Context, ssc *streamingcontext.Context, clock *streamingcontext.ManualClock, until int64) error {
	if err := ssc.Start(ctx); err != nil {
		return err
	}
	// Receivers end with the context, which may end while they are waited for.
	fed, stop := context.WithCancel(ctx)
	awaited := make(chan struct{})
	go func() {
		defer close(awaited)
		_ = ssc.Await(fed) // its error is that of ssc.Err
		stop()
	}()
	defer func() { stop(); <-awaited }()
	interval := ssc.Interval().Milliseconds()
	now := clock.Now()
	if err := ssc.Settled(ctx, dstream.Time(now)); err != nil {
		return err
	}
	p.mu.Lock()
	p.recovered = len(p.ops)
	p.mu.Unlock()
	for now < until {
		now += interval - now%interval
		if err := p.w.feed(fed, int(now/interval)); err != nil {
			return errors.Join(err, ssc.Err())
		}
		clock.Set(now)
		if err := ssc.Settled(ctx, dstream.Time(now)); err != nil {
			return err
		}
	}
	return ssc.Err()
}

// recovery returns the operations of the process's recovery.
func (p *process) recovery() []operation {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.recovered == 0 {
		return p.ops
	}
	return p.ops[:p.recovered]
}

// read lets operations pass that only look at what is there, after the process has ended.
func (p *process) read() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
}
