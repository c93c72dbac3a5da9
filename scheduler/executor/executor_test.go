package executor_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/executor"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// task returns a result task that runs f as partition part.
func task(part int, f func(ctx context.Context, env lineage.Env) (lineage.Block, error)) *scheduler.Task {
	node := new(schedulertest.Graph).Source("source", 9, nil)
	return &scheduler.Task{ID: 1, Attempt: lineage.Attempt{Partition: part}, Job: &lineage.Job{
		Final: node, Codec: schedulertest.Codec{},
		Run: func(ctx context.Context, env lineage.Env, part int) (lineage.Block, error) { return f(ctx, env) },
	}}
}

var (
	node = lineage.NodeID{Ordinal: 5}
	kept = lineage.Persistence{Level: lineage.StorageLevel{Memory: true, Deserialized: true}, Codec: schedulertest.Codec{}}
)

func ask(compute func() (lineage.Block, error)) *scheduler.Task {
	return task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
		return persisted(ctx, env, compute)
	})
}

// persisted reads partition 3 of node, which is one block that compute makes.
func persisted(ctx context.Context, env lineage.Env, compute func() (lineage.Block, error)) (lineage.Block, error) {
	var got lineage.Block
	err := env.Persisted(ctx, node, 3, kept, func(put func(lineage.Block) error) error {
		b, err := compute()
		if err != nil {
			return err
		}
		return put(b)
	}, func(b lineage.Block) error {
		got = b
		return nil
	})
	return got, err
}

func TestPersisted(t *testing.T) {
	for _, isolate := range []bool{false, true} {
		t.Run(fmt.Sprintf("isolate=%t", isolate), func(t *testing.T) { testPersisted(t, isolate) })
	}
}

func testPersisted(t *testing.T, isolate bool) {
	rows := lineage.Block([]int64{1, 2})
	result := func(t *testing.T, end *scheduler.TaskEnd) lineage.Block {
		t.Helper()
		if end.Err != nil {
			t.Fatal(end.Err)
		}
		if !isolate {
			return end.Result
		}
		b, err := schedulertest.Codec{}.Decode(end.ResultData)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	t.Run("S4_one_computes_and_the_others_wait", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := executor.New(executor.Options{ID: "a", Isolate: isolate})
			release := make(chan bool)
			computed := 0 // by whoever has the claim only
			var wg sync.WaitGroup
			stored := make(chan int, 8)
			for range 8 {
				wg.Go(func() {
					end := e.Run(t.Context(), ask(func() (lineage.Block, error) {
						computed++
						<-release
						return rows, nil
					}))
					if diff := cmp.Diff(result(t, end), rows); diff != "" {
						t.Errorf("block (-got +want):\n%s", diff)
					}
					stored <- len(end.Cached)
				})
			}
			synctest.Wait()
			close(release)
			wg.Wait()
			total := 0
			for range 8 {
				total += <-stored
			}
			// Each may end first, and the driver relies on what ended.
			if computed != 1 || total != 8 {
				t.Errorf("computed %d times, want once; reported by %d, want all", computed, total)
			}
		})
	})
	t.Run("waiting_ends_with_the_context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := executor.New(executor.Options{ID: "a", Isolate: isolate})
			release := make(chan bool)
			var wg sync.WaitGroup
			wg.Go(func() {
				e.Run(t.Context(), ask(func() (lineage.Block, error) { <-release; return rows, nil }))
			})
			synctest.Wait()
			ctx, cancel := context.WithCancelCause(t.Context())
			cause := errors.New("enough")
			wg.Go(func() {
				if end := e.Run(ctx, ask(nil)); !errors.Is(end.Err, cause) {
					t.Errorf("got %v, want the context's cause", end.Err)
				}
			})
			synctest.Wait()
			cancel(cause)
			synctest.Wait()
			close(release)
			wg.Wait()
		})
	})
	t.Run("whoever_waits_computes_after_a_failure", func(t *testing.T) {
		for _, how := range []string{"error", "panic"} {
			synctest.Test(t, func(t *testing.T) {
				e := executor.New(executor.Options{ID: "a", Isolate: isolate})
				release := make(chan bool)
				var wg sync.WaitGroup
				wg.Go(func() {
					end := e.Run(t.Context(), ask(func() (lineage.Block, error) {
						<-release
						if how == "panic" {
							panic("no")
						}
						return nil, errors.New("no")
					}))
					if end.Err == nil || len(end.Cached) > 0 {
						t.Errorf("the first attempt ended with %v", end.Err)
					}
				})
				synctest.Wait()
				wg.Go(func() {
					end := e.Run(t.Context(), ask(func() (lineage.Block, error) { return rows, nil }))
					if diff := cmp.Diff(result(t, end), rows); diff != "" {
						t.Errorf("block (-got +want):\n%s", diff)
					}
				})
				synctest.Wait()
				close(release)
				wg.Wait()
			})
		}
	})
	t.Run("another_executors_block_is_read_and_not_kept", func(t *testing.T) {
		b := executor.New(executor.Options{ID: "b", Isolate: isolate})
		b.Run(t.Context(), ask(func() (lineage.Block, error) { return rows, nil }))
		a := executor.New(executor.Options{ID: "a", Isolate: isolate, Peers: peers{"b": b}})
		asking := ask(func() (lineage.Block, error) { return nil, errors.New("computed") })
		asking.Cached = []scheduler.CachedBlock{{BlockID: scheduler.BlockID{Node: node, Part: 3}, Executors: []scheduler.ExecutorID{"gone", "b"}}}
		end := a.Run(t.Context(), asking)
		if diff := cmp.Diff(result(t, end), rows); diff != "" {
			t.Errorf("block (-got +want):\n%s", diff)
		}
		if _, n := a.Blocks(); n != 0 || len(end.Cached) != 0 {
			t.Error("the block was kept here too")
		}
		b.Clear()
		if end := a.Run(t.Context(), asking); end.Err == nil || !strings.Contains(end.Err.Error(), "computed") {
			t.Errorf("with the block gone: got %v, want it computed", end.Err)
		}
	})
	t.Run("what_a_failing_task_stored_stays", func(t *testing.T) {
		e := executor.New(executor.Options{ID: "a", Isolate: isolate})
		end := e.Run(t.Context(), task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
			if _, err := persisted(ctx, env, func() (lineage.Block, error) { return rows, nil }); err != nil {
				t.Error(err)
			}
			return nil, errors.New("later")
		}))
		if _, n := e.Blocks(); n != 1 || len(end.Cached) != 1 || end.Err == nil {
			t.Errorf("%d blocks, reported %v, err %v", n, end.Cached, end.Err)
		}
	})
	t.Run("a_drop_while_computing_is_obeyed", func(t *testing.T) {
		e := executor.New(executor.Options{ID: "a", Isolate: isolate})
		end := e.Run(t.Context(), ask(func() (lineage.Block, error) {
			e.Drop(lineage.Drop{Nodes: []lineage.NodeID{node}})
			return rows, nil
		}))
		if diff := cmp.Diff(result(t, end), rows); diff != "" {
			t.Errorf("block (-got +want):\n%s", diff)
		}
		if _, n := e.Blocks(); n != 0 || len(end.Cached) != 0 {
			t.Error("the block was kept")
		}
	})
}

func TestIsolatedReadersGetTheirOwnCopy(t *testing.T) {
	e := executor.New(executor.Options{ID: "a", Isolate: true})
	spoil := task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
		b, err := persisted(ctx, env, func() (lineage.Block, error) { return []int64{1}, nil })
		if err != nil {
			return nil, err
		}
		rows := b.([]int64)
		if rows[0] != 1 {
			t.Error("somebody changed the block")
		}
		rows[0] = 2
		return nil, nil
	})
	for range 3 {
		if end := e.Run(t.Context(), spoil); end.Err != nil {
			t.Fatal(end.Err)
		}
	}
}

// peers are executors by name.
type peers map[scheduler.ExecutorID]*executor.Executor

var errNotThere = errors.New("not there")

func (p peers) Bucket(_ context.Context, from scheduler.ExecutorID, id lineage.ShuffleID, m, r, first int, yield func(executor.Held) error) error {
	if e := p[from]; e != nil {
		return e.Bucket(id, m, r, first, yield)
	}
	return errNotThere
}

func (p peers) Persisted(_ context.Context, from scheduler.ExecutorID, id scheduler.BlockID, yield func(executor.Held) error) error {
	if e := p[from]; e != nil {
		return e.Persisted(id, yield)
	}
	return errNotThere
}

// Replicate asks the others by name.
func (p peers) Replicate(_ context.Context, from scheduler.ExecutorID, id scheduler.BlockID, pers lineage.Persistence, copies int, blocks func(func(executor.Held) error) error) (holders []scheduler.ExecutorID) {
	for _, to := range slices.Sorted(maps.Keys(p)) {
		if to != from && len(holders) < copies && p[to].Store(id, pers, blocks) == nil {
			holders = append(holders, to)
		}
	}
	return holders
}
