package logtest

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/leat-io/leat/scheduler/driverlog"
)

func together(s *suite) {
	results := s.all(s.application(app, 0, ""), s.begin(app, 0, 0), s.prepared(app, 0, "m"), s.committed(app, 0),
		s.begin(app, 1, 1))
	for i := 1; i < len(results); i++ {
		if results[i].Index != results[i-1].Index+1 {
			s.Errorf("indexes %d and %d do not follow each other", results[i-1].Index, results[i].Index)
		}
	}
	state := s.state()
	if a := state.App(app); a.Next != 2 || a.Oldest() != 1 || a.Last.Begun != results[1].Index || a.Last.Committed != results[3].Index {
		s.Errorf("application %+v after two batches begun and one committed", a)
	}
	again := s.all(s.prepared(app, 0, "m"), s.committed(app, 0))
	if !again[0].Duplicate || !again[1].Duplicate {
		s.Errorf("the same again = %+v, want duplicates", again)
	}
	if results, err := s.log.ProposeAll(s.ctx, nil); err != nil || len(results) != 0 {
		s.Errorf("ProposeAll of nothing = %v, %v", results, err)
	}
}

func togetherRefused(s *suite) {
	cmds := []driverlog.Command{s.begin(app, 0, 0), s.begin(app, 1, 1), s.prepared(app, 1, "m"), s.begin(app, 2, 2)}
	results, err := s.log.ProposeAll(s.ctx, cmds)
	var order *driverlog.OrderError
	if !errors.As(err, &order) || !driverlog.Refused(err) || len(results) != 2 {
		s.Fatalf("ProposeAll = %v, %v; want two results and an OrderError", results, err)
	}
	state := s.state()
	if a := state.App(app); a.Next != 2 || a.Open[0].Prepared != 0 || a.Open[1].Begun != results[1].Index {
		s.Errorf("application %+v, want two batches begun and nothing else", a)
	}
	s.ok(s.begin(app, 2, 2))
}

func togetherRacing(s *suite) {
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			name := fmt.Sprint(i)
			for id := range int64(10) {
				results, err := s.log.ProposeAll(s.ctx, []driverlog.Command{s.begin(name, id, id), s.prepared(name, id, "m"), s.committed(name, id)})
				if err != nil || len(results) != 3 || results[1].Index != results[0].Index+1 || results[2].Index != results[0].Index+2 {
					s.Errorf("ProposeAll = %v, %v; want three consecutive indexes", results, err)
					return
				}
			}
		})
	}
	wg.Wait()
	state := s.state()
	for _, a := range state.Apps {
		if a.Next != 10 || len(a.Open) != 0 {
			s.Errorf("%s: next %d with %d open, want 10 with none", a.Name, a.Next, len(a.Open))
		}
	}
}

func togetherEnded(s *suite) {
	before := s.digest()
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	if results, err := s.log.ProposeAll(ctx, []driverlog.Command{s.begin(app, 0, 1)}); !errors.Is(err, context.Canceled) || results != nil {
		s.Errorf("ProposeAll = %v, %v; want context.Canceled", results, err)
	}
	if s.digest() != before {
		s.Error("a command whose context had ended took effect")
	}
	if err := s.log.Close(); err != nil {
		s.Errorf("Close: %v", err)
	}
	if results, err := s.log.ProposeAll(s.ctx, []driverlog.Command{s.begin(app, 0, 1)}); !errors.Is(err, driverlog.ErrClosed) || results != nil {
		s.Errorf("ProposeAll after Close = %v, %v; want ErrClosed", results, err)
	}
}
