package executor_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/executor"
)

func TestDamagedPartition(t *testing.T) {
	both(t, func(t *testing.T, isolate bool) {
		t.Run("C26", func(t *testing.T) {
			b := newBench(t, executor.Options{Isolate: isolate})
			for part := range 2 {
				b.wantRead(t, 1, part, diskOnly, 1)
			}
			for _, f := range b.files() {
				if err := os.Remove(f); err != nil {
					t.Fatal(err)
				}
			}
			for part := range 2 {
				_, computed, err := b.read(t.Context(), 1, part, diskOnly)
				var fe *executor.FileError
				if computed != 0 || !errors.As(err, &fe) || !errors.Is(err, os.ErrNotExist) || !scheduler.Retryable(err) {
					t.Errorf("got %v, computed %d times; want an error about the file, to be tried again", err, computed)
				}
				b.wantRead(t, 1, part, diskOnly, 1)
				b.wantRead(t, 1, part, diskOnly, 0)
			}
			if len(b.lost) != 2 {
				t.Errorf("lost %v", b.lost)
			}
		})
		t.Run("S12_however_it_is_damaged", func(t *testing.T) {
			for seed := range uint64(60) {
				rng := rand.New(rand.NewPCG(seed, 1))
				b := newBench(t, executor.Options{Isolate: isolate})
				level := []lineage.StorageLevel{diskOnly, memoryOnly}[seed%2]
				b.wantRead(t, 1, 0, level, 1)
				if !b.Damage(rng) {
					t.Fatal("nothing to damage")
				}
				rows, computed, err := b.read(t.Context(), 1, 0, level)
				switch {
				case err == nil && computed == 1: // it was removed from memory
				case err == nil:
					t.Errorf("seed %d: nobody noticed", seed)
				case !scheduler.Retryable(err) || len(b.lost) != 1 || computed != 0 || len(rows) > 20:
					t.Errorf("seed %d: %v; lost %v, computed %d times, %d rows", seed, err, b.lost, computed, len(rows))
				}
				b.wantRead(t, 1, 0, level, min(len(b.lost), 1))
			}
		})
	})
}

func TestReplicas(t *testing.T) {
	both(t, func(t *testing.T, isolate bool) {
		for _, level := range []lineage.StorageLevel{memoryOnly, diskOnly} {
			level.Replicas = 2
			t.Run(level.String(), func(t *testing.T) {
				p := peers{}
				a := newBench(t, executor.Options{ID: "a", Isolate: isolate, Peers: p})
				full := newBench(t, executor.Options{ID: "b", Isolate: isolate, Peers: p, Memory: 1})
				c := newBench(t, executor.Options{ID: "c", Isolate: isolate, Peers: p})
				p["a"], p["b"], p["c"] = a.Executor, full.Executor, c.Executor
				a.wantRead(t, 1, 0, level, 1)
				other := c
				if !level.Memory { // then there is room on b
					other = full
				}
				want := []scheduler.CachedBlock{{BlockID: scheduler.BlockID{Node: lineage.NodeID{Ordinal: 1}},
					Executors: []scheduler.ExecutorID{"a", other.ID()}}}
				if diff := cmp.Diff(a.end.Cached, want); diff != "" {
					t.Errorf("holders (-got +want):\n%s", diff)
				}
				other.wantRead(t, 1, 0, level, 0)
				// Another executor reads the copy when the first one is gone.
				a.Clear()
				third := newBench(t, executor.Options{ID: "d", Isolate: isolate, Peers: p})
				ask := task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
					var rows []int64
					err := persistedAt(ctx, env, 1, 0, level, func() { t.Error("computed") }, func(r []int64) error {
						rows = append(rows, r...)
						return nil
					})
					if !slices.Equal(rows, slices.Concat(pieces()...)) {
						t.Errorf("rows %v", rows)
					}
					return nil, err
				})
				ask.Cached = want
				if end := third.Run(t.Context(), ask); end.Err != nil || len(end.Cached) > 0 {
					t.Errorf("%v, kept %v", end.Err, end.Cached)
				}
			})
		}
	})
}
