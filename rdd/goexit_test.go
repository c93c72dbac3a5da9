package rdd

import (
	"context"
	"errors"
	"io"
	"iter"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

// clusterContext returns a context on a cluster, whose slots survive functions that end their goroutine.
func clusterContext(t *testing.T) *Context {
	t.Helper()
	s := scheduler.New(local.New(local.Options{Slots: 2, Dir: t.TempDir()}), scheduler.Options{})
	t.Cleanup(func() { _ = s.Close() })
	return must(NewContext(s, Options{}))
}

func TestHooksAfterOneThatEndsItsGoroutine(t *testing.T) {
	c := clusterContext(t)
	var ran atomic.Int32
	err := Parallelize(c, upTo(2), 1).ForeachPartition(t.Context(), func(ctx context.Context, _ int, _ iter.Seq[int]) error {
		at, _ := TaskFrom(ctx)
		at.OnCompletion(func() error { ran.Add(1); return nil })
		at.OnCompletion(func() error { runtime.Goexit(); return nil })
		at.OnCompletion(func() error { ran.Add(1); return nil })
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "hook of the task on partition 0") || !errors.Is(err, errGoexit) {
		t.Errorf("error %v", err)
	}
	if n := ran.Load(); n == 0 || n%2 != 0 {
		t.Errorf("%d other hooks ran, want two each time", n)
	}
}

// faultyCommitter fails where fail is the name of the method.
type faultyCommitter struct {
	fail    string
	f       func()
	aborted atomic.Int32 // parts
	gaveUp  atomic.Int32 // saves
}

func (c *faultyCommitter) at(method string) error {
	if c.fail == method {
		c.f()
	}
	return nil
}

func (c *faultyCommitter) SetupJob(context.Context, int) error { return c.at("SetupJob") }
func (c *faultyCommitter) CreatePart(context.Context, int, lineage.Attempt) (PartWriter, error) {
	return faultyPart{c}, c.at("CreatePart")
}
func (c *faultyCommitter) CommitJob(context.Context, [][]byte) error { return c.at("CommitJob") }
func (c *faultyCommitter) AbortJob(context.Context) error            { c.gaveUp.Add(1); return c.at("AbortJob") }

type faultyPart struct{ c *faultyCommitter }

func (p faultyPart) Write(b []byte) (int, error)            { return len(b), p.c.at("Write") }
func (p faultyPart) Commit(context.Context) ([]byte, error) { return nil, p.c.at("Commit") }
func (p faultyPart) Abort(context.Context) error            { p.c.aborted.Add(1); return p.c.at("Abort") }

func TestCommittersThatDoNotComeBack(t *testing.T) {
	c := clusterContext(t)
	save := func(m *faultyCommitter) error {
		return Parallelize(c, upTo(2), 1).SaveWith(t.Context(), m, func(w io.Writer, rows iter.Seq[int]) error {
			for range rows {
				_, _ = io.WriteString(w, "row\n")
			}
			return nil
		})
	}
	for _, method := range []string{"SetupJob", "CreatePart", "Write", "Commit", "CommitJob"} {
		m := &faultyCommitter{fail: method, f: func() { panic("boom") }}
		err := save(m)
		var p *PanicError
		if !errors.As(err, &p) || !strings.Contains(err.Error(), "goexit_test.go:") {
			t.Errorf("%s: %v", method, err)
		}
		if want := method != "SetupJob"; (m.gaveUp.Load() == 1) != want {
			t.Errorf("%s: the save was given up %d times", method, m.gaveUp.Load())
		}
		if want := method == "Write" || method == "Commit"; (m.aborted.Load() > 0) != want {
			t.Errorf("%s: %d parts were aborted", method, m.aborted.Load())
		}
	}
	for _, method := range []string{"Write", "Commit"} {
		m := &faultyCommitter{fail: method, f: runtime.Goexit}
		if err := save(m); err == nil || m.aborted.Load() == 0 || m.gaveUp.Load() != 1 {
			t.Errorf("%s ended its goroutine: %v; %d parts aborted, %d saves", method, err, m.aborted.Load(), m.gaveUp.Load())
		}
	}
}

func TestAZeroAndABroadcastThatPanicNameTheirPlace(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	_, err := NewAccumulator(c, "bad", func() int { panic("boom") }, func(a, b int) int { return a }, func(a, b int) int { return a })
	var build *BuildError
	if !errors.As(err, &build) || build.Op != "accumulator" || !strings.Contains(build.Site, "goexit_test.go:") {
		t.Errorf("zero: %v", err)
	}
	_, err = NewBroadcast(c, panicky{})
	if !errors.As(err, &build) || build.Op != "broadcast" || !strings.Contains(build.Site, "goexit_test.go:") {
		t.Errorf("broadcast: %v", err)
	}
}

// panicky encodes itself with a panic.
type panicky struct{ N int }

func (panicky) MarshalBinary() ([]byte, error)  { panic("boom") }
func (*panicky) UnmarshalBinary(b []byte) error { return nil }
