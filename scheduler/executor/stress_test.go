package executor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/executor"
)

// TestManyTasks lets tasks of all kinds use one small executor at once, while blocks are dropped under them:
// whatever they read is right, and nothing is left.
func TestManyTasks(t *testing.T) {
	both(t, func(t *testing.T, isolate bool) {
		for _, memory := range []int64{1, 500, 3000, 0} {
			t.Run(fmt.Sprintf("memory=%d", memory), func(t *testing.T) {
				b := executor.New(executor.Options{ID: "a", Isolate: isolate, Memory: memory, Folder: func() (string, error) { return t.TempDir(), nil },
					Lost: func([]scheduler.BlockID) {}})
				levels := []lineage.StorageLevel{memoryOnly, memoryOnlySer, memoryAndDisk, memoryDiskSer, diskOnly}
				want := slices.Concat(pieces()...)
				var wg sync.WaitGroup
				for w := range 6 {
					wg.Go(func() {
						rng := rand.New(rand.NewPCG(uint64(w), 5))
						own := &bench{Executor: b}
						for i := range 60 {
							node := int32(rng.IntN(5))
							switch rng.IntN(6) {
							case 0, 1: // a kept partition, with memory of its own
								var rows []int64
								end := b.Run(t.Context(), task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
									defer env.Release(10)
									env.Reserve(ctx, int64(rng.IntN(700)))
									return nil, persistedAt(ctx, env, node, rng.IntN(3), levels[node], func() {}, func(r []int64) error {
										rows = append(rows, r...)
										return nil
									})
								}))
								if end.Err != nil || !slices.Equal(rows, want) {
									t.Errorf("%s: %v, rows %v", levels[node], end.Err, rows)
								}
							case 2, 3: // a shuffle of this worker's own
								s := shuffleOf(int32(100*w + i))
								outs := []scheduler.MapOutput{own.write(t, s, 0), own.write(t, s, 1)}
								rows, err := own.fetch(t.Context(), s, 2, outs...)
								if err != nil || !slices.Equal(rows, []int64{1, 3, 5, 7, 101, 103, 105, 107}) {
									t.Errorf("%v, rows %v", err, rows)
								}
								if rng.IntN(2) == 0 {
									b.Drop(lineage.Drop{Shuffles: []lineage.ShuffleID{s.ID}})
								}
							case 4:
								b.Drop(lineage.Drop{Nodes: []lineage.NodeID{{Ordinal: node}}})
							case 5: // an early end
								stop := errors.New("stop")
								end := b.Run(t.Context(), task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
									if err := persistedAt(ctx, env, node, rng.IntN(3), levels[node], func() {}, func([]int64) error { return stop }); err != stop {
										t.Errorf("got %v", err)
									}
									return nil, nil
								}))
								if end.Err != nil {
									t.Error(end.Err)
								}
							}
						}
					})
				}
				wg.Wait()
				if reserved, stored := b.Memory(); reserved != 0 || memory > 0 && stored > memory {
					t.Errorf("%d bytes reserved, %d stored of %d", reserved, stored, memory)
				}
				b.Drop(lineage.Drop{Scopes: []lineage.Scope{{}}})
				if reserved, stored := b.Memory(); reserved != 0 || stored != 0 {
					t.Errorf("%d bytes reserved and %d stored are left", reserved, stored)
				}
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	})
}
