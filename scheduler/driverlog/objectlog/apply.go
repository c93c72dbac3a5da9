package objectlog

import (
	"context"
	"errors"
	"fmt"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// apply steps the state through the commands of a group and makes durable what must be, with l.write taken.
func (l *Log) apply(ctx context.Context, group []*call) {
	must, begins := false, !l.tenure
	for _, c := range group {
		if !l.tenure && !c.lead {
			l.answer(c)
			continue
		}
		l.tenure = true // taken back if another driver turns out to have been faster
		for _, cmd := range c.cmds {
			// Only what takes effect uses an index: a hole is damage.
			res, err := driverlog.Step(&l.contents.state, l.contents.state.Index+1, cmd)
			if err != nil {
				c.err = err
				break
			}
			c.results = append(c.results, res)
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
				c.results, c.err = nil, nil
				l.answer(c)
			}
			return
		case err != nil:
			l.fail(err)
			for _, c := range group {
				c.results, c.err = nil, fmt.Errorf("%w: %w", driverlog.ErrUnknown, err)
			}
			return
		}
	}
	l.startTerms(group)
}

// startTerms begins and ends terms as the LeaderStarts of a group say.
func (l *Log) startTerms(group []*call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range group {
		for i, res := range c.results {
			if c.cmds[i].Kind != driverlog.LeaderStart || res.Duplicate {
				continue
			}
			l.endTerm()
			if c.lead {
				l.lost = make(chan struct{})
				l.term = driverlog.Term{Epoch: res.Epoch, Lost: l.lost}
				l.epoch = res.Epoch
				c.term = l.term
			}
		}
	}
}

// answer gives the commands of c the answers that need no entry: what was decided before, and refusals. A log that does not lead
// has no others to give.
func (l *Log) answer(c *call) {
	for _, cmd := range c.cmds {
		if cmd.Kind == driverlog.LeaderStart || cmd.Epoch == l.contents.state.Epoch {
			c.results, c.err = nil, driverlog.ErrNotLeader
			return
		}
		// With another epoch no command takes effect.
		res, err := driverlog.Step(&l.contents.state, l.contents.state.Index+1, cmd)
		if err != nil {
			c.err = err
			return
		}
		c.results = append(c.results, res)
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
