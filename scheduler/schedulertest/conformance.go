package schedulertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

// A Cluster is a backend whose executors a test can kill and add.
type Cluster interface {
	scheduler.Backend
	// Kill loses an executor with all it holds; false if there is none of that name.
	Kill(id scheduler.ExecutorID) bool
	// Add brings one more executor.
	Add() scheduler.ExecutorID
}

// RunBackend checks that the backend factory makes keeps the promises of scheduler.Backend. Each
// case asks for a new cluster with so many executors and slots.
func RunBackend(t *testing.T, factory func(executors, slots int) Cluster) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, factory func(executors, slots int) Cluster)
	}{
		{"announces_every_executor", testAnnounces},
		{"result_comes_home", testResult},
		{"error_keeps_its_kind", testError},
		{"panic_ends_the_attempt_with_its_stack", testPanic},
		{"cancel_ends_a_hanging_task", testCancel},
		{"cancel_of_an_unknown_task_is_ignored", testCancelUnknown},
		{"lost_executor_reports_nothing_more", testLoseMidTask},
		{"launch_on_a_lost_executor_is_ignored", testLaunchOnLost},
		{"every_attempt_ends_once", testEndsOnce},
		{"shuffle_across_executors", testShuffle},
		{"lost_outputs_are_written_again", testLostOutputs},
		{"dropped_blocks_are_computed_again", testDrop},
		{"dropped_outputs_are_gone", testDropShuffle},
		{"outputs_lost_in_silence_are_written_again", testSilentLoss},
		{"lost_partitions_are_computed_again", testBlocksLost},
		{"broadcasts_are_read_once_until_dropped", testBroadcast},
		{"commits_are_asked_for", testCommit},
		{"run_ends_with_its_context_and_leaves_no_task", testStop},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, factory) })
	}
}

func testAnnounces(t *testing.T, factory func(executors, slots int) Cluster) {
	c := factory(3, 1)
	r, _ := serve(t, c)
	ids := []scheduler.ExecutorID{recv(t, r.added), recv(t, r.added), recv(t, r.added)}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 3 {
		t.Errorf("executors %v are not distinct", ids)
	}
	if id := c.Add(); recv(t, r.added) != id || slices.Contains(ids, id) {
		t.Errorf("added executor %s is not announced as a new one", id)
	}
}

func testResult(t *testing.T, factory func(executors, slots int) Cluster) {
	c := factory(1, 1)
	r, _ := serve(t, c)
	c.Launch(resultTask(7, recv(t, r.added), func(context.Context) ([]int64, error) { return []int64{1, 2}, nil }))
	end := recv(t, r.ends)
	if end.Task != 7 || end.Err != nil {
		t.Fatalf("got end of task %d with %v", end.Task, end.Err)
	}
	if diff := cmp.Diff(end.Result, lineage.Block([]int64{1, 2})); diff != "" {
		t.Errorf("result (-got +want):\n%s", diff)
	}
}

func testError(t *testing.T, factory func(executors, slots int) Cluster) {
	c := factory(1, 1)
	r, _ := serve(t, c)
	on := recv(t, r.added)
	c.Launch(resultTask(1, on, func(context.Context) ([]int64, error) {
		return nil, fmt.Errorf("read input: %w", context.DeadlineExceeded)
	}))
	err := recv(t, r.ends).Err
	var te *scheduler.TaskError
	if !errors.As(err, &te) || te.Executor != on || te.Op != "source" {
		t.Errorf("got %v, want a task error naming %s and source", err, on)
	}
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "read input") {
		t.Errorf("got %v, want the cause kept", err)
	}
}

func testPanic(t *testing.T, factory func(executors, slots int) Cluster) {
	c := factory(1, 1)
	r, _ := serve(t, c)
	on := recv(t, r.added)
	c.Launch(resultTask(1, on, func(context.Context) ([]int64, error) { panic("no such luck") }))
	err := recv(t, r.ends).Err
	var te *scheduler.TaskError
	var p *scheduler.PanicError
	if !errors.As(err, &te) || !errors.As(err, &p) || p.Value != "no such luck" || !strings.Contains(te.Stack, "goroutine") {
		t.Fatalf("got %#v, want a task error around the panic with its stack", err)
	}
	c.Launch(resultTask(2, on, func(context.Context) ([]int64, error) { return nil, nil }))
	if end := recv(t, r.ends); end.Err != nil {
		t.Errorf("the slot is not usable any more: %v", end.Err)
	}
}

func testCancel(t *testing.T, factory func(executors, slots int) Cluster) {
	c := factory(1, 2)
	r, _ := serve(t, c)
	on := recv(t, r.added)
	begun, release := make(chan bool, 1), make(chan bool)
	c.Launch(resultTask(1, on, func(ctx context.Context) ([]int64, error) {
		begun <- true
		return hang(ctx)
	}))
	c.Launch(resultTask(2, on, func(ctx context.Context) ([]int64, error) {
		<-release
		return nil, ctx.Err()
	}))
	recv(t, begun)
	c.Cancel(1)
	if end := recv(t, r.ends); end.Task != 1 || !errors.Is(end.Err, context.Canceled) {
		t.Errorf("got end of task %d with %v", end.Task, end.Err)
	}
	close(release)
	if end := recv(t, r.ends); end.Task != 2 || end.Err != nil {
		t.Errorf("the other task: got end of task %d with %v", end.Task, end.Err)
	}
}

func testCancelUnknown(t *testing.T, factory func(executors, slots int) Cluster) {
	c := factory(1, 1)
	r, _ := serve(t, c)
	c.Cancel(99)
	c.Launch(resultTask(1, recv(t, r.added), func(context.Context) ([]int64, error) { return nil, nil }))
	if end := recv(t, r.ends); end.Err != nil {
		t.Error(end.Err)
	}
	c.Cancel(1)
}

func testLoseMidTask(t *testing.T, factory func(executors, slots int) Cluster) {
	c := factory(2, 1)
	r, stop := serve(t, c)
	a, b := recv(t, r.added), recv(t, r.added)
	begun, over := make(chan bool, 1), make(chan bool, 1)
	c.Launch(resultTask(1, a, func(ctx context.Context) ([]int64, error) {
		begun <- true
		<-ctx.Done()
		over <- true
		return nil, nil
	}))
	recv(t, begun)
	if !c.Kill(a) || c.Kill(a) {
		t.Error("kill does not tell a live executor from a dead one")
	}
	if id := recv(t, r.lost); id != a {
		t.Errorf("lost %s, want %s", id, a)
	}
	recv(t, over)
	c.Launch(resultTask(2, b, func(context.Context) ([]int64, error) { return nil, nil }))
	if end := recv(t, r.ends); end.Task != 2 {
		t.Errorf("task %d of a dead executor was reported", end.Task)
	}
	stop()
	if len(r.ends) > 0 {
		t.Errorf("task %d of a dead executor was reported", (<-r.ends).Task)
	}
}

func testLaunchOnLost(t *testing.T, factory func(executors, slots int) Cluster) {
	c := factory(2, 1)
	r, stop := serve(t, c)
	a, b := recv(t, r.added), recv(t, r.added)
	c.Kill(a)
	c.Launch(resultTask(1, a, func(context.Context) ([]int64, error) { return nil, nil }))
	c.Launch(resultTask(2, b, func(context.Context) ([]int64, error) { return nil, nil }))
	if end := recv(t, r.ends); end.Task != 2 {
		t.Errorf("task %d of a dead executor was reported", end.Task)
	}
	stop()
	if len(r.ends) > 0 {
		t.Errorf("task %d of a dead executor was reported", (<-r.ends).Task)
	}
}

func testEndsOnce(t *testing.T, factory func(executors, slots int) Cluster) {
	c := factory(1, 4)
	r, stop := serve(t, c)
	on := recv(t, r.added)
	seen := map[scheduler.TaskID]int{}
	for round := range 25 {
		for i := range 4 {
			id := scheduler.TaskID(4*round + i + 1)
			c.Launch(resultTask(id, on, func(ctx context.Context) ([]int64, error) {
				switch i {
				case 0:
					return hang(ctx)
				case 1:
					return nil, errors.New("no")
				case 2:
					panic("no")
				}
				return []int64{1}, nil
			}))
			if i == 0 {
				c.Cancel(id)
			}
		}
		for range 4 {
			seen[recv(t, r.ends).Task]++
		}
	}
	stop()
	if len(r.ends) > 0 {
		t.Errorf("%d reports too many", len(r.ends))
	}
	for id, times := range seen {
		if times != 1 {
			t.Errorf("task %d was reported %d times", id, times)
		}
	}
}

func testStop(t *testing.T, factory func(executors, slots int) Cluster) {
	c := factory(1, 2)
	r, stop := serve(t, c)
	on := recv(t, r.added)
	begun, over := make(chan bool, 1), make(chan bool, 1)
	c.Launch(resultTask(1, on, func(ctx context.Context) ([]int64, error) {
		begun <- true
		<-ctx.Done()
		over <- true
		return nil, ctx.Err()
	}))
	recv(t, begun)
	stop()
	if len(over) != 1 {
		t.Error("run returned before its task did")
	}
	c.Launch(resultTask(2, on, func(context.Context) ([]int64, error) { return nil, nil })) // must not block
}
