package streamingcontext

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler/driverlog"
)

// wanted is what operators want of an application, as a driver that leads has found it in the log; see driverlog.SetStatus.
type wanted struct {
	told chan struct{} // closed when the driver's listener knows that the context goes on
	idle atomic.Bool   // no batches are made, for the application is paused
	end  func()        // closes stopped
	// stopped is closed when the application is to stop.
	stopped chan struct{}
}

func newWanted() *wanted {
	w := &wanted{told: make(chan struct{}), stopped: make(chan struct{})}
	w.end = sync.OnceFunc(func() { close(w.stopped) })
	return w
}

// awaitRunning waits until the application is not paused, asking the log at every interval. It returns false when the context ends meanwhile.
//
// It is asked before each batch, and so nothing is begun once a pause is accepted and the batch under way is planned. A driver that leads
// has the state at hand, so this is a copy of it a batch, and no way is needed to be told of a change that any log would have to offer.
func (l *batchLoop) awaitRunning(ctx context.Context) bool {
	c := l.r.c
	if c.tenure == nil {
		return true
	}
	w := c.tenure.wanted
	for {
		if l.r.ending.Load() { // the last batches have what was received
			return !w.idle.Load()
		}
		app, err := l.r.ledger.state(ctx)
		if err != nil {
			return l.stopWith(ctx, err)
		}
		if app.Status != driverlog.Paused {
			if app.Status == driverlog.Stopped {
				w.end()
			}
			if w.idle.CompareAndSwap(true, false) {
				l.r.missed = dstream.Time(c.opts.Clock.Now())
				l.tell(ctx, c.opts.DriverListener.Resumed)
			}
			return true
		}
		if w.idle.CompareAndSwap(false, true) {
			c.opts.Logger.Info("application is paused", "app", c.opts.App)
			l.tell(ctx, c.opts.DriverListener.Paused)
		}
		if c.opts.Clock.WaitUntil(ctx, c.opts.Clock.Now()+c.Interval().Milliseconds()) != nil {
			return false
		}
	}
}

// tell calls a function of the driver's listener, behind GoingOn.
func (l *batchLoop) tell(ctx context.Context, f func()) {
	if f == nil {
		return
	}
	select {
	case <-l.r.c.tenure.wanted.told:
		f()
	case <-ctx.Done():
	}
}

// stoppedFirst reports whether the application was to stop before the term had a batch of its own. What earlier terms have begun is finished
// all the same.
func (l *batchLoop) stoppedFirst() bool {
	if l.r.c.tenure == nil {
		return false
	}
	select {
	case <-l.r.c.tenure.wanted.stopped:
		return true
	default:
		return false
	}
}
