package hostile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine returns an engine that is closed with the test.
func engine(t *testing.T, opts streamingcontext.EngineOptions) *streamingcontext.Engine {
	t.Helper()
	if opts.Cores == 0 {
		opts.Cores = 2
	}
	e, err := streamingcontext.NewEngine(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { within(t, "close of the engine", e.Close) })
	return e
}

// bothModes runs a test with and without the borders between processes.
func bothModes(t *testing.T, f func(t *testing.T, e *streamingcontext.Engine)) {
	for _, isolate := range []bool{false, true} {
		t.Run(fmt.Sprintf("isolate=%t", isolate), func(t *testing.T) {
			f(t, engine(t, streamingcontext.EngineOptions{Isolate: isolate, Executors: 2}))
		})
	}
}

// patience is far more than anything here takes: who needs longer hangs.
const patience = 20 * time.Second

// within fails the test, and does not wait for f any longer, when f hangs.
func within(t *testing.T, what string, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		err := errors.New(what + " ended its goroutine")
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("%s: panic out of the framework: %v", what, v)
				t.Error(err)
			}
			done <- err
		}()
		err = f()
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		t.Fatalf("%s hangs", what)
		return nil
	}
}

// wantUserError checks that an error names operator and file of the program's function.
func wantUserError(t *testing.T, err error, op, cause string) {
	t.Helper()
	u, ok := errors.AsType[*rdd.UserError](err)
	if !ok {
		t.Errorf("error %v, want a *rdd.UserError", err)
		return
	}
	if u.Op != op || !strings.Contains(u.Site, "_test.go:") || !strings.Contains(err.Error(), cause) {
		t.Errorf("error of %q at %q: %v; want %q, this file and %q", u.Op, u.Site, err, op, cause)
	}
}

// wantPlace checks that an error names a file of the program.
func wantPlace(t *testing.T, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "_test.go:") {
		t.Errorf("error %v does not name the place", err)
	}
}

// discard makes s an output that computes every batch.
func discard[T any](s *dstream.DStream[T]) {
	dstream.ForeachRDD(s, func(ctx context.Context, r *rdd.RDD[T], _ dstream.Time) error {
		_, err := r.Count(ctx)
		return err
	})
}

func ints(n int) []int {
	xs := make([]int, n)
	for i := range xs {
		xs[i] = i
	}
	return xs
}

func pairs(n, keys int) []rdd.Pair[int, int] {
	ps := make([]rdd.Pair[int, int], n)
	for i := range ps {
		ps[i] = rdd.Pair[int, int]{Key: i % keys, Value: 1}
	}
	return ps
}

func plus(a, b int) int { return a + b }
