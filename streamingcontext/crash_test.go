package streamingcontext_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// at is a plan with one fault.
func at(op int, f fault) func(int, string) fault {
	return func(i int, _ string) fault {
		if i == op {
			return f
		}
		return none
	}
}

// TestEveryCrashPoint kills the process at each operation on the world, before and after it takes effect, and the process that goes on
// once more, and compares what the sink shows with an undisturbed run.
func TestEveryCrashPoint(t *testing.T) {
	const until = 9000
	live := func(t *testing.T, w *world, dir string, now int64, plan func(int, string) fault) (*process, int64, error) {
		t.Helper()
		p := w.process(plan)
		clock, stop, err := p.live(t.Context(), dir, now, until)
		if stopped := stop(); stopped != nil {
			t.Error(stopped)
		}
		return p, clock.Now(), err
	}
	want := newWorld(t, 33)
	undisturbed, _, err := live(t, want, t.TempDir(), 0, at(-1, none))
	if err != nil {
		t.Fatal(err)
	}
	points := undisturbed.ops
	for _, kind := range []string{"lead", "application", "begin", "stage", "seal", "prepared", "commit", "committed", "clean", "checkpointed"} {
		if !slices.ContainsFunc(points, func(p string) bool { return strings.HasPrefix(p, kind) }) {
			t.Errorf("no operation %q in %q", kind, points)
		}
	}
	t.Logf("%d points, two ways each", len(points))
	for op, name := range points {
		for _, f := range []fault{dieBefore, dieAfter} {
			t.Run(fmt.Sprintf("%d %s after=%t", op, name, f == dieAfter), func(t *testing.T) {
				w, dir := newWorld(t, 33), t.TempDir()
				_, now, err := live(t, w, dir, 0, at(op, f))
				if !errors.Is(err, errDied) {
					t.Fatalf("the first process: %v", err)
				}
				// The next one dies in recovery or soon after it, somewhere else each time.
				_, now, err = live(t, w, dir, now, at(op%9, dieBefore+dieAfter-f))
				if err != nil && !errors.Is(err, errDied) {
					t.Fatalf("the second process: %v", err)
				}
				if _, _, err = live(t, w, dir, now, at(-1, none)); err != nil {
					t.Fatalf("the last process: %v", err)
				}
				if diff := cmp.Diff(w.shown, want.shown); diff != "" || len(w.breaches) > 0 {
					t.Errorf("%q; rows by batch (-got +want):\n%s", w.breaches, diff)
				}
			})
		}
	}
}
