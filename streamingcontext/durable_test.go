package streamingcontext_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

// survivor is a program whose batches outlive its processes, driven by hand.
type survivor struct {
	t         *testing.T
	dir       string
	clock     *streamingcontext.ManualClock
	configure func(*streamingcontext.Options) // nil changes nothing
	declare   func(ssc *streamingcontext.Context) error
	ssc       *streamingcontext.Context
}

func survive(t *testing.T, declare func(ssc *streamingcontext.Context) error) *survivor {
	return &survivor{t: t, dir: t.TempDir(), clock: new(streamingcontext.ManualClock), declare: declare}
}

// try starts a process.
func (s *survivor) try() error {
	ssc, err := s.create()
	if err != nil {
		return err
	}
	return ssc.Start(s.t.Context())
}

// create makes the context of a process.
func (s *survivor) create() (*streamingcontext.Context, error) {
	opts := streamingcontext.Options{Interval: time.Second, Clock: s.clock, RepeatLast: true, StopTimeout: -1,
		EngineOptions: streamingcontext.EngineOptions{Cores: 2}}
	if s.configure != nil {
		s.configure(&opts)
	}
	ssc, err := streamingcontext.GetOrCreate(s.dir, opts, s.declare)
	if err != nil {
		return nil, err
	}
	s.ssc = ssc
	s.t.Cleanup(s.stop)
	return ssc, nil
}

func (s *survivor) start() {
	s.t.Helper()
	if err := s.try(); err != nil {
		s.t.Fatal(err)
	}
}

// advance makes n batches.
func (s *survivor) advance(n int) {
	s.t.Helper()
	for range n {
		s.clock.Advance(s.ssc.Interval().Milliseconds())
		s.settled()
	}
}

// settled waits until the batches up to now have ended.
func (s *survivor) settled() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	if err := s.ssc.Settled(ctx, dstream.Time(s.clock.Now()).Floor(s.ssc.Interval(), 0)); err != nil {
		s.t.Fatal(err)
	}
}

// stop ends the process at once.
func (s *survivor) stop() {
	s.t.Helper()
	if err := s.ssc.Stop(context.WithoutCancel(s.t.Context()), streamingcontext.StopOptions{}); err != nil {
		s.t.Error(err)
	}
}

// killed goes on with what is on the disk at this moment, as after the end of the process at this very instruction.
func (s *survivor) killed() {
	s.t.Helper()
	dir := s.t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(s.dir)); err != nil {
		s.t.Fatal(err)
	}
	s.stop()
	s.dir = dir
}

// seen is what outputs saw, in order.
type seen struct {
	mu    sync.Mutex
	lines []string
}

func (s *seen) add(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line)
}

// take returns what was seen since the last call.
func (s *seen) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := s.lines
	s.lines = nil
	return lines
}

// want checks what was seen since the last call.
func (s *seen) want(t *testing.T, lines ...string) {
	t.Helper()
	if got := s.take(); !slices.Equal(got, lines) {
		t.Errorf("saw %q, want %q", got, lines)
	}
}

// watch has an output see the rows of each batch, in the order of their text where sorted says so, behind the batch's number.
func watch[T any](to *seen, s *dstream.DStream[T], sorted bool) {
	dstream.ForeachRDD(s, func(ctx context.Context, r *rdd.RDD[T], t dstream.Time) error {
		rows, err := r.Collect(ctx)
		if err != nil {
			return err
		}
		text := make([]string, len(rows))
		for i, row := range rows {
			text[i] = fmt.Sprint(row)
		}
		if sorted {
			slices.Sort(text)
		}
		to.add(fmt.Sprint(int64(t)/1000, " ", text))
		return nil
	})
}

// eternal is an input that gives the same to a batch time whenever it is asked, and notes for which it is.
type eternal[T any] struct {
	rows  func(batch int64) []T
	asked *seen // nil notes nothing
}

func (in eternal[T]) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[T], error) {
	if in.asked != nil {
		in.asked.add(fmt.Sprint(int64(t) / 1000))
	}
	return rdd.Parallelize(c, in.rows(int64(t)/1000), 2), nil
}

// each declares an eternal stream with these rows in each batch.
func each[T any](ssc *streamingcontext.Context, rows ...T) *dstream.DStream[T] {
	return dstream.NewInput(ssc.Graph(), "eternal", "Eternal", dstream.Input[T](eternal[T]{rows: func(int64) []T { return rows }}))
}

// total adds up what a key had.
func total(now []int64, old rdd.Option[int64]) rdd.Option[int64] {
	for _, n := range now {
		old.Value += n
	}
	return rdd.Option[int64]{Value: old.Value, OK: true}
}
