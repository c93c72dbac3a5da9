package crashtest_test

import (
	"context"
	"crypto/sha256"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest/crashtest"
)

// table is a sink of a user's own, with what it does wrong.
type table struct {
	bug    string
	shared *shelf // what outlives processes

	mu  sync.Mutex
	own map[string][]string // staged rows, of a sink that keeps them in its process
}

type shelf struct {
	mu     sync.Mutex
	staged map[string][]string
	rows   []string
	mark   sink.Mark
}

func newShelf() *shelf { return &shelf{staged: map[string][]string{}, mark: sink.Mark{ID: -1}} }

func (s *shelf) shown() ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.rows), nil
}

func (s *table) Begin(context.Context, sink.Batch, int) error { return nil }

func (s *table) Part(_ context.Context, _ sink.Batch, _ int, attempt string) (sink.Writer[string], error) {
	return &tableWriter{s: s, name: attempt}, nil
}

func (s *table) Seal(_ context.Context, _ sink.Batch, notes [][]byte) ([]byte, error) {
	var names []string
	for _, n := range notes {
		names = append(names, string(n))
	}
	return []byte(strings.Join(names, " ")), nil
}

func (s *table) Commit(_ context.Context, b sink.Batch, staged []byte) error {
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	if s.bug != "commits twice" && b.ID <= s.shared.mark.ID {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range strings.Fields(string(staged)) {
		s.shared.rows = append(append(s.shared.rows, s.shared.staged[name]...), s.own[name]...)
	}
	s.shared.mark = sink.Mark{ID: b.ID, Epoch: b.Epoch, Digest: sha256.Sum256(staged)}
	return nil
}

func (s *table) Clean(context.Context, sink.Batch) error { return nil }

func (s *table) Last(context.Context, string, string) (sink.Mark, error) {
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	return s.shared.mark, nil
}

type tableWriter struct {
	s    *table
	name string
	rows []string
}

func (w *tableWriter) Write(rows []string) error {
	w.rows = append(w.rows, rows...)
	return nil
}

func (w *tableWriter) Finish(context.Context) ([]byte, error) {
	if w.s.bug == "loses staged rows" {
		w.s.mu.Lock()
		defer w.s.mu.Unlock()
		w.s.own[w.name] = w.rows
		return []byte(w.name), nil
	}
	w.s.shared.mu.Lock()
	defer w.s.shared.mu.Unlock()
	w.s.shared.staged[w.name] = w.rows
	return []byte(w.name), nil
}

func (w *tableWriter) Abort(context.Context) error { return nil }

// toTable writes lines to a table.
func toTable(bug string) func(*streamingcontext.Context, *crashtest.World) error {
	return func(ssc *streamingcontext.Context, w *crashtest.World) error {
		s := &table{bug: bug, shared: crashtest.Keep(w, "table", newShelf), own: map[string][]string{}}
		in := crashtest.Input(ssc, w, "lines", lines)
		dstream.SaveTo(in, "table", crashtest.Watch(w, "table", sink.Sink[string](s), s.shared.shown))
		return nil
	}
}

// forgetful is an input that takes what comes next from a source, and does not know any more what a batch had when it is run again.
type forgetful struct {
	given map[dstream.Time]int
	next  *atomic.Int64
}

func (in *forgetful) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[string], error) {
	at, ok := in.given[t]
	if !ok {
		at = int(in.next.Add(1)) - 1
		in.given[t] = at
	}
	var rows []string
	if at < len(lines) {
		rows = lines[at]
	}
	return rdd.Parallelize(c, rows, 1), nil
}

func forgets(ssc *streamingcontext.Context, w *crashtest.World) error {
	next := crashtest.Keep(w, "source", func() *atomic.Int64 { return new(atomic.Int64) })
	in := crashtest.WatchInput(w, "lines", dstream.Input[string](&forgetful{map[dstream.Time]int{}, next}))
	crashtest.Save(dstream.NewInput(ssc.Graph(), "forgetful", "Forgetful", in), w, "rows")
	return nil
}

// counted numbers the rows by a counter of the process.
func counted(ssc *streamingcontext.Context, w *crashtest.World) error {
	n := new(atomic.Int64)
	in := crashtest.Input(ssc, w, "lines", [][]string{{"ada"}, {"bo"}, {"cy"}, {"dee"}, {"eve"}, {"fay"}})
	crashtest.Save(dstream.Map(in, func(line string) rdd.Pair[string, int64] {
		return rdd.Pair[string, int64]{Key: line, Value: n.Add(1)}
	}), w, "rows")
	return nil
}

// mails sends a mail for each batch.
func mails(ssc *streamingcontext.Context, w *crashtest.World) error {
	sent := w.Effects("mails")
	dstream.ForeachRDD(crashtest.Input(ssc, w, "lines", lines), func(_ context.Context, _ *rdd.RDD[string], t dstream.Time) error {
		return sent.Do(t, func() error { return nil })
	})
	return nil
}

func explore(t *testing.T, setup func(*streamingcontext.Context, *crashtest.World) error) crashtest.Report {
	t.Helper()
	r, err := crashtest.Explore(t.Context(), crashtest.Program{Setup: setup, Batches: 3, Sample: 60})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPlantedFaultsAreFound(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup func(*streamingcontext.Context, *crashtest.World) error
		want  crashtest.Promise
		at    string // in the point
	}{
		{"a_sink_that_commits_twice", toTable("commits twice"), crashtest.CommittedOnce, "commit"},
		{"a_sink_that_loses_its_staged_rows", toTable("loses staged rows"), crashtest.CommittedOnce, ""},
		{"an_input_that_forgets", forgets, crashtest.InputRecorded, ""},
		{"a_function_that_is_not_deterministic", counted, crashtest.RowsEqual, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := explore(t, c.setup)
			i := slices.IndexFunc(r.Broken, func(b crashtest.Broken) bool { return b.Promise == c.want })
			if i < 0 {
				t.Fatalf("%v: not found in\n%v", c.want, r)
			}
			b := r.Broken[i]
			t.Log(b)
			if !strings.Contains(b.Point, c.at) || len(b.What) == 0 || len(b.History) < 2 {
				t.Errorf("point %q, %d findings, history of %d processes", b.Point, len(b.What), len(b.History))
			}
		})
	}
}

func TestAnHonestSinkBreaksNothing(t *testing.T) {
	if r := explore(t, toTable("")); len(r.Broken) > 0 {
		t.Error(r)
	}
}

func TestEffectsAreReportedAsAtLeastOnce(t *testing.T) {
	r := explore(t, mails)
	if len(r.Broken) > 0 || len(r.Effects) != 1 || r.Effects[0].Cases == 0 || r.Effects[0].AtMost < 2 {
		t.Errorf("want effects that happen again, and no promise broken:\n%v", r)
	}
}

// A process that no fault hits and that does not end well is found, and one that hangs.
func TestAProgramThatDoesNotGoOn(t *testing.T) {
	r := explore(t, func(ssc *streamingcontext.Context, w *crashtest.World) error {
		starts := crashtest.Keep(w, "starts", func() *atomic.Int64 { return new(atomic.Int64) })
		if starts.Add(1) == 5 { // setup is called twice in each process
			return context.DeadlineExceeded
		}
		return mails(ssc, w)
	})
	if len(r.Broken) == 0 || r.Broken[len(r.Broken)-1].Promise != crashtest.GoesOn {
		t.Errorf("not found:\n%v", r)
	}
}

func TestAPointThatIsNeverMetIsNamed(t *testing.T) {
	r := explore(t, func(ssc *streamingcontext.Context, w *crashtest.World) error {
		w.Effects("never")
		return mails(ssc, w)
	})
	if want := []string{"effect never"}; !slices.Equal(r.Missed, want) {
		t.Errorf("missed %q, want %q", r.Missed, want)
	}
}

func TestProgramsThatAreRefused(t *testing.T) {
	for name, p := range map[string]crashtest.Program{
		"no setup": {},
		"a clock":  {Setup: mails, Options: streamingcontext.Options{Clock: new(streamingcontext.ManualClock)}},
		"batches":  {Setup: mails, Batches: -1},
	} {
		if _, err := crashtest.Explore(t.Context(), p); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}
