package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// resumePause is how long a node waits for another to lead, and to let the application go on, before it looks again.
const resumePause = 50 * time.Millisecond

// resume lets an application go on that was stopped, and returns when this node has heard of it. Whoever leads does it: that may be another driver
// that is started with the same option. from is the last entry that the node had when it was opened: before it has a leader, and has applied
// that, it does not know that the application was stopped.
func (n *Node) resume(ctx context.Context, app string, from uint64) error {
	for {
		s := n.log.Status()
		known := s.Leader.ID != "" && s.Lag == 0 && s.Committed >= min(from, s.Last)
		state, err := n.log.State(ctx)
		switch {
		case err != nil:
			return err
		case !known:
		case state.App(app).Status != driverlog.Stopped:
			return nil
		default:
			err := driverlog.SetStatus(ctx, n.log, app, driverlog.Running)
			if err == nil {
				n.opts.Logger.Info("application is resumed", "app", app)
			} else if !errors.Is(err, driverlog.ErrNotLeader) && !errors.Is(err, driverlog.ErrUnknown) {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(resumePause):
		}
	}
}
