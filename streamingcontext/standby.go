package streamingcontext

import (
	"bytes"
	"context"
	"sync"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// looking is a driver that stands by and looks at what the log says of the application.
type looking struct {
	stop context.CancelFunc
	work sync.WaitGroup

	// These belong to work.
	err     error
	stopped bool
}

// end ends the looks and returns why the driver is not to lead, nil if nothing speaks against it, and whether the application is stopped.
func (l *looking) end() (refused error, stopped bool) {
	l.stop()
	l.work.Wait()
	return l.err, l.stopped
}

// looksRefused is how many looks in a row must find that the program cannot go on with what the log says, or is not to. A node that has
// just come up may know what was long ago.
const looksRefused = 5

// looksUnknown is how many looks may find that the node does not know the application before the driver stands by all the same: a node that has
// just come up knows nothing for a moment.
const looksUnknown = 5

// look looks in every interval whether the program can go on with what the log says of it, and is to. It calls standBy where it can, each time,
// and refuse where not.
func (d *driver) look(ctx context.Context, c *Context, standBy, refuse func()) *looking {
	l := new(looking)
	ctx, l.stop = context.WithCancel(ctx)
	now := programOf(c.graph) // the start works on the graph
	clock, interval := d.opts.Clock, d.opts.Interval.Milliseconds()
	l.work.Go(func() {
		var said []byte
		unknown := 0
		for refused := 0; ; {
			state, err := d.opts.Cluster.State(ctx)
			if err == nil {
				refused++
				app := state.App(d.opts.App)
				if app.Registered {
					var notes []string
					notes, err = c.durable.changed(app, now)
					if len(notes) > 0 && !bytes.Equal(app.Description, said) {
						said = app.Description
						d.opts.Logger.Info("driver stands by with another program than the one that leads, and would go on from it", "app", d.opts.App, "changes", notes)
					}
				}
				// Who leads needs a majority for what it has begun, so the others are there until that is committed.
				switch stopped := app.Status == driverlog.Stopped && len(app.Open) == 0; {
				case err == nil && !stopped:
					refused = 0
					if unknown++; app.Registered || unknown == looksUnknown {
						standBy()
					}
				case refused == looksRefused:
					l.err, l.stopped = err, stopped
					refuse()
					return
				case err == nil:
				case refused == 1:
					d.opts.Logger.Warn("driver could not go on with the application as this node knows it", "app", d.opts.App, "err", err)
				}
			}
			if clock.WaitUntil(ctx, clock.Now()+interval) != nil {
				return
			}
		}
	})
	return l
}
