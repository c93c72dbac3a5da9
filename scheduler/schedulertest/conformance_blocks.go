package schedulertest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

// The cases of RunBackend about blocks, broadcasts and commits.

func testDropShuffle(t *testing.T, factory func(executors, slots int) Cluster) {
	c := factory(1, 1)
	r, _ := serve(t, c)
	on := recv(t, r.added)
	g := new(Graph)
	final := g.Shuffle("final", g.Source("source", 1, func(int) []int64 { return []int64{4, 6} }), 1)
	sh := final.ShuffleOf()
	c.Launch(&scheduler.Task{ID: 1, Executor: on, Shuffle: sh, Address: scheduler.Address{Map: true, Shuffle: sh.ID, Node: sh.Parent.ID()}})
	status := recv(t, r.ends)
	if status.Err != nil {
		t.Fatal(status.Err)
	}
	read := func(id scheduler.TaskID) *scheduler.TaskEnd {
		task := envTask(id, on, func(ctx context.Context, env lineage.Env) ([]int64, error) { return final.Rows(ctx, env, 0) })
		task.Inputs = []scheduler.Input{{Shuffle: sh.ID, Maps: []scheduler.MapOutput{{Executor: on, MapStatus: status.Status}}}}
		c.Launch(task)
		return recv(t, r.ends)
	}
	end := read(2)
	if diff := cmp.Diff(end.Result, lineage.Block([]int64{4, 6})); diff != "" || end.Err != nil {
		t.Fatalf("%v, rows (-got +want):\n%s", end.Err, diff)
	}
	c.Drop(lineage.Drop{Shuffles: []lineage.ShuffleID{sh.ID}})
	var fe *scheduler.FetchError
	if end := read(3); !errors.As(end.Err, &fe) || fe.Shuffle != sh.ID || fe.Map != 0 || fe.Executor != on {
		t.Errorf("got %v, want a fetch error naming map 0 on %s", end.Err, on)
	}
}

// A leaky is a backend whose executors lose what they hold.
type leaky struct {
	Cluster
	sink  scheduler.Sink
	added []scheduler.ExecutorID
}

func (l *leaky) Run(ctx context.Context, sink scheduler.Sink) error {
	l.sink = sink
	return l.Cluster.Run(ctx, leakySink{sink, l})
}

type leakySink struct {
	scheduler.Sink
	of *leaky
}

func (s leakySink) ExecutorAdded(e scheduler.ExecutorInfo) {
	s.of.added = append(s.of.added, e.ID)
	s.Sink.ExecutorAdded(e)
}

func testSilentLoss(t *testing.T, factory func(executors, slots int) Cluster) {
	l := &leaky{Cluster: factory(2, 2)}
	s := scheduler.New(l, scheduler.Options{})
	defer s.Close()
	mid, final, want := chain()
	for range 2 {
		job, result := Collect(final)
		if err := s.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(result.Rows()[0], want[0]); diff != "" {
			t.Errorf("rows (-got +want):\n%s", diff)
		}
		l.Drop(lineage.Drop{Shuffles: []lineage.ShuffleID{mid.ShuffleOf().ID, final.ShuffleOf().ID}})
	}
}

func testBlocksLost(t *testing.T, factory func(executors, slots int) Cluster) {
	l := &leaky{Cluster: factory(2, 1)}
	s := scheduler.New(l, scheduler.Options{})
	defer s.Close()
	g := new(Graph)
	var computed atomic.Int32
	kept := g.Source("kept", 4, func(part int) []int64 { return []int64{int64(part)} }).Persist()
	kept.Hook = func(context.Context, lineage.Env, int) error {
		computed.Add(1)
		return nil
	}
	run := func(want int32) {
		t.Helper()
		job, result := Collect(g.Map("same", kept, func(r int64) int64 { return r }))
		if err := s.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(result.Rows(), [][]int64{{0}, {1}, {2}, {3}}); diff != "" {
			t.Errorf("rows (-got +want):\n%s", diff)
		}
		if got := computed.Load(); got != want {
			t.Errorf("%d partitions computed so far, want %d", got, want)
		}
	}
	run(4)
	run(4)
	l.Drop(lineage.Drop{Nodes: []lineage.NodeID{kept.ID()}}) // which the scheduler does not know
	run(8)
	l.Drop(lineage.Drop{Nodes: []lineage.NodeID{kept.ID()}})
	for _, id := range l.added {
		for part := range 4 {
			l.sink.BlocksLost(id, []scheduler.BlockID{{Node: kept.ID(), Part: part}})
		}
	}
	run(12)
	run(12)
}

func testBroadcast(t *testing.T, factory func(executors, slots int) Cluster) {
	c := factory(1, 2)
	r, _ := serve(t, c)
	on := recv(t, r.added)
	var fetched atomic.Int32
	data, err := Codec{}.Encode([]int64{5})
	if err != nil {
		t.Fatal(err)
	}
	b := &lineage.Broadcast{ID: 3, Codec: Codec{}, Fetch: func(context.Context) ([]byte, error) {
		fetched.Add(1)
		return data, nil
	}}
	read := func(first scheduler.TaskID, want int32) {
		t.Helper()
		for i := range scheduler.TaskID(2) {
			c.Launch(envTask(first+i, on, func(ctx context.Context, env lineage.Env) ([]int64, error) {
				value, err := env.Broadcast(ctx, b)
				rows, _ := value.([]int64)
				return rows, err
			}))
		}
		for range 2 {
			end := recv(t, r.ends)
			if diff := cmp.Diff(end.Result, lineage.Block([]int64{5})); diff != "" || end.Err != nil {
				t.Errorf("%v, value (-got +want):\n%s", end.Err, diff)
			}
		}
		if got := fetched.Load(); got != want {
			t.Errorf("fetched %d times so far, want %d", got, want)
		}
	}
	read(1, 1)
	read(3, 1)
	c.Drop(lineage.Drop{Broadcasts: []lineage.BroadcastID{b.ID}})
	read(5, 2)
}

func testCommit(t *testing.T, factory func(executors, slots int) Cluster) {
	c := factory(1, 1)
	r, _ := serveWith(t, c, func(id scheduler.TaskID) bool { return id == 1 })
	on := recv(t, r.added)
	ask := func(id scheduler.TaskID, swallow bool) error {
		c.Launch(envTask(id, on, func(ctx context.Context, env lineage.Env) ([]int64, error) {
			if err := env.Commit(ctx); err != nil && !swallow {
				return nil, err
			}
			return []int64{}, nil
		}))
		return recv(t, r.ends).Err
	}
	if err := ask(1, false); err != nil {
		t.Errorf("the one that may commit: got %v", err)
	}
	for id, swallow := range map[scheduler.TaskID]bool{2: false, 3: true} {
		var denied *scheduler.CommitDeniedError
		if err := ask(id, swallow); !errors.As(err, &denied) {
			t.Errorf("one that may not, swallowing the error %t: got %v, want it denied", swallow, err)
		}
	}
}
