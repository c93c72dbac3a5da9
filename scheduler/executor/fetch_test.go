package executor_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/executor"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// A shuffled is a shuffle of 3 map partitions whose outputs are on a, b and a. Map partition 1 has
// nothing for reducer 1.
type shuffled struct {
	a, b    *executor.Executor
	peers   peers
	shuffle *lineage.Shuffle
	input   scheduler.Input
}

func newShuffled(t *testing.T, isolate bool) *shuffled {
	g := new(schedulertest.Graph)
	src := g.Source("source", 3, func(part int) []int64 {
		if part == 1 {
			return []int64{10}
		}
		return []int64{int64(10 * part), int64(10*part + 1)}
	})
	s := &shuffled{peers: peers{}, shuffle: g.Shuffle("final", src, 2).ShuffleOf()}
	s.a = executor.New(executor.Options{ID: "a", Isolate: isolate, Peers: s.peers})
	s.b = executor.New(executor.Options{ID: "b", Isolate: isolate, Peers: s.peers})
	s.peers["a"], s.peers["b"] = s.a, s.b
	s.input.Shuffle = s.shuffle.ID
	for p, e := range []*executor.Executor{s.a, s.b, s.a} {
		end := e.Run(t.Context(), &scheduler.Task{Attempt: lineage.Attempt{Partition: p}, Shuffle: s.shuffle})
		if end.Err != nil {
			t.Fatal(end.Err)
		}
		if got := end.Status.Sizes; !got.Has(0) || got.Has(1) != (p != 1) {
			t.Errorf("map %d: sizes %v", p, got)
		}
		s.input.Maps = append(s.input.Maps, scheduler.MapOutput{Executor: e.ID(), MapStatus: end.Status})
	}
	return s
}

// fetch runs a task on a that reads a reducer's rows and makes of the outcome what after says.
func (s *shuffled) fetch(ctx context.Context, reduce int, after func(err error) error) error {
	tk := task(reduce, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
		return nil, after(env.Fetch(ctx, s.shuffle, reduce, func(int, lineage.Block) error { return nil }))
	})
	tk.Inputs = []scheduler.Input{s.input}
	return s.a.Run(ctx, tk).Err
}

func unchanged(err error) error { return err }

func TestFetch(t *testing.T) {
	for _, isolate := range []bool{false, true} {
		t.Run(map[bool]string{false: "shared", true: "isolated"}[isolate], func(t *testing.T) { testFetch(t, isolate) })
	}
}

func testFetch(t *testing.T, isolate bool) {
	check := func(t *testing.T, err error, want scheduler.FetchError) {
		t.Helper()
		var fe *scheduler.FetchError
		if !errors.As(err, &fe) {
			t.Fatalf("got %v, want a fetch error", err)
		}
		got := *fe
		got.Err = nil
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("fetch error (-got +want):\n%s", diff)
		}
	}
	t.Run("buckets_come_in_map_order_without_empty_ones", func(t *testing.T) {
		s := newShuffled(t, isolate)
		var rows []int64
		var maps []int
		tk := task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
			for r := range 2 {
				err := env.Fetch(ctx, s.shuffle, r, func(m int, b lineage.Block) error {
					maps = append(maps, m)
					rows = append(rows, b.([]int64)...)
					return nil
				})
				if err != nil {
					return nil, err
				}
			}
			return nil, nil
		})
		tk.Inputs = []scheduler.Input{s.input}
		if end := s.a.Run(t.Context(), tk); end.Err != nil {
			t.Fatal(end.Err)
		}
		if !slices.Equal(rows, []int64{0, 10, 20, 1, 21}) || !slices.Equal(maps, []int{0, 1, 2, 0, 2}) {
			t.Errorf("rows %v of maps %v", rows, maps)
		}
	})
	t.Run("a_lost_output_names_its_executor", func(t *testing.T) {
		s := newShuffled(t, isolate)
		s.b.Clear()
		err := s.fetch(t.Context(), 0, unchanged)
		check(t, err, scheduler.FetchError{Shuffle: s.shuffle.ID, Map: 1, Reduce: 0, Executor: "b"})
	})
	t.Run("an_unregistered_output_names_none", func(t *testing.T) {
		s := newShuffled(t, isolate)
		s.input.Maps[2] = scheduler.MapOutput{}
		err := s.fetch(t.Context(), 1, unchanged)
		check(t, err, scheduler.FetchError{Shuffle: s.shuffle.ID, Map: 2, Reduce: 1})
	})
	t.Run("an_unknown_shuffle_names_no_map", func(t *testing.T) {
		s := newShuffled(t, isolate)
		s.input.Shuffle.Dep = 9
		err := s.fetch(t.Context(), 1, unchanged)
		check(t, err, scheduler.FetchError{Shuffle: s.shuffle.ID, Map: -1, Reduce: 1})
	})
	t.Run("D22_a_swallowed_failure_is_reported", func(t *testing.T) {
		s := newShuffled(t, isolate)
		s.a.Clear()
		err := s.fetch(t.Context(), 0, func(error) error { return nil })
		check(t, err, scheduler.FetchError{Shuffle: s.shuffle.ID, Map: 0, Reduce: 0, Executor: "a"})
		err = s.fetch(t.Context(), 0, func(error) error { panic("no rows") })
		check(t, err, scheduler.FetchError{Shuffle: s.shuffle.ID, Map: 0, Reduce: 0, Executor: "a"})
	})
	t.Run("the_callers_error_ends_it_unchanged", func(t *testing.T) {
		s := newShuffled(t, isolate)
		stop := errors.New("stop")
		tk := task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
			if err := env.Fetch(ctx, s.shuffle, 0, func(int, lineage.Block) error { return stop }); err != stop {
				t.Errorf("got %v", err)
			}
			return nil, nil
		})
		tk.Inputs = []scheduler.Input{s.input}
		if end := s.a.Run(t.Context(), tk); end.Err != nil {
			t.Error(end.Err)
		}
	})
	t.Run("a_cancelled_fetch_blames_nobody", func(t *testing.T) {
		s := newShuffled(t, isolate)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := s.fetch(ctx, 0, unchanged)
		var fe *scheduler.FetchError
		if errors.As(err, &fe) || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the context's error", err)
		}
	})
}

func TestDamagedBucketIsAFetchFailure(t *testing.T) {
	s := newShuffled(t, true)
	s.peers["b"] = nil
	err := s.fetch(t.Context(), 0, unchanged)
	var fe *scheduler.FetchError
	if !errors.As(err, &fe) || fe.Executor != "b" {
		t.Errorf("dead peer: got %v", err)
	}
	broken := *s.shuffle
	broken.Codec = refusing{}
	s.shuffle = &broken
	err = s.fetch(t.Context(), 0, unchanged)
	if !errors.As(err, &fe) || fe.Map != 0 || !errors.Is(err, errDamaged) {
		t.Errorf("damaged: got %v", err)
	}
}

var errDamaged = errors.New("damaged")

type refusing struct{ schedulertest.Codec }

func (refusing) Decode([]byte) (lineage.Block, error) { return nil, errDamaged }

func TestMapTask(t *testing.T) {
	g := new(schedulertest.Graph)
	shuffle := *g.Shuffle("final", g.Source("source", 1, nil), 2).ShuffleOf()
	shuffle.Write = func(_ context.Context, _ lineage.Env, _ int, out lineage.Buckets) error {
		return out.Put(2, lineage.Block([]int64{1}))
	}
	e := executor.New(executor.Options{ID: "a"})
	end := e.Run(t.Context(), &scheduler.Task{Shuffle: &shuffle})
	if end.Err == nil || scheduler.Retryable(end.Err) {
		t.Errorf("bucket 2 of 2 reducers: got %v, want a permanent error", end.Err)
	}
	if maps, _ := e.Blocks(); maps != 0 {
		t.Error("buckets of a failed task were kept")
	}
}

func TestDrop(t *testing.T) {
	s := newShuffled(t, false)
	s.a.Drop(lineage.Drop{Scopes: []lineage.Scope{{Batch: 1}}})
	if maps, _ := s.a.Blocks(); maps != 2 {
		t.Errorf("%d outputs left, want 2: another scope was dropped", maps)
	}
	s.a.Drop(lineage.Drop{Nodes: []lineage.NodeID{s.shuffle.ID.Node}})
	if maps, _ := s.a.Blocks(); maps != 2 {
		t.Errorf("%d outputs left, want 2: only persisted partitions were to go", maps)
	}
	s.a.Drop(lineage.Drop{Scopes: []lineage.Scope{{}}})
	if maps, _ := s.a.Blocks(); maps != 0 {
		t.Errorf("%d outputs left, want none", maps)
	}
}

func TestResolve(t *testing.T) {
	for _, c := range []struct {
		name     string
		resolver executor.Resolver
	}{
		{"without_a_resolver", nil},
		{"unknown_address", resolver(func(scheduler.Address) (executor.Work, error) { return executor.Work{}, errors.New("unknown") })},
		{"work_of_the_other_kind", resolver(func(scheduler.Address) (executor.Work, error) {
			return executor.Work{Shuffle: &lineage.Shuffle{}}, nil
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := executor.New(executor.Options{ID: "a", Resolver: c.resolver})
			var te *scheduler.TaskError
			if end := e.Run(t.Context(), &scheduler.Task{ID: 4}); end.Task != 4 || !errors.As(end.Err, &te) {
				t.Errorf("got %v, want a task error", end.Err)
			}
		})
	}
}

type resolver func(scheduler.Address) (executor.Work, error)

func (r resolver) Resolve(a scheduler.Address) (executor.Work, error) { return r(a) }
