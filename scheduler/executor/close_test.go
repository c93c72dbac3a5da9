package executor_test

import (
	"context"
	"errors"
	"testing"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler/executor"
)

// An executor that is lost while tasks write: they end, and nothing is left or comes back.
func TestCloseWhileWriting(t *testing.T) {
	both(t, func(t *testing.T, isolate bool) {
		for at := range 8 {
			for _, memory := range []int64{0, 1, 20} {
				b := newBench(t, executor.Options{Isolate: isolate, Memory: memory})
				s := shuffleOf(1)
				puts := 0
				write := s.Write
				s.Write = func(ctx context.Context, env lineage.Env, part int, out lineage.Buckets) error {
					return write(ctx, env, part, closing{out, func() {
						if puts++; puts == at {
							if err := b.Close(); err != nil {
								t.Error(err)
							}
						}
					}})
				}
				b.write(t, s, 0)
				if maps, _ := b.Blocks(); at > 0 && maps != 0 {
					t.Errorf("closed at put %d with memory %d: the output is kept", at, memory)
				}
				for _, level := range []lineage.StorageLevel{memoryOnly, memoryAndDisk, diskOnly} {
					end := b.Run(t.Context(), task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
						return nil, persistedAt(ctx, env, 1, 0, level, func() {
							if at == 0 {
								_ = b.Close()
							}
						}, func([]int64) error { return nil })
					}))
					if _, n := b.Blocks(); n != 0 || len(end.Cached) > 0 {
						t.Errorf("%s: %d partitions are kept, reported %v", level, n, end.Cached)
					}
				}
				end := b.Run(t.Context(), task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) { return nil, second(env.Scratch()) }))
				var fe *executor.FileError
				if !errors.As(end.Err, &fe) {
					t.Errorf("a file was made: %v", end.Err)
				}
				if files := b.files(); len(files) > 0 {
					t.Errorf("files %v", files)
				}
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

type closing struct {
	lineage.Buckets
	before func()
}

func (c closing) Put(reduce int, b lineage.Block) error {
	c.before()
	return c.Buckets.Put(reduce, b)
}

// Errors of Put and put end a task that goes on regardless: what is missing would never be noticed.
func TestSwallowedErrors(t *testing.T) {
	both(t, func(t *testing.T, isolate bool) {
		b := newBench(t, executor.Options{Isolate: isolate, Memory: 1})
		b.FillDisk(60)
		s := shuffleOf(1)
		s.Write = func(_ context.Context, _ lineage.Env, _ int, out lineage.Buckets) error {
			for i := range int64(10) {
				_ = out.Put(0, []int64{i})
			}
			return nil
		}
		b.write(t, s, 0)
		if maps, _ := b.Blocks(); b.end.Err == nil || maps > 0 {
			t.Errorf("ended with %v, %d outputs", b.end.Err, maps)
		}
		stop := errors.New("stop")
		for _, put := range []lineage.Block{"text", []int64{1}} { // the first has no encoding
			end := b.Run(t.Context(), task(0, func(ctx context.Context, env lineage.Env) (lineage.Block, error) {
				return nil, env.Persisted(ctx, node, 0, kept, func(p func(lineage.Block) error) error {
					for range 3 {
						_ = p(put)
					}
					return nil
				}, func(b lineage.Block) error {
					if _, ok := b.(string); ok && !isolate {
						return nil
					}
					return stop
				})
			}))
			_, parts := b.Blocks()
			if fails := isolate || put != "text"; (end.Err != nil) != fails || parts > 0 {
				t.Errorf("%v: ended with %v, %d partitions", put, end.Err, parts)
			}
		}
	})
}
