package crashtest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/memlog"
)

// worldLog is the driver log as a process sees it. A process is not told that another one leads, it only finds out.
type worldLog struct {
	*memlog.Log
	p *process
}

func (l worldLog) Propose(ctx context.Context, cmd driverlog.Command) (driverlog.Result, error) {
	all, err := l.propose(ctx, []driverlog.Command{cmd}, func() ([]driverlog.Result, error) {
		res, err := l.Log.Propose(ctx, cmd)
		return []driverlog.Result{res}, err
	})
	if len(all) == 0 {
		return driverlog.Result{}, err
	}
	return all[0], err
}

func (l worldLog) ProposeAll(ctx context.Context, cmds []driverlog.Command) ([]driverlog.Result, error) {
	return l.propose(ctx, cmds, func() ([]driverlog.Result, error) { return l.Log.ProposeAll(ctx, cmds) })
}

// propose is one operation, of one command or several.
func (l worldLog) propose(ctx context.Context, cmds []driverlog.Command, effect func() ([]driverlog.Result, error)) (all []driverlog.Result, refused error) {
	var kinds []string
	for _, cmd := range cmds {
		kinds = append(kinds, cmd.Kind.String())
	}
	failed := l.p.step("log "+strings.Join(kinds, ", "), func() error {
		before, err := l.Log.State(ctx)
		if err != nil {
			refused = err
			return nil
		}
		all, refused = effect()
		l.p.w.decided(l.Log, before, cmds[:min(len(all), len(cmds))], refused)
		return nil
	})
	if failed != nil {
		return nil, fmt.Errorf("%w: %w", driverlog.ErrUnknown, failed)
	}
	return all, refused
}

func (l worldLog) State(ctx context.Context) (state driverlog.State, err error) {
	failed := l.p.step("log state", func() error {
		state, err = l.Log.State(ctx)
		return nil
	})
	return state, errors.Join(failed, err)
}

func (l worldLog) Lead(ctx context.Context) (term driverlog.Term, err error) {
	failed := l.p.step("log lead", func() error {
		l.Log.StepDown()
		if term, err = l.Log.Lead(ctx); err == nil {
			l.p.w.led()
		}
		return nil
	})
	if failed != nil {
		return driverlog.Term{}, failed
	}
	term.Lost = make(chan struct{})
	return term, err
}

// Close leaves the log to the next process.
func (l worldLog) Close() error { return nil }

// decided takes note of commands that have taken effect.
func (w *World) decided(log *memlog.Log, before driverlog.State, cmds []driverlog.Command, refused error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if log != w.log || refused != nil {
		return
	}
	interval := w.program.Options.Interval.Milliseconds()
	for _, cmd := range cmds {
		if cmd.Kind != driverlog.Begin {
			continue
		}
		id := int64(len(w.begun))
		if cmd.Batch < id { // begun before: a duplicate
			continue
		}
		w.begun = append(w.begun, cmd.Time)
		want := (id + 1) * interval
		if cmd.Batch != id || w.program.dense() && cmd.Time != want {
			w.breachHeld(NoneSkipped, "batch id %d is begun with id %d and time %d ms; want time %d ms", id, cmd.Batch, cmd.Time, want)
		}
	}
	// Those that were answered last may still get lost, if they are nothing but Committed.
	if len(cmds) == 1 && cmds[0].Kind == driverlog.Committed {
		if w.undo == nil {
			w.undo = before.Append(nil)
		}
		return
	}
	w.undo = nil
}

// led says that a term has begun: what was answered before is durable.
func (w *World) led() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.undo = nil
}
