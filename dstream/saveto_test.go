package dstream_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/rdd"
)

// memorySink keeps rows in memory. Its notes are the names of attempts.
type memorySink[T any] struct {
	mu       sync.Mutex
	parts    map[string][]T // by batch, partition and attempt; finished ones
	shown    map[int64][]T
	last     sink.Mark
	began    []int
	attempts []string
	aborted  int
	cleaned  []int64
	fault    func(part int, written int) error // asked before rows are written
	broken   func(method string) error
}

func (s *memorySink[T]) fail(method string) error {
	if s.broken == nil {
		return nil
	}
	return s.broken(method)
}

func (s *memorySink[T]) Begin(_ context.Context, _ sink.Batch, parts int) error {
	s.began = append(s.began, parts)
	return s.fail("begin")
}

func (s *memorySink[T]) Part(_ context.Context, b sink.Batch, part int, attempt string) (sink.Writer[T], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts = append(s.attempts, attempt)
	return &memoryWriter[T]{sink: s, part: part, name: fmt.Sprintf("%d/%d/%s", b.ID, part, attempt)}, s.fail("part")
}

func (s *memorySink[T]) Seal(_ context.Context, _ sink.Batch, notes [][]byte) ([]byte, error) {
	var names []string
	for _, n := range notes {
		names = append(names, string(n))
	}
	return []byte(strings.Join(names, "\n")), s.fail("seal")
}

func (s *memorySink[T]) Commit(_ context.Context, b sink.Batch, staged []byte) error {
	if err := s.fail("commit"); err != nil {
		return err
	}
	if s.shown == nil {
		s.shown = map[int64][]T{}
	}
	if _, done := s.shown[b.ID]; done {
		return nil
	}
	rows := []T{}
	for _, name := range strings.Fields(string(staged)) {
		part, ok := s.parts[name]
		if !ok {
			return fmt.Errorf("%s is not staged", name)
		}
		rows = append(rows, part...)
	}
	s.shown[b.ID], s.last = rows, sink.Mark{ID: b.ID, Epoch: b.Epoch}
	return nil
}

func (s *memorySink[T]) Clean(_ context.Context, b sink.Batch) error {
	s.cleaned = append(s.cleaned, b.ID)
	return s.fail("clean")
}

func (s *memorySink[T]) Last(context.Context, string, string) (sink.Mark, error) {
	return s.last, s.fail("last")
}

type memoryWriter[T any] struct {
	sink *memorySink[T]
	part int
	name string
	rows []T
}

func (w *memoryWriter[T]) Write(rows []T) error {
	if w.sink.fault != nil {
		if err := w.sink.fault(w.part, len(w.rows)); err != nil {
			return err
		}
	}
	w.rows = append(w.rows, rows...)
	return nil
}

func (w *memoryWriter[T]) Finish(context.Context) ([]byte, error) {
	w.sink.mu.Lock()
	defer w.sink.mu.Unlock()
	if w.sink.parts == nil {
		w.sink.parts = map[string][]T{}
	}
	w.sink.parts[w.name] = w.rows
	return []byte(w.name), w.sink.fail("finish")
}

func (w *memoryWriter[T]) Abort(context.Context) error {
	w.sink.mu.Lock()
	defer w.sink.mu.Unlock()
	w.sink.aborted++
	return nil
}

// stageNext generates the next batch and stages its outputs.
func (d *driver) stageNext(b sink.Batch) (map[string][]byte, error) {
	d.now += 1000
	b.ID, b.Time = int64(d.now)/1000-1, int64(d.now)
	jobs, err := d.graph.Generate(d.now)
	if err != nil {
		return nil, err
	}
	staged := map[string][]byte{}
	for _, j := range jobs {
		if j.Run != nil || j.Name != "saveTo" {
			d.t.Errorf("job %q has Run", j.Name)
		}
		b.Output = j.Output
		if staged[j.Output], err = j.Stage(d.t.Context(), b); err != nil {
			return nil, err
		}
	}
	return staged, nil
}

func TestSaveTo(t *testing.T) {
	eachSetup(t, func(t *testing.T, d *driver) {
		to, all := &memorySink[rdd.Pair[string, int]]{}, &memorySink[string]{}
		in := input(d, words("aab", "none", "b", "-")...)
		dstream.SaveTo(dstream.ReduceByKey(in, add), "counts", to)
		dstream.SaveTo(dstream.Map(in, func(p rdd.Pair[string, int]) string { return p.Key }), "letters", all)
		equal(t, fmt.Sprint(d.graph.SinkOutputs()), "[counts letters]")
		d.start()
		for k := range int64(4) {
			staged, err := d.stageNext(sink.Batch{App: "app", Epoch: 3, Try: 1})
			if err != nil {
				t.Fatal(err)
			}
			if len(to.shown)+len(all.shown) > 2*int(k) {
				t.Error("what is staged is shown")
			}
			if (k == 1) != (len(staged) == 0) {
				t.Errorf("batch %d: %d outputs are staged", k, len(staged))
			}
			for output, bytes := range staged {
				b := sink.Batch{App: "app", Output: output, ID: k, Epoch: 3}
				for range 2 {
					if err := d.graph.CommitOutput(t.Context(), b, bytes); err != nil {
						t.Fatal(err)
					}
				}
				if err := d.graph.CleanOutput(t.Context(), b); err != nil {
					t.Fatal(err)
				}
			}
		}
		equal(t, textOf(to.shown[0], true)+"; "+textOf(to.shown[2], true)+"; "+textOf(to.shown[3], true), "a:2 b:1; b:1; -")
		equal(t, fmt.Sprint(all.shown), "map[0:[a a b] 2:[b] 3:[]]")
		if m, err := d.graph.LastOf(t.Context(), "app", "counts"); err != nil || m.ID != 3 || m.Epoch != 3 {
			t.Errorf("last %+v, %v", m, err)
		}
		equal(t, fmt.Sprint(all.cleaned), "[0 2 3]")
		equal(t, fmt.Sprint(all.began), "[2 2 2]")
	})
}

// An attempt that fails is given up and tried again under another name; what counts is told by partition, the same each time
// the batch is staged.
func TestAttemptsAtASink(t *testing.T) {
	d := newDriver(t, setup{parallelism: 2})
	var failures sync.Map
	to := &memorySink[int]{fault: func(part, written int) error {
		if _, failed := failures.LoadOrStore(part, true); !failed {
			if part == 1 {
				panic("full")
			}
			return errors.New("full")
		}
		return nil
	}}
	var rows []int
	for i := range 3000 {
		rows = append(rows, i)
	}
	dstream.SaveTo(input(d, rows), "rows", to)
	d.start()
	staged, err := d.stageNext(sink.Batch{Epoch: 7, Try: 1})
	if err != nil {
		t.Fatal(err)
	}
	if to.aborted != 2 || len(to.attempts) != 4 {
		t.Errorf("%d attempts, %d given up; want 4 and 2", len(to.attempts), to.aborted)
	}
	d.now = 0
	again, err := d.stageNext(sink.Batch{Epoch: 7, Try: 2})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(to.attempts)
	if n := len(slices.Compact(to.attempts)); n != 6 || !strings.HasPrefix(to.attempts[0], "7.1.") || !strings.HasPrefix(to.attempts[5], "7.2.") {
		t.Errorf("attempts are %v", to.attempts)
	}
	for i, s := range []map[string][]byte{staged, again} {
		b := sink.Batch{Output: "rows", ID: 0}
		to.shown = nil
		if err := d.graph.CommitOutput(t.Context(), b, s["rows"]); err != nil || !slices.Equal(to.shown[0], rows) {
			t.Errorf("try %d: %d rows, %v", i+1, len(to.shown[0]), err)
		}
	}
}

func TestASinkThatFails(t *testing.T) {
	d := newDriver(t, setup{parallelism: 2})
	boom := errors.New("boom")
	at := ""
	to := &memorySink[int]{broken: func(method string) error {
		if method == at {
			return boom
		}
		if at == "panic in "+method {
			panic(at)
		}
		return nil
	}}
	dstream.SaveTo(input(d, []int{1}, []int{2}), "rows", to)
	d.start()
	for _, method := range []string{"begin", "part", "finish", "seal"} {
		for _, at = range []string{method, "panic in " + method} {
			d.now = 0
			if _, err := d.stageNext(sink.Batch{App: "app"}); err == nil || at == method && !errors.Is(err, boom) || !strings.Contains(err.Error(), "app/rows batch 0") {
				t.Errorf("%s: %v", at, err)
			}
		}
	}
	b := sink.Batch{App: "app", Output: "rows"}
	for method, f := range map[string]func() error{
		"commit": func() error { return d.graph.CommitOutput(t.Context(), b, nil) },
		"clean":  func() error { return d.graph.CleanOutput(t.Context(), b) },
		"last":   func() error { _, err := d.graph.LastOf(t.Context(), "app", "rows"); return err },
	} {
		at = method
		if err := f(); !errors.Is(err, boom) || !strings.Contains(err.Error(), method) {
			t.Errorf("%s: %v", method, err)
		}
		at = "panic in " + method
		if err := f(); err == nil || !strings.Contains(err.Error(), at) {
			t.Errorf("%s: %v", at, err)
		}
	}
	b.Output = "others"
	_, err := d.graph.LastOf(t.Context(), "app", "others")
	for _, err := range []error{d.graph.CommitOutput(t.Context(), b, nil), d.graph.CleanOutput(t.Context(), b), err} {
		if !errors.Is(err, dstream.ErrArgument) {
			t.Errorf("an output that is not there: %v", err)
		}
	}
}

func TestNamesOfOutputs(t *testing.T) {
	for what, declare := range map[string]func(s *dstream.DStream[int]){
		"no name":    func(s *dstream.DStream[int]) { dstream.SaveTo(s, "", &memorySink[int]{}) },
		"a long one": func(s *dstream.DStream[int]) { dstream.SaveTo(s, strings.Repeat("x", 256), &memorySink[int]{}) },
		"twice": func(s *dstream.DStream[int]) {
			dstream.SaveTo(s, "rows", &memorySink[int]{})
			dstream.SaveTo(s, "rows", &memorySink[int]{})
		},
		"no sink": func(s *dstream.DStream[int]) { dstream.SaveTo[int](s, "rows", nil) },
	} {
		d := newDriver(t, setup{})
		declare(input(d, []int{1}))
		err := d.graph.Start(0)
		var b *dstream.BuildError
		if !errors.Is(err, dstream.ErrArgument) || !errors.As(err, &b) || b.Op != "saveTo" || !strings.HasPrefix(b.Site, "saveto_test.go:") {
			t.Errorf("%s: %v", what, err)
		}
	}
	d := newDriver(t, setup{})
	dstream.SaveTo(input(d, []int{1}), strings.Repeat("x", 255), &memorySink[int]{})
	d.start()
}
