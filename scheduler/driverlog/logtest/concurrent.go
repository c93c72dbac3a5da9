package logtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/leat-io/leat/scheduler/driverlog"
)

func concurrentApps(s *suite) {
	const apps, batches = 8, 20
	var wg sync.WaitGroup
	for i := range apps {
		name := fmt.Sprintf("app-%d", i)
		wg.Go(func() {
			for id := range int64(batches) {
				for _, cmd := range []driverlog.Command{s.begin(name, id, id), s.prepared(name, id, name), s.committed(name, id)} {
					if _, err := s.log.Propose(s.ctx, cmd); err != nil {
						s.Errorf("%s of %s, batch %d: %v", cmd.Kind, name, id, err)
						return
					}
				}
				if state, err := s.log.State(s.ctx); err != nil || state.App(name).Next < id+1 {
					s.Errorf("State does not show batch %d of %s: %v", id, name, err)
				}
			}
		})
	}
	wg.Wait()
	state := s.state()
	if len(state.Apps) != apps {
		s.Fatalf("%d applications, want %d", len(state.Apps), apps)
	}
	for _, a := range state.Apps {
		if a.Next != batches || len(a.Open) != 0 {
			s.Errorf("%s: next %d with %d open, want %d with none", a.Name, a.Next, len(a.Open), batches)
		}
	}
}

func racingProposers(s *suite) {
	const racers, batches = 4, 20
	var begun [batches]atomic.Int32
	var wg sync.WaitGroup
	for range racers {
		wg.Go(func() {
			for id := range int64(batches) {
				_, err := s.log.Propose(s.ctx, s.begin(app, id, id))
				var dense *driverlog.DenseError
				switch {
				case err == nil:
					begun[id].Add(1)
				case !errors.As(err, &dense):
					s.Errorf("begin %d: %v, want success or a DenseError", id, err)
				}
			}
		})
	}
	wg.Wait()
	for id := range begun {
		if n := begun[id].Load(); n != 1 {
			s.Errorf("batch %d was begun %d times", id, n)
		}
	}
}

func contextEnded(s *suite) {
	before := s.digest()
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	if _, err := s.log.Propose(ctx, s.begin(app, 0, 1)); !errors.Is(err, context.Canceled) || driverlog.Refused(err) {
		s.Errorf("Propose = %v, want context.Canceled", err)
	}
	if _, err := s.log.State(ctx); !errors.Is(err, context.Canceled) {
		s.Errorf("State = %v, want context.Canceled", err)
	}
	if _, err := s.log.Lead(ctx); !errors.Is(err, context.Canceled) {
		s.Errorf("Lead = %v, want context.Canceled", err)
	}
	if s.digest() != before {
		s.Error("a command whose context had ended took effect")
	}
	s.ok(s.begin(app, 0, 1))
}

func closing(s *suite) {
	term := s.lead()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for id := range int64(10) {
				_, err := s.log.Propose(s.ctx, s.begin(fmt.Sprint(i), id, id))
				if err != nil && !errors.Is(err, driverlog.ErrClosed) && !errors.Is(err, driverlog.ErrUnknown) {
					s.Errorf("Propose beside Close: %v", err)
				}
				if err != nil {
					return
				}
			}
		})
	}
	for range 2 {
		if err := s.log.Close(); err != nil {
			s.Errorf("Close: %v", err)
		}
	}
	wg.Wait()
	<-term.Lost
	if _, err := s.log.Propose(s.ctx, s.begin(app, 0, 1)); !errors.Is(err, driverlog.ErrClosed) {
		s.Errorf("Propose after Close = %v, want ErrClosed", err)
	}
	if _, err := s.log.State(s.ctx); !errors.Is(err, driverlog.ErrClosed) {
		s.Errorf("State after Close = %v, want ErrClosed", err)
	}
	if _, err := s.log.Lead(s.ctx); !errors.Is(err, driverlog.ErrClosed) {
		s.Errorf("Lead after Close = %v, want ErrClosed", err)
	}
}
