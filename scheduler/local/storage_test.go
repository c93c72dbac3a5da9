package local_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/executor"
	"github.com/leat-io/leat/scheduler/local"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// A kept is a source of 10 rows a partition that is kept at a level, and how often partitions were computed.
type kept struct {
	node     *schedulertest.Node
	level    lineage.StorageLevel
	parts    int
	computed atomic.Int32
}

func newKept(parts int, level lineage.StorageLevel) *kept {
	return &kept{node: new(schedulertest.Graph).Source("source", parts, nil), parts: parts, level: level}
}

// count runs a job that counts the rows.
func (k *kept) count(ctx context.Context, s *scheduler.Scheduler) (rows int, err error) {
	job, result := schedulertest.Collect(k.node)
	job.Run = func(ctx context.Context, env lineage.Env, part int) (lineage.Block, error) {
		n := int64(0)
		err := env.Persisted(ctx, k.node.ID(), part, lineage.Persistence{Level: k.level, Codec: schedulertest.Codec{}},
			func(put func(lineage.Block) error) error {
				k.computed.Add(1)
				for i := range int64(2) {
					if err := put([]int64{5 * i, 5*i + 1, 5*i + 2, 5*i + 3, 5*i + 4}); err != nil {
						return err
					}
				}
				return nil
			}, func(b lineage.Block) error { n += int64(len(b.([]int64))); return nil })
		return []int64{n}, err
	}
	err = s.Run(ctx, job)
	for _, r := range result.Rows() {
		if len(r) > 0 {
			rows += int(r[0])
		}
	}
	return rows, err
}

func (k *kept) want(t *testing.T, s *scheduler.Scheduler, computed int32) {
	t.Helper()
	if rows, err := k.count(t.Context(), s); rows != 10*k.parts || err != nil {
		t.Errorf("%d rows, %v; want %d", rows, err, 10*k.parts)
	}
	if got := k.computed.Load(); got != computed {
		t.Errorf("%d computations so far, want %d", got, computed)
	}
}

var diskOnly = lineage.StorageLevel{Disk: true}

func TestDeletedFilesCostOneFailureEach(t *testing.T) {
	both(t, func(t *testing.T, opts local.Options) {
		t.Run("C26", func(t *testing.T) {
			opts.Dir, opts.Slots = t.TempDir(), 2
			cluster := local.New(opts)
			var mu sync.Mutex // guards failures
			failures := 0
			s := scheduler.New(cluster, scheduler.Options{MaxFailures: 2, Listeners: []scheduler.Listener{{TaskEnded: func(e scheduler.TaskEnded) {
				var fe *executor.FileError
				mu.Lock()
				defer mu.Unlock()
				if errors.As(e.Err, &fe) {
					failures++
				}
			}}}})
			defer s.Close()
			k := newKept(2, diskOnly)
			k.want(t, s, 2)
			k.want(t, s, 2)
			files := cluster.Files()
			for _, f := range files {
				if err := os.Remove(f); err != nil {
					t.Fatal(err)
				}
			}
			k.want(t, s, 4)
			k.want(t, s, 4)
			s.Close() // listeners have heard all then
			if len(files) != 2 || failures != 2 {
				t.Errorf("%d files, %d failures, want 2 each", len(files), failures)
			}
		})
	})
}

func TestLostExecutorLosesItsFiles(t *testing.T) {
	both(t, func(t *testing.T, opts local.Options) {
		for _, c := range []struct {
			name   string
			level  lineage.StorageLevel
			memory int64
			want   int32
		}{
			{"C25_in_memory", lineage.StorageLevel{Memory: true, Deserialized: true}, 0, 6},
			{"C25_on_disk", diskOnly, 0, 6},
			{"S9_with_a_copy", lineage.StorageLevel{Memory: true, Replicas: 2}, 0, 4},
			{"S9_with_a_copy_on_disk", lineage.StorageLevel{Memory: true, Disk: true, Replicas: 2}, 1, 4},
		} {
			t.Run(c.name, func(t *testing.T) {
				opts.Dir, opts.Slots, opts.Executors, opts.Memory = t.TempDir(), 2, 2, c.memory
				cluster := local.New(opts)
				added := make(chan bool, 2)
				s := scheduler.New(cluster, scheduler.Options{Listeners: []scheduler.Listener{
					{ExecutorAdded: func(scheduler.ExecutorInfo) { added <- true }}}})
				defer s.Close()
				if err := s.Run(t.Context(), emptyJob(1)); err != nil {
					t.Fatal(err)
				}
				<-added
				<-added
				k := newKept(4, c.level)
				k.want(t, s, 4)
				before := len(cluster.Files())
				if !cluster.Kill("local-0") {
					t.Fatal("no executor to kill")
				}
				if after := len(cluster.Files()); after*2 != before {
					t.Errorf("%d of %d files are left, want half of them", after, before)
				}
				k.want(t, s, c.want)
				s.Drop(lineage.Drop{Nodes: []lineage.NodeID{k.node.ID()}})
				if err := s.Run(t.Context(), emptyJob(1)); err != nil {
					t.Fatal(err)
				}
				if r, st := cluster.Memory(); len(cluster.Files()) > 0 || r != 0 || st != 0 {
					t.Errorf("files %v, %d bytes reserved, %d stored after the drop", cluster.Files(), r, st)
				}
			})
		}
	})
}

// TestLostOutputsOnDisk loses one of three executors while a reducer runs: only the maps it ran are run again.
func TestLostOutputsOnDisk(t *testing.T) {
	both(t, func(t *testing.T, opts local.Options) {
		t.Run("C31", func(t *testing.T) {
			opts.Executors, opts.Slots, opts.Dir, opts.Memory = 3, 2, t.TempDir(), 3
			cluster := local.New(opts)
			count := newTally()
			added := make(chan bool, 3)
			s := scheduler.New(cluster, scheduler.Options{Listeners: []scheduler.Listener{count.listener(),
				{ExecutorAdded: func(scheduler.ExecutorInfo) { added <- true }}}})
			defer s.Close()
			if err := s.Run(t.Context(), emptyJob(1)); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				<-added
			}
			g := &schedulertest.Graph{Scope: lineage.Scope{Batch: 1}}
			src := g.Source("map", 6, func(part int) []int64 { return []int64{int64(2 * part), int64(2*part + 1)} })
			final := g.Shuffle("final", src, 2)
			first := make(chan bool)
			var once, kill sync.Once
			files := 0
			final.Hook = func(ctx context.Context, env lineage.Env, part int) error {
				if part == 0 {
					once.Do(func() { close(first) })
					return nil
				}
				<-first
				kill.Do(func() {
					files = len(cluster.Files())
					cluster.Kill("local-0")
				})
				return nil
			}
			job, result := schedulertest.Collect(final)
			if err := s.Run(t.Context(), job); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(result.Rows(), [][]int64{{0, 2, 4, 6, 8, 10}, {1, 3, 5, 7, 9, 11}}); diff != "" {
				t.Errorf("rows (-got +want):\n%s", diff)
			}
			s.Close()
			if files != 12 {
				t.Errorf("%d files of 6 outputs", files)
			}
			again := 0
			for p := range 6 {
				onLost := 0
				if count.on[fmt.Sprintf("map.0/%d", p)] == "local-0" {
					onLost = 1
				}
				n := 0
				for attempt := 1; attempt < 5; attempt++ {
					n += count.starts[fmt.Sprintf("map.%d/%d", attempt, p)]
				}
				if n != onLost {
					t.Errorf("map partition %d ran again %d times, want %d", p, n, onLost)
				}
				again += n
			}
			if again != 2 {
				t.Errorf("%d of 6 map tasks ran again, want 2", again)
			}
		})
	})
}

// TestRandomDamage damages blocks and files, and kills executors while they write, at random points inside
// tasks. Rows and delivery must be those of a run without. A failure prints its seed.
func TestRandomDamage(t *testing.T) {
	damaged := 0
	for seed := range uint64(60) {
		damaged += damageRun(t, seed)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if damaged < 100 {
		t.Errorf("only %d things were damaged", damaged)
	}
}

func damageRun(t *testing.T, seed uint64) (damaged int) {
	rng := rand.New(rand.NewPCG(seed, 3))
	opts := local.Options{Executors: 2, Slots: 2, Isolate: seed%2 == 0, Dir: t.TempDir(), Memory: []int64{1, 200, 400, 0}[rng.IntN(4)]}
	cluster := local.New(opts)
	s := scheduler.New(cluster, scheduler.Options{MaxStageFailures: 1000, MaxFailures: 1000})
	defer s.Close()
	level := []lineage.StorageLevel{diskOnly, {Memory: true, Disk: true}, {Memory: true, Deserialized: true}, {Memory: true, Replicas: 2}}[rng.IntN(4)]
	g := new(schedulertest.Graph)
	src, _ := evens(g)
	first := g.Shuffle("first", src, 3)
	second := g.Shuffle("second", first, 2)
	want := [][]int64{{}, {}}
	for k := range int64(3) {
		for r := range int64(40) {
			if r%3 == k {
				want[r%2] = append(want[r%2], r)
			}
		}
	}
	var mu sync.Mutex // guards rng, budget and damaged
	budget := 8
	hook := func(context.Context, lineage.Env, int) error {
		mu.Lock()
		defer mu.Unlock()
		if budget == 0 || rng.IntN(3) > 0 {
			return nil
		}
		budget--
		if rng.IntN(6) == 0 {
			if ids := cluster.Executors(); cluster.Kill(ids[rng.IntN(len(ids))]) {
				damaged++
			}
			cluster.Add()
		} else if cluster.Damage(rng) {
			damaged++
		}
		return nil
	}
	for _, n := range []*schedulertest.Node{src, first, second} {
		n.Hook = hook
	}
	keeping := lineage.Persistence{Level: level, Codec: schedulertest.Codec{}}
	for range 3 {
		job, result := schedulertest.Collect(second)
		job.Run = func(ctx context.Context, env lineage.Env, part int) (lineage.Block, error) {
			rows := []int64{}
			err := env.Persisted(ctx, lineage.NodeID{Ordinal: 99}, part, keeping, func(put func(lineage.Block) error) error {
				all, err := second.Rows(ctx, env, part)
				if err != nil {
					return err
				}
				for len(all) > 0 {
					n := min(7, len(all))
					if err := put(all[:n:n]); err != nil {
						return err
					}
					all = all[n:]
				}
				return nil
			}, func(b lineage.Block) error {
				rows = append(rows, b.([]int64)...)
				return nil
			})
			return rows, err
		}
		if err := s.Run(t.Context(), job); err != nil {
			t.Error(err)
			return damaged
		}
		if diff := cmp.Diff(result.Rows(), want); diff != "" {
			t.Errorf("rows (-got +want):\n%s", diff)
		}
		if diff := cmp.Diff(result.Times(), []int{1, 1}); diff != "" {
			t.Errorf("results per partition (-got +want):\n%s", diff)
		}
	}
	s.Close()
	if r, st := cluster.Memory(); r != 0 {
		t.Errorf("%d bytes stay reserved (%d stored)", r, st)
	}
	if names := entries(t, opts.Dir); len(names) > 0 {
		t.Errorf("%v is left", names)
	}
	return damaged
}

func TestMemoryOptions(t *testing.T) {
	if err := (local.Options{Memory: -1}).Validate(); err == nil {
		t.Error("negative memory was accepted")
	}
	s := scheduler.New(local.New(local.Options{Memory: 1 << 20, Executors: 4, Slots: 4, Dir: t.TempDir()}), scheduler.Options{})
	defer s.Close()
	g := new(schedulertest.Graph)
	src := g.Source("source", 32, func(part int) []int64 { // 4 MiB in all
		rows := make([]int64, 16<<10)
		for i := range rows {
			rows[i] = int64(i)
		}
		return rows
	})
	job, result := schedulertest.Collect(g.Shuffle("final", src, 8))
	if err := s.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	for r, rows := range result.Rows() {
		if len(rows) != 32*(16<<10)/8 {
			t.Errorf("reducer %d has %d rows", r, len(rows))
		}
	}
}

func TestCommitIsAskedOfTheScheduler(t *testing.T) {
	both(t, func(t *testing.T, opts local.Options) {
		s := scheduler.New(local.New(opts), scheduler.Options{})
		defer s.Close()
		job := emptyJob(3)
		job.Run = func(ctx context.Context, env lineage.Env, _ int) (lineage.Block, error) { return nil, env.Commit(ctx) }
		if err := s.Run(t.Context(), job); err != nil {
			t.Error(err)
		}
	})
}
