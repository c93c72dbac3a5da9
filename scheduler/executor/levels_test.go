package executor_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/executor"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

var (
	memoryOnly    = lineage.StorageLevel{Memory: true, Deserialized: true}
	memoryOnlySer = lineage.StorageLevel{Memory: true}
	memoryAndDisk = lineage.StorageLevel{Memory: true, Disk: true, Deserialized: true}
	memoryDiskSer = lineage.StorageLevel{Memory: true, Disk: true}
	diskOnly      = lineage.StorageLevel{Disk: true}
)

// frameBytes is what a block on disk takes besides its bytes.
const frameBytes = 16

// A bench is an executor, its files, and what it has lost.
type bench struct {
	*executor.Executor
	dir  string
	lost []scheduler.BlockID
	end  *scheduler.TaskEnd // the last one
}

func newBench(t *testing.T, opts executor.Options) *bench {
	b := &bench{dir: filepath.Join(t.TempDir(), "files")}
	if opts.ID == "" {
		opts.ID = "a"
	}
	opts.Folder = func() (string, error) { return b.dir, os.Mkdir(b.dir, 0o700) }
	opts.Lost = func(blocks []scheduler.BlockID) { b.lost = append(b.lost, blocks...) }
	b.Executor = executor.New(opts)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
		if reserved, stored := b.Memory(); reserved != 0 || stored != 0 {
			t.Errorf("%d bytes reserved and %d stored are left", reserved, stored)
		}
		if _, err := os.Stat(b.dir); !errors.Is(err, os.ErrNotExist) {
			t.Error("the folder is left")
		}
	})
	return b
}

func (b *bench) files() []string {
	names, _ := filepath.Glob(filepath.Join(b.dir, "*"))
	return names
}

// pieces are 3 blocks of 10 rows, 240 bytes in all.
func pieces() [][]int64 {
	out := make([][]int64, 3)
	for i := range 30 {
		out[i/10] = append(out[i/10], int64(i))
	}
	return out
}

// read reads a partition in a task of its own and returns its rows and how often it was computed.
func (b *bench) read(ctx context.Context, node int32, part int, level lineage.StorageLevel) (rows []int64, computed int, err error) {
	b.end = b.Run(ctx, task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
		return nil, persistedAt(ctx, env, node, part, level, func() { computed++ }, func(r []int64) error {
			rows = append(rows, r...)
			return nil
		})
	}))
	return rows, computed, b.end.Err
}

func persistedAt(ctx context.Context, env lineage.Env, node int32, part int, level lineage.StorageLevel, computing func(), yield func([]int64) error) error {
	return env.Persisted(ctx, lineage.NodeID{Ordinal: node}, part, lineage.Persistence{Level: level, Codec: schedulertest.Codec{}},
		func(put func(lineage.Block) error) error {
			computing()
			for _, p := range pieces() {
				if err := put(p); err != nil {
					return err
				}
			}
			return nil
		}, func(b lineage.Block) error { return yield(b.([]int64)) })
}

// wantRead reads a partition and checks the rows and whether it was computed.
func (b *bench) wantRead(t *testing.T, node int32, part int, level lineage.StorageLevel, computed int) {
	t.Helper()
	rows, n, err := b.read(t.Context(), node, part, level)
	if diff := cmp.Diff(rows, slices.Concat(pieces()...)); diff != "" || err != nil {
		t.Errorf("rows of partition %d of %d: %v (-got +want):\n%s", part, node, err, diff)
	}
	if n != computed {
		t.Errorf("partition %d of %d was computed %d times, want %d", part, node, n, computed)
	}
}

func (b *bench) wantStored(t *testing.T, want int64) {
	t.Helper()
	if _, stored := b.Memory(); stored != want {
		t.Errorf("%d bytes are stored, want %d", stored, want)
	}
}

func both(t *testing.T, f func(t *testing.T, isolate bool)) {
	for _, isolate := range []bool{false, true} {
		t.Run(fmt.Sprintf("isolate=%t", isolate), func(t *testing.T) { f(t, isolate) })
	}
}

func TestLevels(t *testing.T) {
	both(t, func(t *testing.T, isolate bool) {
		for _, c := range []struct {
			level  lineage.StorageLevel
			memory int64
			again  int // computations when it is read again
			stored int64
			files  int
		}{
			{memoryOnly, 0, 0, 240, 0},
			{memoryOnly, 240, 0, 240, 0},
			{memoryOnly, 239, 1, 0, 0},
			{memoryOnly, 1, 1, 0, 0},
			{memoryOnlySer, 0, 0, 240, 0},
			{memoryOnlySer, 100, 1, 0, 0},
			{memoryAndDisk, 0, 0, 240, 0},
			{memoryAndDisk, 239, 0, 0, 1},
			{memoryAndDisk, 1, 0, 0, 1},
			{memoryDiskSer, 0, 0, 240, 0},
			{memoryDiskSer, 100, 0, 0, 1},
			{diskOnly, 0, 0, 0, 1},
			{diskOnly, 1, 0, 0, 1},
		} {
			t.Run(fmt.Sprintf("%s/memory=%d", c.level, c.memory), func(t *testing.T) {
				b := newBench(t, executor.Options{Isolate: isolate, Memory: c.memory})
				b.wantRead(t, 1, 0, c.level, 1)
				kept, m := len(b.end.Cached), b.end.Metrics
				if kept != 1-c.again || m.KeptPartitions != int64(kept) || m.KeptFailed != int64(c.again) {
					t.Errorf("reported %v, kept %d and failed %d", b.end.Cached, m.KeptPartitions, m.KeptFailed)
				}
				b.wantStored(t, c.stored)
				if got := len(b.files()); got != c.files {
					t.Errorf("%d files, want %d", got, c.files)
				}
				b.wantRead(t, 1, 0, c.level, c.again)
				b.Drop(lineage.Drop{Nodes: []lineage.NodeID{{Ordinal: 1}}})
				b.wantStored(t, 0)
				if left := b.files(); len(left) > 0 || len(b.lost) > 0 {
					t.Errorf("dropped: files %v, lost %v", left, b.lost)
				}
			})
		}
	})
}

func TestEvict(t *testing.T) {
	both(t, func(t *testing.T, isolate bool) {
		t.Run("C27", func(t *testing.T) {
			b := newBench(t, executor.Options{Isolate: isolate, Memory: 2 * 240})
			b.wantRead(t, 1, 0, memoryOnly, 1)
			b.wantRead(t, 1, 1, memoryOnly, 1)
			b.wantRead(t, 1, 2, memoryOnly, 1) // not stored, evicts nothing
			if len(b.end.Cached) > 0 || len(b.lost) > 0 {
				t.Errorf("the third was kept as %v, lost %v", b.end.Cached, b.lost)
			}
			b.wantRead(t, 1, 1, memoryOnly, 0)
			b.wantRead(t, 1, 0, memoryOnly, 0) // so that 1 is the least recently used
			b.wantRead(t, 2, 0, memoryOnly, 1)
			if diff := cmp.Diff(b.lost, []scheduler.BlockID{{Node: lineage.NodeID{Ordinal: 1}, Part: 1}}); diff != "" {
				t.Errorf("lost (-got +want):\n%s", diff)
			}
			if m := b.end.Metrics; m.EvictedBlocks != 1 || m.EvictedBytes != 240 {
				t.Errorf("%d blocks of %d bytes were evicted", m.EvictedBlocks, m.EvictedBytes)
			}
			b.wantRead(t, 1, 0, memoryOnly, 0)
			b.wantRead(t, 2, 0, memoryOnly, 0)
			b.wantRead(t, 1, 1, memoryOnly, 1)
		})
		t.Run("S7_to_disk_and_S6_back", func(t *testing.T) {
			b := newBench(t, executor.Options{Isolate: isolate, Memory: 300})
			b.wantRead(t, 1, 0, memoryAndDisk, 1)
			b.wantRead(t, 2, 0, memoryOnly, 1)
			b.wantStored(t, 240)
			if len(b.files()) != 1 || len(b.lost) > 0 {
				t.Errorf("files %v, lost %v", b.files(), b.lost)
			}
			b.wantRead(t, 1, 0, memoryAndDisk, 0)
			b.wantRead(t, 2, 0, memoryOnly, 0) // was not pushed out by the one that was read
			b.Drop(lineage.Drop{Nodes: []lineage.NodeID{{Ordinal: 2}}})
			b.wantStored(t, 0)
			b.wantRead(t, 1, 0, memoryAndDisk, 0)
			b.wantStored(t, 240)
			if err := os.RemoveAll(b.files()[0]); err != nil {
				t.Fatal(err)
			}
			b.wantRead(t, 1, 0, memoryAndDisk, 0) // which is in memory now
		})
		t.Run("all_or_nothing", func(t *testing.T) {
			b := newBench(t, executor.Options{Isolate: isolate, Memory: 500})
			b.wantRead(t, 1, 0, memoryOnly, 1)
			b.wantRead(t, 2, 0, memoryOnly, 1)
			b.Run(t.Context(), task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
				if !env.Reserve(ctx, 20) {
					t.Error("refused")
				}
				// Each of its pieces finds room; the last one only if both others go.
				big := func(put func(lineage.Block) error) error {
					for range 61 {
						if err := put([]int64{1}); err != nil {
							return err
						}
					}
					return nil
				}
				return nil, env.Persisted(ctx, lineage.NodeID{Ordinal: 3}, 0,
					lineage.Persistence{Level: memoryOnly, Codec: schedulertest.Codec{}}, big, func(lineage.Block) error { return nil })
			}))
			if got := len(b.lost); got != 2 { // 480 of 500 less 20: all had to go before there was no room
				t.Errorf("%d blocks were lost", got)
			}
			b.wantStored(t, 0)
			if !b.Holds(scheduler.BlockID{Node: lineage.NodeID{Ordinal: 3}}) {
				b.wantRead(t, 1, 0, memoryOnly, 1)
			}
			whole := task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
				return nil, env.Persisted(ctx, lineage.NodeID{Ordinal: 4}, 0,
					lineage.Persistence{Level: memoryOnly, Codec: schedulertest.Codec{}},
					func(put func(lineage.Block) error) error { return put(make([]int64, 63)) }, func(lineage.Block) error { return nil })
			})
			b.lost = nil
			b.Run(t.Context(), whole)
			if len(b.lost) > 0 {
				t.Error("a block was evicted for one that has no room anyway")
			}
		})
		t.Run("never_what_is_being_read", func(t *testing.T) {
			b := newBench(t, executor.Options{Isolate: isolate, Memory: 300})
			b.wantRead(t, 1, 0, memoryOnly, 1)
			end := b.Run(t.Context(), task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
				return nil, persistedAt(ctx, env, 1, 0, memoryOnly, func() { t.Error("computed") }, func([]int64) error {
					return persistedAt(ctx, env, 2, 0, memoryOnly, func() {}, func([]int64) error { return nil })
				})
			}))
			if end.Err != nil || len(end.Cached) != 1 || end.Cached[0].Node.Ordinal != 1 || len(b.lost) > 0 {
				t.Errorf("%v; kept %v, lost %v", end.Err, end.Cached, b.lost)
			}
			b.wantRead(t, 2, 0, memoryOnly, 1)
			b.wantRead(t, 1, 0, memoryOnly, 1)
		})
		t.Run("for_a_task_down_to_half", func(t *testing.T) {
			b := newBench(t, executor.Options{Isolate: isolate, Memory: 1000})
			for part := range 4 {
				b.wantRead(t, 1, part, memoryAndDisk, 1)
			}
			end := b.Run(t.Context(), task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
				if !env.Reserve(ctx, 500) {
					t.Error("refused")
				}
				if env.Reserve(ctx, 200) {
					t.Error("blocks were evicted below half")
				}
				return nil, nil
			}))
			if _, stored := b.Memory(); stored != 480 || len(b.files()) != 2 || len(b.lost) > 0 {
				t.Errorf("%d bytes are stored, files %v, lost %v", stored, b.files(), b.lost)
			}
			if end.Metrics.PeakMemory != 500 {
				t.Errorf("peak %d", end.Metrics.PeakMemory)
			}
		})
		t.Run("with_a_broken_disk", func(t *testing.T) {
			b := newBench(t, executor.Options{Isolate: isolate, Memory: 300})
			b.FillDisk(100)
			b.wantRead(t, 1, 0, memoryAndDisk, 1)
			b.wantRead(t, 2, 0, memoryAndDisk, 1)
			if len(b.lost) != 1 {
				t.Errorf("lost %v", b.lost)
			}
			b.wantRead(t, 1, 0, memoryOnly, 1)
		})
	})
}

// A partition that is handed on is not kept, whatever the reader does, and nobody waits for the reader.
func TestNoRoom(t *testing.T) {
	both(t, func(t *testing.T, isolate bool) {
		t.Run("S5_an_early_end", func(t *testing.T) {
			b := newBench(t, executor.Options{Isolate: isolate, Memory: 100})
			stop := errors.New("stop")
			seen := 0
			end := b.Run(t.Context(), task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
				err := persistedAt(ctx, env, 1, 0, memoryOnly, func() {}, func([]int64) error {
					if seen++; seen == 2 {
						return stop
					}
					return nil
				})
				if err != stop {
					t.Errorf("got %v, want the reader's error as it is", err)
				}
				return nil, nil
			}))
			if end.Err != nil || seen != 2 || len(end.Cached) > 0 {
				t.Errorf("%v, %d blocks seen, kept %v", end.Err, seen, end.Cached)
			}
			b.wantStored(t, 0)
			b.wantRead(t, 1, 0, memoryOnly, 1)
		})
		t.Run("S4_those_who_wait_compute", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, executor.Options{Isolate: isolate, Memory: 100})
				var wg sync.WaitGroup
				computed := make(chan bool, 8)
				release := make(chan bool)
				for i := range 2 {
					wg.Go(func() {
						end := b.Run(t.Context(), task(i, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
							return nil, persistedAt(ctx, env, 1, 0, memoryOnly, func() { computed <- true }, func([]int64) error {
								<-release
								return nil
							})
						}))
						if end.Err != nil {
							t.Error(end.Err)
						}
					})
				}
				synctest.Wait()
				if len(computed) != 2 {
					t.Error("the second task waits for what the first makes of it")
				}
				close(release)
				wg.Wait()
			})
		})
		t.Run("on_a_full_disk_neither", func(t *testing.T) {
			for left := 0; left < 3*96+frameBytes; left += 7 { // the partition takes that much and its end
				b := newBench(t, executor.Options{Isolate: isolate, Memory: 100})
				b.FillDisk(left)
				b.wantRead(t, 1, 0, memoryAndDisk, 1)
				b.wantRead(t, 2, 0, diskOnly, 1)
				b.wantStored(t, 0)
				if left := b.files(); len(left) > 0 || len(b.end.Cached) > 0 {
					t.Fatalf("files %v, kept %v", left, b.end.Cached)
				}
			}
		})
	})
	t.Run("SER_is_encoded_when_memory_is_short", func(t *testing.T) {
		b := newBench(t, executor.Options{Memory: 100})
		short := lineage.Persistence{Level: memoryOnlySer, Codec: wide{}}
		read := func() (computed int) {
			end := b.Run(t.Context(), task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
				rows := 0
				err := env.Persisted(ctx, node, 0, short, func(put func(lineage.Block) error) error {
					computed++
					for range 3 {
						if err := put([]int64{1, 2, 3}); err != nil {
							return err
						}
					}
					return nil
				}, func(b lineage.Block) error { rows += len(b.([]int64)); return nil })
				if rows != 9 {
					t.Errorf("%d rows", rows)
				}
				return nil, err
			}))
			if end.Err != nil {
				t.Error(end.Err)
			}
			return computed
		}
		if read() != 1 || read() != 0 {
			t.Error("it was not kept")
		}
		b.wantStored(t, 72)
	})
}

// wide is a codec of blocks that take ten times as much in memory.
type wide struct{ schedulertest.Codec }

func (wide) Size(b lineage.Block) int64 { return 10 * schedulertest.Codec{}.Size(b) }
