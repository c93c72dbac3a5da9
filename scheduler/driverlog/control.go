package driverlog

import (
	"context"
	"errors"
	"fmt"
)

// A Status is what operators want of an application.
type Status uint8

// The statuses.
const (
	Running Status = iota // batches are made
	Paused                // no batch is begun; those that are under way go on
	Stopped               // its drivers end, in an orderly way
)

// String returns the status in a word.
func (s Status) String() string {
	switch s {
	case Running:
		return "running"
	case Paused:
		return "paused"
	case Stopped:
		return "stopped"
	}
	return fmt.Sprintf("status %d", uint8(s))
}

// A StatusError says that an application cannot have a status: only one that is registered has any.
type StatusError struct {
	App    string
	Status Status
}

// Error returns the application and the status.
func (e *StatusError) Error() string {
	return fmt.Sprintf("application %s: it is not registered, so it cannot be %s", e.App, e.Status)
}

func (*StatusError) refused() {}

// control sets the status of an application, which may be any after any other.
func control(state *State, index uint64, cmd Command) (Result, error) {
	i, known := state.find(cmd.App)
	if !known || !state.Apps[i].Registered {
		return Result{}, &StatusError{App: cmd.App, Status: cmd.Status}
	}
	if state.Apps[i].Status == cmd.Status {
		return Result{Epoch: cmd.Epoch, Duplicate: true}, nil
	}
	state.Apps[i].Status = cmd.Status
	return Result{Index: index, Epoch: cmd.Epoch}, nil
}

// controlTries is how many terms Control follows one after the other.
const controlTries = 5

// SetStatus sets the status of an application through a log whose node leads, whatever term that is in; the term goes on. Setting what is set
// already does nothing.
//
// Errors: ErrNotLeader on another node; *StatusError where the application is not registered; as Log.Propose.
func SetStatus(ctx context.Context, log Log, app string, status Status) error {
	for try := 1; ; try++ {
		state, err := log.State(ctx)
		if err == nil && state.Epoch == 0 {
			err = ErrNotLeader // nobody has led yet
		}
		if err == nil {
			_, err = log.Propose(ctx, Command{Kind: Control, Epoch: state.Epoch, App: app, Status: status})
		}
		if _, fenced := errors.AsType[*FencedError](err); fenced && try < controlTries {
			continue // a term has begun in between
		}
		if err != nil {
			return fmt.Errorf("set application %s %s: %w", app, status, err)
		}
		return nil
	}
}
