package executor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/executor"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

// shuffleOf returns a shuffle over 3 reducers whose map partition p puts blocks {100p+i} for i in turn: 4 blocks for
// reducer 0, none for 1, 4 for 2.
func shuffleOf(ordinal int32) *lineage.Shuffle {
	return &lineage.Shuffle{ID: lineage.ShuffleID{Node: lineage.NodeID{Ordinal: ordinal}}, NumReducers: 3, Codec: schedulertest.Codec{},
		Parent: new(schedulertest.Graph).Source("source", 9, nil),
		Write: func(_ context.Context, _ lineage.Env, part int, out lineage.Buckets) error {
			for i := range 8 {
				if err := out.Put(2*(i%2), []int64{int64(100*part + i)}); err != nil {
					return err
				}
			}
			return nil
		}}
}

// write runs a map task.
func (b *bench) write(t *testing.T, s *lineage.Shuffle, part int) scheduler.MapOutput {
	b.end = b.Run(t.Context(), &scheduler.Task{ID: scheduler.TaskID(part), Attempt: lineage.Attempt{Partition: part}, Shuffle: s})
	return scheduler.MapOutput{Executor: b.ID(), MapStatus: b.end.Status}
}

// fetch reads a bucket of outputs and returns its rows.
func (b *bench) fetch(ctx context.Context, s *lineage.Shuffle, reduce int, outputs ...scheduler.MapOutput) (rows []int64, err error) {
	tk := task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
		return nil, env.Fetch(ctx, s, reduce, func(_ int, b lineage.Block) error {
			rows = append(rows, b.([]int64)...)
			return nil
		})
	})
	tk.Inputs = []scheduler.Input{{Shuffle: s.ID, Maps: outputs}}
	b.end = b.Run(ctx, tk)
	return rows, b.end.Err
}

func (b *bench) wantFetch(t *testing.T, s *lineage.Shuffle, outputs ...scheduler.MapOutput) {
	t.Helper()
	for reduce := range 3 {
		var want []int64
		if reduce != 1 {
			for part := range outputs {
				for i := range int64(4) {
					want = append(want, 100*int64(part)+2*i+int64(reduce/2))
				}
			}
		}
		rows, err := b.fetch(t.Context(), s, reduce, outputs...)
		if diff := cmp.Diff(rows, want); diff != "" || err != nil {
			t.Errorf("reducer %d: %v (-got +want):\n%s", reduce, err, diff)
		}
	}
}

func TestOutputs(t *testing.T) {
	both(t, func(t *testing.T, isolate bool) {
		for memory := range int64(9) { // in words: so many blocks fit
			t.Run(fmt.Sprintf("blocks_in_memory=%d", memory), func(t *testing.T) {
				b := newBench(t, executor.Options{Isolate: isolate, Memory: max(8*memory, 1)})
				s := shuffleOf(1)
				out := b.write(t, s, 0)
				if b.end.Err != nil {
					t.Fatal(b.end.Err)
				}
				stored, files, least := int64(0), 2, int64(4*8+4*frameBytes)
				if memory == 8 {
					stored, files, least = 64, 0, 32
				}
				b.wantStored(t, stored)
				if got := len(b.files()); got != files {
					t.Errorf("files %v, want %d", b.files(), files)
				}
				if got := out.Sizes.Of(0); got < least || got > least*3/2 || out.Sizes.Has(1) || out.Sizes.Of(2) != got {
					t.Errorf("sizes %d, %d, %d, want about %d for both", got, out.Sizes.Of(1), out.Sizes.Of(2), least)
				}
				if got := b.end.Metrics.ShuffleBytes; got < 2*least || got > 3*least {
					t.Errorf("%d bytes written", got)
				}
				b.wantFetch(t, s, out)
				if m := b.end.Metrics; m.LocalBlocks != 4 || m.RemoteBlocks != 0 || m.FetchedBytes != 32 {
					t.Errorf("%d local and %d remote blocks of %d bytes", m.LocalBlocks, m.RemoteBlocks, m.FetchedBytes)
				}
				b.Drop(lineage.Drop{Shuffles: []lineage.ShuffleID{s.ID}})
				b.wantStored(t, 0)
				if left := b.files(); len(left) > 0 {
					t.Errorf("files %v are left", left)
				}
			})
		}
		t.Run("whose_buckets_come_in_order", func(t *testing.T) {
			for memory := range int64(9) {
				b := newBench(t, executor.Options{Isolate: isolate, Memory: max(8*memory, 1)})
				s := shuffleOf(1)
				s.Write = func(_ context.Context, _ lineage.Env, _ int, out lineage.Buckets) error {
					for i := range int64(8) {
						if err := out.Put(int(2*(i/4)), []int64{i%4*2 + i/4}); err != nil {
							return err
						}
					}
					return nil
				}
				b.wantFetch(t, s, b.write(t, s, 0))
				if memory < 8 && len(b.files()) != 2 {
					t.Errorf("files %v", b.files())
				}
			}
		})
		t.Run("a_failed_attempt_leaves_nothing", func(t *testing.T) {
			for _, how := range []string{"error", "panic"} {
				for _, memory := range []int64{0, 20} {
					b := newBench(t, executor.Options{Isolate: isolate, Memory: memory})
					s := shuffleOf(1)
					write := s.Write
					s.Write = func(ctx context.Context, env lineage.Env, part int, out lineage.Buckets) error {
						if err := write(ctx, env, part, out); err != nil {
							return err
						}
						if how == "panic" {
							panic("no")
						}
						return errors.New("no")
					}
					b.write(t, s, 0)
					if maps, _ := b.Blocks(); maps != 0 || b.end.Err == nil || len(b.files()) > 0 {
						t.Errorf("%d outputs, %v, files %v", maps, b.end.Err, b.files())
					}
					b.wantStored(t, 0)
				}
			}
		})
		t.Run("are_pushed_out_to_disk", func(t *testing.T) {
			b := newBench(t, executor.Options{Isolate: isolate, Memory: 240})
			s := shuffleOf(1)
			outs := []scheduler.MapOutput{b.write(t, s, 0), b.write(t, s, 1)}
			b.wantStored(t, 128)
			b.wantRead(t, 9, 0, memoryOnly, 1)
			b.wantStored(t, 240)
			if len(b.files()) != 4 || len(b.lost) > 0 {
				t.Errorf("files %v, lost %v", b.files(), b.lost)
			}
			b.wantFetch(t, s, outs...)
			b.wantRead(t, 9, 0, memoryOnly, 0)
		})
		t.Run("stay_when_they_cannot_be_written", func(t *testing.T) {
			b := newBench(t, executor.Options{Isolate: isolate, Memory: 240})
			b.FillDisk(10)
			s := shuffleOf(1)
			outs := []scheduler.MapOutput{b.write(t, s, 0), b.write(t, s, 1)}
			b.wantRead(t, 9, 0, memoryOnly, 1)
			b.wantFetch(t, s, outs...)
			b.wantStored(t, 128)
			if len(b.files()) > 0 {
				t.Errorf("files %v are left", b.files())
			}
		})
		t.Run("a_full_disk_is_told", func(t *testing.T) {
			s := shuffleOf(1)
			for left := 0; ; left += 5 {
				b := newBench(t, executor.Options{Isolate: isolate, Memory: 16})
				b.FillDisk(left)
				out := b.write(t, s, 0)
				if b.end.Err == nil {
					b.wantFetch(t, s, out)
					if left < 8*(8+frameBytes) {
						t.Errorf("%d bytes were enough", left)
					}
					break
				}
				var fe *executor.FileError
				if !errors.As(b.end.Err, &fe) || !errors.Is(b.end.Err, syscall.ENOSPC) || fe.Path == "" || !scheduler.Retryable(b.end.Err) {
					t.Fatalf("%d bytes left: %v", left, b.end.Err)
				}
				if len(b.files()) > 0 {
					t.Fatalf("%d bytes left: files %v", left, b.files())
				}
				if left > 10000 {
					t.Fatal("no disk is large enough")
				}
			}
		})
	})
}

func TestDamagedOutputs(t *testing.T) {
	both(t, func(t *testing.T, isolate bool) {
		for _, c := range []struct {
			name   string
			memory int64
		}{{"in_memory", 0}, {"on_disk", 1}} {
			t.Run("H9_"+c.name, func(t *testing.T) {
				s := shuffleOf(1)
				for seed := range uint64(40) {
					p := peers{}
					a := newBench(t, executor.Options{ID: "a", Isolate: isolate, Memory: c.memory, Peers: p})
					b := newBench(t, executor.Options{ID: "b", Isolate: isolate, Memory: c.memory, Peers: p})
					p["a"], p["b"] = a.Executor, b.Executor
					out := a.write(t, s, 0)
					if !a.Damage(rand.New(rand.NewPCG(seed, 2))) {
						t.Fatal("nothing to damage")
					}
					reader := []*bench{a, b}[seed%2]
					bad := 0
					for _, reduce := range []int{0, 2} {
						rows, err := reader.fetch(t.Context(), s, reduce, out)
						var fe *scheduler.FetchError
						switch {
						case err == nil && len(rows) != 4 || len(rows) > 0 && rows[0] != int64(reduce/2):
							t.Errorf("seed %d: rows %v of reducer %d", seed, rows, reduce)
						case err != nil && !errors.As(err, &fe):
							t.Errorf("seed %d: %v", seed, err)
						case err != nil:
							bad++
							if fe.Executor != "a" || fe.Map != 0 || fe.Reduce != reduce {
								t.Errorf("seed %d: %v", seed, fe)
							}
						}
					}
					if bad == 0 {
						t.Errorf("seed %d: nobody noticed", seed)
					}
				}
			})
		}
	})
}

// failing breaks off the first request for every bucket after so many blocks, with damage or without.
type failing struct {
	peers
	after    int
	damage   bool
	times    int
	requests int
}

func (f *failing) Bucket(ctx context.Context, from scheduler.ExecutorID, id lineage.ShuffleID, m, r, first int, yield func(executor.Held) error) error {
	f.requests++
	if f.requests > f.times {
		return f.peers.Bucket(ctx, from, id, m, r, first, yield)
	}
	n := 0
	return f.peers.Bucket(ctx, from, id, m, r, first, func(h executor.Held) error {
		if n++; n <= f.after {
			return yield(h)
		}
		if !f.damage {
			return errNotThere
		}
		h.Data = slices.Clone(h.Data)
		h.Data[0] ^= 1
		return yield(h)
	})
}

func TestRemoteBucketsAreAskedForTwice(t *testing.T) {
	for after := range 4 {
		for _, damage := range []bool{false, true} {
			t.Run(fmt.Sprintf("H9_after=%d_damage=%t", after, damage), func(t *testing.T) {
				s := shuffleOf(1)
				f := &failing{peers: peers{}, after: after, damage: damage, times: 1}
				a := newBench(t, executor.Options{ID: "a", Isolate: true})
				b := newBench(t, executor.Options{ID: "b", Isolate: true, Peers: f})
				f.peers["a"] = a.Executor
				out := a.write(t, s, 0)
				rows, err := b.fetch(t.Context(), s, 2, out)
				if !slices.Equal(rows, []int64{1, 3, 5, 7}) || err != nil || f.requests != 2 {
					t.Errorf("rows %v, %v, %d requests", rows, err, f.requests)
				}
				if m := b.end.Metrics; m.RemoteBlocks != 4 || m.LocalBlocks != 0 || m.WaitTime <= 0 {
					t.Errorf("%d remote and %d local blocks, waited %d", m.RemoteBlocks, m.LocalBlocks, m.WaitTime)
				}
				f.requests, f.times, f.after = 0, 2, min(after, 1)
				_, err = b.fetch(t.Context(), s, 2, out)
				var fe *scheduler.FetchError
				if !errors.As(err, &fe) || f.requests != 2 {
					t.Errorf("got %v after %d requests", err, f.requests)
				}
			})
		}
	}
}

func TestEmptyAnswersAreFetchFailures(t *testing.T) {
	both(t, func(t *testing.T, isolate bool) {
		for _, memory := range []int64{0, 1} {
			b := newBench(t, executor.Options{Isolate: isolate, Memory: memory})
			s := shuffleOf(1)
			out := b.write(t, s, 0)
			out.Sizes = scheduler.SizesOf([]int64{1, 1, 1})
			var fe *scheduler.FetchError
			if _, err := b.fetch(t.Context(), s, 1, out); !errors.As(err, &fe) {
				t.Errorf("H8: got %v", err)
			}
		}
	})
}

// A bucket of many times the memory streams: a reader never holds more than a block.
func TestLargeBucketsStream(t *testing.T) {
	const rows, blocks = 1000, 64
	s := shuffleOf(1)
	s.NumReducers = 1
	s.Write = func(_ context.Context, _ lineage.Env, _ int, out lineage.Buckets) error {
		for i := range blocks {
			b := make([]int64, rows)
			b[0] = int64(i)
			if err := out.Put(0, b); err != nil {
				return err
			}
		}
		return nil
	}
	b := newBench(t, executor.Options{Memory: 20 * rows})
	out := b.write(t, s, 0)
	b.wantStored(t, 0)
	got, err := b.fetch(t.Context(), s, 0, out)
	if err != nil || len(got) != rows*blocks || got[rows*(blocks-1)] != blocks-1 {
		t.Errorf("%d rows, %v", len(got), err)
	}
}
