package local_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

func TestErrorsOfTasks(t *testing.T) {
	both(t, func(t *testing.T, opts local.Options) {
		for _, c := range []struct {
			name     string
			hook     func() error
			attempts int32
			check    func(err error) bool
		}{
			{"plain_errors_are_retried", func() error { return context.DeadlineExceeded }, 4,
				func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }},
			{"panics_are_retried", func() error { panic("boom") }, 4,
				func(err error) bool {
					var te *scheduler.TaskError
					return errors.As(err, &te) && te.Stack != "" && te.Op == "source" && te.Partition == 1 && te.Attempt == 3
				}},
			{"permanent_errors_are_not", func() error { return &scheduler.CodecError{Doing: "x"} }, 1,
				func(err error) bool { var ce *scheduler.CodecError; return errors.As(err, &ce) }},
			{"ended_goroutines_are_retried", func() error { runtime.Goexit(); return nil }, 4,
				func(err error) bool { var te *scheduler.TaskError; return errors.As(err, &te) }},
		} {
			t.Run(c.name, func(t *testing.T) {
				s := scheduler.New(local.New(opts), scheduler.Options{})
				defer s.Close()
				src := new(schedulertest.Graph).Source("source", 2, func(int) []int64 { return nil })
				var attempts atomic.Int32
				src.Hook = func(ctx context.Context, env lineage.Env, part int) error {
					if part == 0 {
						return nil
					}
					attempts.Add(1)
					return c.hook()
				}
				job, _ := schedulertest.Collect(src)
				err := s.Run(t.Context(), job)
				var je *scheduler.JobError
				if !errors.As(err, &je) || je.Name != "collect" || !c.check(err) {
					t.Errorf("got %v", err)
				}
				if got := attempts.Load(); got != c.attempts {
					t.Errorf("%d attempts, want %d", got, c.attempts)
				}
			})
		}
	})
}

func TestIsolateNeedsCodecs(t *testing.T) {
	for _, c := range []struct {
		name string
		job  func(g *schedulertest.Graph) lineage.Job
	}{
		{"result", func(g *schedulertest.Graph) lineage.Job {
			src, _ := evens(g)
			job, _ := schedulertest.Collect(src)
			job.Codec = nil
			return job
		}},
		{"bucket", func(g *schedulertest.Graph) lineage.Job {
			src, _ := evens(g)
			final := g.Shuffle("final", src, 2)
			final.ShuffleOf().Codec = nil
			job, _ := schedulertest.Collect(final)
			return job
		}},
		{"value_of_another_type", func(g *schedulertest.Graph) lineage.Job {
			src, _ := evens(g)
			job, _ := schedulertest.Collect(src)
			job.Run = func(context.Context, lineage.Env, int) (lineage.Block, error) { return "text", nil }
			return job
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			count := newTally()
			s := scheduler.New(local.New(local.Options{Isolate: true, Slots: 1}),
				scheduler.Options{Listeners: []scheduler.Listener{count.listener()}})
			defer s.Close()
			var ce *scheduler.CodecError
			if err := s.Run(t.Context(), c.job(new(schedulertest.Graph))); !errors.As(err, &ce) {
				t.Errorf("got %v, want a codec error", err)
			}
			s.Close()
			for task, n := range count.starts {
				if n != 1 {
					t.Errorf("%s was tried %d times", task, n)
				}
			}
		})
	}
	t.Run("nothing_needs_no_codec", func(t *testing.T) {
		s := scheduler.New(local.New(local.Options{Isolate: true}), scheduler.Options{})
		defer s.Close()
		if err := s.Run(t.Context(), emptyJob(3)); err != nil {
			t.Error(err)
		}
	})
}

type colorError struct{ color string }

func (e *colorError) Error() string { return "wrong color " + e.color }

func TestErrorCodecsCarryOtherPackagesErrors(t *testing.T) {
	codec := scheduler.ErrorCodec{
		Kind: "color",
		Encode: func(err error) ([]byte, bool) {
			if e, ok := err.(*colorError); ok {
				return []byte(e.color), true
			}
			return nil, false
		},
		Decode: func(data []byte) error { return &colorError{string(data)} },
	}
	s := scheduler.New(local.New(local.Options{Isolate: true, ErrorCodecs: []scheduler.ErrorCodec{codec}}), scheduler.Options{})
	defer s.Close()
	src := new(schedulertest.Graph).Source("source", 1, nil)
	src.Hook = func(context.Context, lineage.Env, int) error { return fmt.Errorf("paint: %w", &colorError{"red"}) }
	job, _ := schedulertest.Collect(src)
	var ce *colorError
	if err := s.Run(t.Context(), job); !errors.As(err, &ce) || ce.color != "red" {
		t.Errorf("got %v, want the color error", err)
	}
}
