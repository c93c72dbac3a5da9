package objectlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/internal/groupcommit"
)

// apply steps the state through the commands of a group and makes durable what must be.
func (l *Log) apply(ctx context.Context, group []*groupcommit.Call) {
	l.write <- struct{}{}
	defer func() { <-l.write }()
	must, begins := false, !l.tenure
	for _, c := range group {
		if !l.tenure && !c.Lead {
			l.answer(c)
			continue
		}
		l.tenure = true // taken back if another driver turns out to have been faster
		for _, cmd := range c.Commands {
			// Only what takes effect uses an index: a hole is damage.
			res, err := driverlog.Step(&l.contents.state, l.contents.state.Index+1, cmd)
			if err != nil {
				c.Err = err
				break
			}
			c.Results = append(c.Results, res)
			if res.Duplicate {
				continue
			}
			l.pending = appendCommand(l.pending, cmd)
			l.count++
			must = must || cmd.Kind != driverlog.Committed
		}
	}
	if must {
		switch err := l.flush(ctx, begins); {
		case errors.Is(err, errOvertaken):
			l.mu.Lock()
			l.endTerm()
			l.mu.Unlock()
			for _, c := range group {
				c.Results, c.Err = nil, nil
				l.answer(c)
			}
			return
		case err != nil:
			l.fail(err)
			groupcommit.Fail(group, fmt.Errorf("%w: %w", driverlog.ErrUnknown, err))
			return
		}
	}
	l.startTerms(group)
}

// startTerms begins and ends terms as the LeaderStarts of a group say.
func (l *Log) startTerms(group []*groupcommit.Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	groupcommit.Starts(group, func(c *groupcommit.Call, epoch uint64) {
		l.endTerm()
		if c.Lead {
			l.lost = make(chan struct{})
			l.term = driverlog.Term{Epoch: epoch, Lost: l.lost}
			l.epoch = epoch
			c.Term = l.term
		}
	})
}

// answer gives the commands of c the answers that need no entry: what was decided before, and refusals. A log that does not lead
// has no others to give.
func (l *Log) answer(c *groupcommit.Call) {
	for _, cmd := range c.Commands {
		if cmd.Kind == driverlog.LeaderStart || cmd.Epoch == l.contents.state.Epoch {
			c.Results, c.Err = nil, driverlog.ErrNotLeader
			return
		}
		// With another epoch no command takes effect.
		res, err := driverlog.Step(&l.contents.state, l.contents.state.Index+1, cmd)
		if err != nil {
			c.Err = err
			return
		}
		c.Results = append(c.Results, res)
	}
}

// fail notes the error that ends the log: nobody knows what is in the store, so nothing can follow it.
func (l *Log) fail(err error) {
	l.logger.Error("driver log given up", "store", l.store.String(), "error", err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = err
	l.endTerm()
}
