package cluster

import (
	"sync"

	"github.com/leat-io/leat/streamingcontext"
)

// A role is what a driver does.
type role string

// The roles, as they are told to people.
const (
	idle       role = "idle"        // Drive was not called, or has returned
	starting   role = "starting"    // the streams are being declared
	standingBy role = "standing by" // they are checked, and another leads, or will
	beginning  role = "beginning"   // it leads, and makes visible what is prepared
	leading    role = "leading"     // it makes batches
)

// state is what a driver does, and for which application.
type state struct {
	mu     sync.Mutex
	role   role
	app    string
	driven bool
}

// begin takes note that Drive was called, and listens to what it does; false if it was before.
func (s *state) begin(opts *streamingcontext.Options) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.driven {
		return false
	}
	if opts.App == "" {
		opts.App = streamingcontext.DefaultApp
	}
	s.driven, s.role, s.app = true, starting, opts.App
	to := opts.DriverListener
	opts.DriverListener.StandingBy = func() {
		s.is(standingBy)
		if to.StandingBy != nil {
			to.StandingBy()
		}
	}
	opts.DriverListener.Leading = func(epoch uint64) {
		s.is(beginning)
		if to.Leading != nil {
			to.Leading(epoch)
		}
	}
	opts.DriverListener.GoingOn = func(ssc *streamingcontext.Context) {
		s.is(leading)
		if to.GoingOn != nil {
			to.GoingOn(ssc)
		}
	}
	opts.DriverListener.StoodDown = func(epoch uint64, reason error) {
		s.is(starting)
		if to.StoodDown != nil {
			to.StoodDown(epoch, reason)
		}
	}
	return true
}

func (s *state) end() { s.is(idle) }

func (s *state) is(r role) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.role = r
}

func (s *state) now() (role, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.role == "" {
		return idle, s.app
	}
	return s.role, s.app
}
