package groupcommit

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// A log writes groups when it is let, and answers each command with how many there were before.
type log struct {
	mu      sync.Mutex
	refused error
	failed  error
	let     chan struct{}
	groups  [][]string // the names of the commands
	index   uint64
	queue   *Queue
}

func newLog(limit int) *log {
	l := &log{let: make(chan struct{})}
	l.queue = New(&l.mu, Options{
		Limit: limit, Size: func(cmd *driverlog.Command) int { return len(cmd.App) },
		Refusal: func() error { return l.refused }, Failed: func() error { return l.failed },
		Write: func(_ context.Context, group []*Call) {
			<-l.let
			var names []string
			for _, c := range group {
				for _, cmd := range c.Commands {
					names = append(names, cmd.App)
					l.index++
					c.Results = append(c.Results, driverlog.Result{Index: l.index})
				}
			}
			l.groups = append(l.groups, names)
		},
	})
	return l
}

func named(app string) driverlog.Command { return driverlog.Command{Kind: driverlog.Begin, App: app} }

// propose starts calls that come one after the other.
func (l *log) propose(t *testing.T, wait *sync.WaitGroup, apps ...string) {
	for _, app := range apps {
		wait.Go(func() {
			if _, err := l.queue.Propose(t.Context(), named(app)); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
	}
}

// finish lets all groups be written.
func (l *log) finish(t *testing.T, wait *sync.WaitGroup, want ...[]string) {
	t.Helper()
	close(l.let)
	wait.Wait()
	l.mu.Lock()
	l.queue.AwaitIdle()
	l.mu.Unlock()
	if diff := cmp.Diff(want, l.groups); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

func TestCallsThatOverlapAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, wait := newLog(0), new(sync.WaitGroup)
		l.propose(t, wait, "a", "b", "c")
		l.finish(t, wait, []string{"a"}, []string{"b", "c"})
	})
}

func TestGroupsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, wait := newLog(4), new(sync.WaitGroup)
		l.propose(t, wait, "a", "bbb", "c", "dddd", "e")
		_, err := l.queue.ProposeAll(t.Context(), []driverlog.Command{named("ff"), named("ggg")})
		if _, ok := errors.AsType[*driverlog.LimitError](err); !ok {
			t.Errorf("a call over the limit: %v", err)
		}
		l.finish(t, wait, []string{"a"}, []string{"bbb", "c"}, []string{"dddd"}, []string{"e"})
	})
}

func TestACallWhoseContextEndsIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, wait := newLog(0), new(sync.WaitGroup)
		l.propose(t, wait, "a")
		ctx, cancel := context.WithCancel(t.Context())
		wait.Go(func() {
			if _, err := l.queue.Propose(ctx, named("b")); !errors.Is(err, context.Canceled) {
				t.Errorf("taken back: %v", err)
			}
		})
		synctest.Wait()
		l.propose(t, wait, "c")
		cancel()
		synctest.Wait()
		l.finish(t, wait, []string{"a"}, []string{"c"})
	})
}

func TestRefusedAndFailed(t *testing.T) {
	l := newLog(0)
	close(l.let)
	boom := errors.New("boom")
	l.failed = boom
	if _, err := l.queue.Propose(t.Context(), named("a")); !errors.Is(err, driverlog.ErrNotLeader) || !errors.Is(err, boom) {
		t.Errorf("behind a failure: %v", err)
	}
	l.refused = driverlog.ErrClosed
	if _, err := l.queue.ProposeAll(t.Context(), []driverlog.Command{named("a")}); !errors.Is(err, driverlog.ErrClosed) {
		t.Errorf("refused: %v", err)
	}
	if len(l.groups) != 0 {
		t.Errorf("%q is written", l.groups)
	}
}
