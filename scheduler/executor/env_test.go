package executor_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/executor"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

func TestScratch(t *testing.T) {
	b := newBench(t, executor.Options{})
	for _, how := range []string{"closed", "left", "error", "panic", "goexit"} {
		t.Run(how, func(t *testing.T) {
			run := func() {
				b.end = b.Run(t.Context(), task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
					f, err := env.Scratch()
					if err != nil {
						return nil, err
					}
					if _, err := f.Write([]byte("hello")); err != nil {
						return nil, err
					}
					var got [5]byte
					if n, err := f.ReadAt(got[:4], 1); string(got[:n]) != "ello" || err != nil {
						t.Errorf("read %q, %v", got[:n], err)
					}
					if n, err := f.ReadAt(got[:], 1); n != 4 || err != io.EOF {
						t.Errorf("read %d bytes, %v", n, err)
					}
					if len(b.files()) != 1 || !env.Reserve(ctx, 10) {
						t.Errorf("files %v", b.files())
					}
					switch how {
					case "closed":
						if err := errors.Join(f.Close(), f.Close()); err != nil || len(b.files()) > 0 {
							t.Errorf("closed: %v, files %v", err, b.files())
						}
					case "error":
						return nil, errors.New("no")
					case "panic":
						panic("no")
					case "goexit":
						runtime.Goexit()
					}
					return nil, nil
				}))
			}
			b.end = nil
			var wg sync.WaitGroup
			wg.Go(run)
			wg.Wait()
			if len(b.files()) > 0 {
				t.Errorf("files %v are left", b.files())
			}
			if reserved, _ := b.Memory(); reserved != 0 {
				t.Errorf("%d bytes stay reserved", reserved)
			}
			if b.end != nil && b.end.Metrics.SpilledBytes != 5 {
				t.Errorf("%d bytes spilled", b.end.Metrics.SpilledBytes)
			}
		})
	}
	t.Run("a_full_disk_is_told", func(t *testing.T) {
		b.FillDisk(3)
		end := b.Run(t.Context(), task(0, func(_ context.Context, env lineage.Env) (lineage.Block, error) {
			f, err := env.Scratch()
			if err == nil {
				_, err = f.Write([]byte("hello"))
			}
			return nil, err
		}))
		var fe *executor.FileError
		if !errors.As(end.Err, &fe) || !strings.Contains(fe.Path, "scratch") {
			t.Errorf("got %v", end.Err)
		}
	})
}

func TestBroadcast(t *testing.T) {
	value := func(fetched *int, fail error) *lineage.Broadcast {
		return &lineage.Broadcast{ID: 3, Codec: schedulertest.Codec{}, Fetch: func(context.Context) ([]byte, error) {
			if *fetched++; *fetched == 1 && fail != nil {
				return nil, fail
			}
			return schedulertest.Codec{}.Encode([]int64{7})
		}}
	}
	read := func(t *testing.T, e *executor.Executor, v *lineage.Broadcast) (rows []int64, err error) {
		end := e.Run(t.Context(), task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
			b, err := env.Broadcast(ctx, v)
			if err == nil {
				rows = b.([]int64)
			}
			return nil, err
		}))
		return rows, end.Err
	}
	t.Run("B2_one_value_an_executor_until_B3_it_is_dropped", func(t *testing.T) {
		e := executor.New(executor.Options{ID: "a"})
		fetched := 0
		v := value(&fetched, nil)
		first, err := read(t, e, v)
		second, err2 := read(t, e, v)
		if err != nil || err2 != nil || fetched != 1 || !slices.Equal(first, []int64{7}) || &first[0] != &second[0] {
			t.Errorf("%v and %v, fetched %d times: %v, %v", first, second, fetched, err, err2)
		}
		e.Drop(lineage.Drop{Broadcasts: []lineage.BroadcastID{3}})
		if third, err := read(t, e, v); err != nil || fetched != 2 || third[0] != 7 {
			t.Errorf("%v after the drop, fetched %d times: %v", third, fetched, err)
		}
	})
	t.Run("errors_are_not_kept", func(t *testing.T) {
		e := executor.New(executor.Options{ID: "a"})
		fetched, lost := 0, errors.New("lost")
		v := value(&fetched, lost)
		if _, err := read(t, e, v); !errors.Is(err, lost) {
			t.Errorf("got %v", err)
		}
		if rows, err := read(t, e, v); err != nil || len(rows) != 1 {
			t.Errorf("%v, %v", rows, err)
		}
		v.ID, v.Codec = 4, refusing{}
		if _, err := read(t, e, v); !errors.Is(err, errDamaged) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("those_who_wait_try_again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := executor.New(executor.Options{ID: "a"})
			fetched := make(chan bool, 8)
			release := make(chan error)
			v := &lineage.Broadcast{ID: 1, Codec: schedulertest.Codec{}, Fetch: func(context.Context) ([]byte, error) {
				fetched <- true
				if err := <-release; err != nil {
					return nil, err
				}
				return schedulertest.Codec{}.Encode([]int64{7})
			}}
			var wg sync.WaitGroup
			failures := make(chan error, 4)
			for range 4 {
				wg.Go(func() {
					if _, err := read(t, e, v); err != nil {
						failures <- err
					}
				})
			}
			synctest.Wait()
			if len(fetched) != 1 {
				t.Errorf("%d tasks fetch at once", len(fetched))
			}
			release <- errors.New("no")
			synctest.Wait()
			release <- nil
			wg.Wait()
			if len(fetched) != 2 || len(failures) != 1 {
				t.Errorf("fetched %d times, %d failures, want 2 and 1", len(fetched), len(failures))
			}
		})
	})
}

func TestCommit(t *testing.T) {
	e := executor.New(executor.Options{ID: "a", MayCommit: func(id scheduler.TaskID) bool { return id != 1 }})
	for _, swallow := range []bool{false, true} {
		tk := task(4, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
			if err := env.Commit(ctx); !swallow {
				return nil, err
			}
			return nil, nil
		})
		tk.Attempt.Stage, tk.Attempt.Number = 2, 3
		err := e.Run(t.Context(), tk).Err
		for range 2 { // and again once it has crossed a border
			var denied *scheduler.CommitDeniedError
			if !errors.As(err, &denied) || *denied != (scheduler.CommitDeniedError{Stage: 2, Partition: 4, Attempt: 3}) || !scheduler.Retryable(err) {
				t.Errorf("got %v, want it denied", err)
			}
			err = scheduler.DecodeError(scheduler.EncodeError(err))
		}
		tk.ID = 2
		if end := e.Run(t.Context(), tk); end.Err != nil {
			t.Error(end.Err)
		}
	}
	open := executor.New(executor.Options{ID: "a"})
	if end := open.Run(t.Context(), task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) { return nil, env.Commit(ctx) })); end.Err != nil {
		t.Error(end.Err)
	}
}

func TestFileErrorsCrossBorders(t *testing.T) {
	codec := executor.FileErrorCodec()
	want := &executor.FileError{Path: "/a/b", Doing: "write", Err: io.ErrUnexpectedEOF}
	err := scheduler.DecodeError(scheduler.EncodeError(&scheduler.TaskError{Err: want}, codec), codec)
	var fe *executor.FileError
	if !errors.As(err, &fe) || fe.Error() != want.Error() || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v", err)
	}
	data, _ := codec.Encode(want)
	for i := range data {
		var ce *scheduler.CodecError
		if err := codec.Decode(data[:i]); !errors.As(err, &ce) && !errors.As(err, &fe) {
			t.Errorf("%d bytes: %v", i, err)
		}
	}
	if _, ok := codec.Encode(io.EOF); ok {
		t.Error("another error was encoded")
	}
}

func TestTimesAndResults(t *testing.T) {
	both(t, func(t *testing.T, isolate bool) {
		e := executor.New(executor.Options{ID: "a", Isolate: isolate})
		end := e.Run(t.Context(), task(0, func(context.Context, lineage.Env) (lineage.Block, error) { return []int64{1, 2}, nil }))
		want := int64(0)
		if isolate {
			want = 16
		}
		if m := end.Metrics; m.RunTime <= 0 || m.ResultBytes != want || (m.EncodeTime > 0) != isolate {
			t.Errorf("ran %d ns, result of %d bytes encoded in %d ns", m.RunTime, m.ResultBytes, m.EncodeTime)
		}
	})
}

// A task that waits for a partition another one makes does not keep that one waiting for its memory.
func TestWaitingForAPartitionDoesNotHoldUpItsMaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, executor.Options{Memory: 1000})
		claimed, holding := make(chan bool), make(chan bool)
		var wg sync.WaitGroup
		wg.Go(func() {
			b.Run(t.Context(), task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
				return nil, persistedAt(ctx, env, 1, 0, diskOnly, func() {
					close(claimed)
					<-holding
					env.Reserve(ctx, 250) // refused or not
				}, func([]int64) error { return nil })
			}))
		})
		wg.Go(func() {
			b.Run(t.Context(), task(1, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
				<-claimed
				if !env.Reserve(ctx, 900) {
					t.Error("refused")
				}
				close(holding)
				return nil, persistedAt(ctx, env, 1, 0, diskOnly, func() { t.Error("computed") }, func([]int64) error { return nil })
			}))
		})
		wg.Wait() // synctest reports it if both wait for ever
	})
}
