package schedulertest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

func TestGraphsBuiltAlikeAreAlike(t *testing.T) {
	build := func() *schedulertest.Node {
		g := &schedulertest.Graph{Scope: lineage.Scope{Batch: 5}}
		src := g.Source("source", 2, nil)
		return g.Union("u", g.Shuffle("s", src, 3), g.Map("m", src, nil))
	}
	a, b := build(), build()
	if diff := cmp.Diff(lineage.Text(a), lineage.Text(b)); diff != "" || a.ID() != b.ID() {
		t.Errorf("ids %v and %v, lineage:\n%s", a.ID(), b.ID(), diff)
	}
	if n, err := a.NumPartitions(); n != 5 || err != nil {
		t.Errorf("%d partitions, %v", n, err)
	}
}

func TestCodec(t *testing.T) {
	rows := lineage.Block([]int64{1, -2, 1 << 40})
	data, err := schedulertest.Codec{}.Encode(rows)
	if err != nil {
		t.Fatal(err)
	}
	got, err := schedulertest.Codec{}.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, rows); diff != "" {
		t.Errorf("rows (-got +want):\n%s", diff)
	}
	if _, err := (schedulertest.Codec{}).Decode(data[:9]); err == nil {
		t.Error("half a row was decoded")
	}
	if _, err := (schedulertest.Codec{}).Encode("text"); err == nil {
		t.Error("text was encoded as rows")
	}
}

func TestScriptedWaitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	if err := new(schedulertest.Scripted).Wait(ctx, func() bool { return false }); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

// The test plays the executor: its first answer is a failure.
func ExampleScripted() {
	backend := new(schedulertest.Scripted)
	s := scheduler.New(backend, scheduler.Options{})
	defer s.Close()
	job, result := schedulertest.Collect(new(schedulertest.Graph).Source("numbers", 1, nil))

	var run sync.WaitGroup
	run.Go(func() { fmt.Println(s.Run(context.Background(), job), result.Rows()) })
	backend.Add("a", 1)
	launched := func(n int) *scheduler.Task {
		_ = backend.Wait(context.Background(), func() bool { return len(backend.Launched()) == n })
		return backend.Launched()[n-1]
	}
	backend.Fail(launched(1), errors.New("disk full"))
	backend.Succeed(launched(2), []int64{7})
	run.Wait()
	// Output: <nil> [[7]]
}
