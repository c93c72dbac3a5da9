package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

// timed is the replicated log as a driver has it: what it proposes is timed.
type timed struct {
	*raftlog.Log
	told *told
}

// Propose is raftlog.Log.Propose.
func (t timed) Propose(ctx context.Context, cmd driverlog.Command) (driverlog.Result, error) {
	begin := time.Now()
	result, err := t.Log.Propose(ctx, cmd)
	t.told.proposed(time.Since(begin), err)
	return result, err
}

// ProposeAll is raftlog.Log.ProposeAll. It counts as one.
func (t timed) ProposeAll(ctx context.Context, cmds []driverlog.Command) ([]driverlog.Result, error) {
	begin := time.Now()
	results, err := t.Log.ProposeAll(ctx, cmds)
	t.told.proposed(time.Since(begin), err)
	return results, err
}

// proposed takes note of a proposal. One that the state refused was decided all the same.
func (t *told) proposed(took time.Duration, err error) {
	switch {
	case err == nil || driverlog.Refused(err):
		t.commits.Observe(took)
	case errors.Is(err, driverlog.ErrUnknown):
		t.undecided.Add(1)
	}
}
