package recovery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

// A build is one build of a small program: what may differ between two of them.
type build struct {
	app      string
	interval time.Duration

	inputs     int  // of words
	first      int  // elementwise operators before the state
	renamed    bool // Filter in place of Map
	parts      int
	stateParts int
	wide       bool // another type of the state's values
	wideWindow bool // another type of what the window holds
	swapped    bool // the window is declared before the state
	noState    bool
	noWindow   bool
	mapped     bool  // a mapWithState in place of updateStateByKey
	addend     int64 // another function, of the same type
	window     time.Duration
	slide      time.Duration
	checkpoint time.Duration
	level      rdd.StorageLevel
	last       int // elementwise operators after all
	output     string
	prints     int    // outputs of ForeachRDD
	more       string // another output to a sink
	early      bool   // that is declared before the first one
	lateInput  bool
	lateState  bool
	lateWindow bool
	idleWindow bool          // a window that no output reads
	readIdle   bool          // an output that reads it
	filed      time.Duration // checkpoint interval of a stream that needs none
	none       bool          // no output to a sink
	stateName  string
	stateUID   string
	hadUID     bool // the state had the UID "totals"
}

func theBuild() build {
	return build{app: "app", interval: time.Second, inputs: 1, first: 1, parts: 2, stateParts: 2, addend: 1, window: 3 * time.Second,
		checkpoint: 2 * time.Second, last: 1, output: "rows", prints: 1}
}

func (b build) declare(out string) func(*streamingcontext.Context) error {
	return func(ssc *streamingcontext.Context) error {
		words := b.input(ssc)
		counts := dstream.CountByValue(words, rdd.NumPartitions(b.parts))
		var states []*dstream.DStream[string]
		var err error
		state := func() {
			if !b.noState {
				s, failed := b.state(counts)
				err = errors.Join(err, failed)
				states = append(states, s)
			}
		}
		if !b.swapped {
			state()
		}
		if !b.noWindow {
			states = append(states, b.windowed(counts))
		}
		if b.swapped {
			state()
		}
		b.outputs(ssc, out, counts, states)
		return err
	}
}

func (b build) input(ssc *streamingcontext.Context) *dstream.DStream[string] {
	var words *dstream.DStream[string]
	for range b.inputs {
		var batches [][]string
		for n := range 20 {
			batches = append(batches, []string{"x", fmt.Sprint("k", n%3), fmt.Sprint("k", n%5)})
		}
		in := streamingcontext.Slices(ssc, batches, 2)
		if words == nil {
			words = in
		} else {
			words = words.Union(in)
		}
	}
	for range b.first {
		if b.renamed {
			words = words.Filter(func(string) bool { return true })
		} else {
			words = dstream.Map(words, strings.ToUpper)
		}
	}
	if b.filed > 0 {
		_ = words.Checkpoint(b.filed) // Start would report it
	}
	if b.level != (rdd.StorageLevel{}) {
		_ = words.Persist(b.level) // as above
	}
	return words
}

func line[K comparable, V any](kind string) func(rdd.Pair[K, V]) string {
	return func(p rdd.Pair[K, V]) string { return fmt.Sprintf("%s/%v/%v", kind, p.Key, p.Value) }
}

func (b build) state(counts *dstream.DStream[rdd.Pair[string, int64]]) (*dstream.DStream[string], error) {
	switch {
	case b.mapped:
		s := dstream.MapWithState(counts, dstream.NewTryStateSpec(func(_ dstream.Time, word string, _ rdd.Option[int64], times *dstream.State[int64]) (rdd.Option[string], error) {
			return rdd.Option[string]{Value: word, OK: true}, times.Update(times.Option().Value + b.addend)
		}))
		return s.DStream, nil
	case b.wide:
		s := dstream.UpdateStateByKey(counts, func(n []int64, old rdd.Option[float64]) rdd.Option[float64] {
			return rdd.Option[float64]{Value: old.Value + float64(len(n)), OK: true}
		}, dstream.TouchedOnly())
		return dstream.Map(s, line[string, float64]("total")), s.Checkpoint(b.checkpoint)
	}
	s := dstream.UpdateStateByKey(counts, func(n []int64, old rdd.Option[int64]) rdd.Option[int64] {
		return rdd.Option[int64]{Value: old.Value + b.addend*int64(len(n)), OK: true}
	}, dstream.TouchedOnly(), dstream.StatePartitioned(rdd.NumPartitions(b.stateParts)))
	if b.stateName != "" {
		s.Named(b.stateName)
	}
	if b.stateUID != "" {
		s.UID(b.stateUID)
	}
	return dstream.Map(s, line[string, int64]("total")), s.Checkpoint(b.checkpoint)
}

func (b build) windowed(counts *dstream.DStream[rdd.Pair[string, int64]]) *dstream.DStream[string] {
	if b.wideWindow {
		f := dstream.MapValues(counts, func(n int64) int32 { return int32(n) })
		w := dstream.ReduceByKeyAndWindow(f, func(a, b int32) int32 { return a + b }, func(a, b int32) int32 { return a - b }, b.window, b.slide)
		return dstream.Map(w, line[string, int32]("window"))
	}
	w := dstream.ReduceByKeyAndWindow(counts, func(a, b int64) int64 { return a + b }, func(a, b int64) int64 { return a - b }, b.window, b.slide)
	return dstream.Map(w, line[string, int64]("window"))
}

func (b build) outputs(ssc *streamingcontext.Context, out string, counts *dstream.DStream[rdd.Pair[string, int64]], states []*dstream.DStream[string]) {
	idle := (*dstream.DStream[rdd.Pair[string, int64]])(nil)
	if b.idleWindow {
		idle = dstream.Window(counts, 2*time.Second, 0)
	}
	all := dstream.Map(counts, line[string, int64]("count"))
	for _, s := range states {
		all = all.Union(s)
	}
	for range b.last {
		all = dstream.Map(all, func(s string) string { return s })
	}
	if b.early {
		dstream.SaveTo(all, b.more, files.Text(out))
	}
	if !b.none {
		dstream.SaveTo(all, b.output, files.Text(out))
	}
	for range b.prints {
		dstream.ForeachRDD(all, func(ctx context.Context, r *rdd.RDD[string], _ dstream.Time) error {
			_, err := r.Count(ctx)
			return err
		})
	}
	if b.more != "" && !b.early {
		dstream.SaveTo(dstream.Map(all, strings.ToLower), b.more, files.Text(out))
	}
	quiet := func(context.Context, *rdd.RDD[string], dstream.Time) error { return nil }
	if b.lateInput {
		dstream.ForeachRDD(streamingcontext.Slices(ssc, [][]string{{"a"}}, 1), quiet)
	}
	if b.lateState {
		s := dstream.UpdateStateByKey(counts, func([]int64, rdd.Option[int64]) rdd.Option[int64] { return rdd.Option[int64]{OK: true} })
		dstream.ForeachRDD(dstream.Map(s, line[string, int64]("late")), quiet)
	}
	if b.lateWindow {
		dstream.ForeachRDD(dstream.Map(dstream.Window(counts, 4*time.Second, 0), line[string, int64]("late")), quiet)
	}
	if b.readIdle {
		dstream.ForeachRDD(dstream.Map(idle, line[string, int64]("idle")), quiet)
	}
}

// run runs a build up to a batch.
func (b build) run(t *testing.T, root string, first, last int64, log *slog.Logger) error {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("it hangs"))
	defer cancel()
	clock := new(streamingcontext.ManualClock)
	clock.Set((first - 1) * 1000)
	ssc, err := streamingcontext.GetOrCreate(filepath.Join(root, "app"), streamingcontext.Options{App: b.app, Interval: b.interval, Clock: clock,
		StopTimeout: -1, Logger: log, EngineOptions: streamingcontext.EngineOptions{Cores: 1}}, b.declare(filepath.Join(root, "out")))
	if err != nil {
		return err
	}
	err = ssc.Start(ctx)
	for n := first; err == nil && n <= last; n++ {
		clock.Set(n * 1000)
		err = ssc.Settled(ctx, dstream.Time(n*1000))
	}
	if err == nil {
		err = ssc.Err()
	}
	return errors.Join(err, ssc.Stop(context.WithoutCancel(ctx), streamingcontext.StopOptions{}))
}

// What becomes of a changed program.
const (
	goesOn    = "goes on"
	withNote  = "goes on with a note"
	isRefused = "refused"
)

// changedPrograms says which change has which result. docs/upgrades.md has the same in words.
var changedPrograms = []struct {
	name   string
	change func(b *build)
	result string
	names  string // a part of the note or of the refusal
}{
	{"nothing", func(b *build) {}, goesOn, ""},
	{"other functions of the same types", func(b *build) { b.addend = 2 }, goesOn, ""},
	{"storage level", func(b *build) { b.level = rdd.MemoryOnly() }, goesOn, ""},
	{"checkpoint interval of state, longer", func(b *build) { b.checkpoint = 4 * time.Second }, withNote, "updateStateByKey"},
	{"checkpoint interval of state, shorter", func(b *build) { b.checkpoint = time.Second }, withNote, "updateStateByKey"},
	{"output of ForeachRDD added at the end", func(b *build) { b.prints = 2 }, withNote, "was nothing, is foreachRDD"},
	{"outputs of ForeachRDD added at the end, many", func(b *build) { b.prints = 5 }, withNote, "foreachRDD"},
	{"output of ForeachRDD removed", func(b *build) { b.prints = 0 }, withNote, "is nothing"},
	{"output to a sink added at the end", func(b *build) { b.more = "more" }, withNote, "was nothing, is saveTo"},
	{"output to a sink added before the other", func(b *build) { b.more, b.early = "more", true }, withNote, `output "more"`},
	{"output to a sink renamed", func(b *build) { b.output = "lines" }, withNote, `output "lines"`},
	{"output to a sink removed", func(b *build) { b.none = true }, withNote, "foreachRDD"},
	{"elementwise operator added behind all state", func(b *build) { b.last = 2 }, withNote, "map"},
	{"elementwise operator removed behind all state", func(b *build) { b.last = 0 }, withNote, "map"},
	{"elementwise operator and outputs at the end", func(b *build) { b.last, b.prints, b.more = 3, 0, "more" }, withNote, "map"},
	{"a window that nothing reads, at the end", func(b *build) { b.idleWindow = true }, isRefused, "window"},
	{"operator added before state", func(b *build) { b.first = 2 }, isRefused, "node 3"},
	{"operators added before state, many", func(b *build) { b.first = 4 }, isRefused, "node 3"},
	{"operator removed before state", func(b *build) { b.first = 0 }, isRefused, "node 2"},
	{"operator replaced before state", func(b *build) { b.renamed = true }, isRefused, "filter[2]"},
	{"state and window reordered", func(b *build) { b.swapped = true }, isRefused, "updateStateByKey"},
	{"a UID is given to state", func(b *build) { b.stateUID = "totals" }, withNote, `uid "totals"`},
	{"state renamed", func(b *build) { b.stateName = "sums" }, isRefused, `updateStateByKey[4] "sums"`},
	{"state renamed, with the same UID", func(b *build) { b.stateName, b.hadUID = "sums", true; b.stateUID = "totals" }, withNote, `"sums" uid "totals"`},
	{"state with the UID of another", func(b *build) { b.stateUID, b.hadUID = "others", true }, isRefused, `uid "others"`},
	{"state removed", func(b *build) { b.noState = true }, isRefused, "updateStateByKey"},
	{"window removed", func(b *build) { b.noWindow = true }, isRefused, "it was"},
	{"state and window removed", func(b *build) { b.noState, b.noWindow = true, true }, isRefused, "updateStateByKey"},
	{"another operator with state", func(b *build) { b.mapped = true }, isRefused, "mapWithState"},
	{"type of state", func(b *build) { b.wide = true }, isRefused, "float64"},
	{"type of what a window holds", func(b *build) { b.wideWindow = true }, isRefused, "node"},
	{"window longer", func(b *build) { b.window = 4 * time.Second }, isRefused, "window 4000 ms"},
	{"window shorter", func(b *build) { b.window = 2 * time.Second }, isRefused, "window 2000 ms"},
	{"slide", func(b *build) { b.window, b.slide = 4*time.Second, 2*time.Second }, isRefused, "slide 2000 ms"},
	{"partitions of a shuffle without state, more", func(b *build) { b.parts = 3 }, goesOn, ""},
	{"partitions of a shuffle without state, fewer", func(b *build) { b.parts = 1 }, goesOn, ""},
	{"partitions of state, more", func(b *build) { b.stateParts = 3 }, isRefused, "keys by"},
	{"partitions of state, fewer", func(b *build) { b.stateParts = 1 }, isRefused, "keys by"},
	{"batch interval", func(b *build) { b.interval = 500 * time.Millisecond }, isRefused, "node 1"},
	{"batch interval, longer", func(b *build) { b.interval = 2 * time.Second; b.window = 4 * time.Second }, isRefused, "node 1"},
	{"application name", func(b *build) { b.app = "other" }, isRefused, `is of application "app"`},
	{"input added first", func(b *build) { b.inputs = 2 }, isRefused, "node 2"},
	{"input added at the end", func(b *build) { b.lateInput = true }, isRefused, "slices"},
	{"state added at the end", func(b *build) { b.lateState = true }, isRefused, "updateStateByKey"},
	{"window added at the end", func(b *build) { b.lateWindow = true }, isRefused, "window"},
	{"checkpoints of a stream that had none", func(b *build) { b.filed = 2 * time.Second }, isRefused, "node 2"},
	{"a window that was read by nothing is read", func(b *build) { b.idleWindow, b.readIdle = true, true }, isRefused, "read by no output"},
}

// Programs that have changed go on, go on with a note, or are refused with the node named, and those that go on have what they
// had.
func TestChangedPrograms_D6(t *testing.T) {
	const stopped, until = 5, 8
	want := t.TempDir()
	if err := theBuild().run(t, want, 1, until, nil); err != nil {
		t.Fatal(err)
	}
	rows, err := site{want}.shown()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range changedPrograms {
		t.Run(test.name, func(t *testing.T) {
			root, log := t.TempDir(), new(bytes.Buffer)
			before, now := theBuild(), theBuild()
			test.change(&now)
			if now.readIdle {
				before.idleWindow = true
			}
			if now.hadUID {
				before.stateUID = "totals"
			}
			if err := before.run(t, root, 1, stopped, nil); err != nil {
				t.Fatal(err)
			}
			err := now.run(t, root, stopped+1, until, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})))
			if test.result == isRefused {
				_, folder := errors.AsType[*streamingcontext.FolderError](err)
				if !errors.Is(err, dstream.ErrChanged) && !folder || !strings.Contains(err.Error(), test.names) {
					t.Errorf("want a refusal with %q, got %v", test.names, err)
				}
				// The program as it was goes on all the same.
				if err := before.run(t, root, stopped+1, until, nil); err != nil {
					t.Errorf("the program as it was: %v", err)
				}
			} else if err != nil {
				t.Fatalf("it does not go on: %v", err)
			}
			noted := strings.Contains(log.String(), "the program has changed")
			if noted != (test.result == withNote) || noted && !strings.Contains(strings.ReplaceAll(log.String(), `\`, ""), test.names) {
				t.Errorf("noted %t, want %q:\n%s", noted, test.names, log)
			}
			got, err := onlyRows(root)
			if err != nil {
				t.Fatal(err)
			}
			if now.addend != 1 || now.none || now.output != "rows" {
				got, rows := firstOf(got, stopped), firstOf(rows, stopped)
				if diff := cmp.Diff(got, rows); diff != "" {
					t.Errorf("rows before the change (-got +want):\n%s", diff)
				}
				return
			}
			if diff := cmp.Diff(got, rows); diff != "" {
				t.Errorf("rows (-got +want):\n%s", diff)
			}
			if test.result == withNote { // it is what is gone on from now
				log.Reset()
				if err := now.run(t, root, until+1, until+2, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))); err != nil || log.Len() > 0 {
					t.Errorf("the next start: %v\n%s", err, log)
				}
			}
		})
	}
	if n := len(changedPrograms); n < 40 {
		t.Errorf("%d cases", n)
	}
}

// onlyRows returns what the output "rows" shows, by batch.
func onlyRows(root string) (map[int64][]string, error) {
	rows := map[int64][]string{}
	for row, err := range files.Read(filepath.Join(root, "out"), files.ReadOptions{Output: "rows"}) {
		if err != nil {
			return nil, err
		}
		rows[row.Batch] = append(rows[row.Batch], string(row.Line))
	}
	for _, r := range rows {
		slices.Sort(r)
	}
	return rows, nil
}

// firstOf returns the first n batches.
func firstOf(rows map[int64][]string, n int64) map[int64][]string {
	first := map[int64][]string{}
	for id := range n {
		first[id] = rows[id]
	}
	return first
}

// Files of later formats are refused by name.
func TestLaterFormats_D6(t *testing.T) {
	for name, test := range map[string]struct{ glob, old, later string }{
		"checkpoint":             {"app/checkpoints/checkpoint-*", "leat-checkpoint-1", "leat-checkpoint-2"},
		"manifest of a sink":     {"out/app/rows/commits/*", `"version":1`, `"version":2`},
		"manifest of state":      {"app/state/*/*/_manifest", "leatckpt manifest 2", "leatckpt manifest 3"},
		"log of received blocks": {"app/received/*.log", "leatrlog\x01", "leatrlog\x02"},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := left(t, func(*program) {}, streamingcontext.StopOptions{})
			found, err := filepath.Glob(filepath.Join(s.root, test.glob))
			if err == nil && len(found) == 0 {
				found, err = filepath.Glob(filepath.Join(s.root, strings.Replace(test.glob, "*/*", "*", 1)))
			}
			if err != nil || len(found) == 0 {
				t.Fatal(found, err)
			}
			path := found[len(found)-1]
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			later := bytes.Replace(data, []byte(test.old), []byte(test.later), 1)
			if bytes.Equal(later, data) {
				t.Fatalf("%s has no %q: %.100q", path, test.old, data)
			}
			if err := os.WriteFile(path, later, 0o644); err != nil {
				t.Fatal(err)
			}
			if got := goOn(t, s, nil, filepath.Base(path)); got != refused {
				t.Errorf("%s: %s", path, got)
			}
		})
	}
}

// An output that has a prepared batch to commit may not be removed, nor renamed: its rows are promised.
func TestAnOutputIsRemovedBeforeItsCommit_D6(t *testing.T) {
	want := undisturbed(t)
	s, _ := left(t, endings[2].set, endings[2].stop)
	p := newProgram(s)
	p.output = "lines"
	p.clock.Set(last * 1000)
	if _, err := p.start(t.Context()); !errors.Is(err, dstream.ErrChanged) || !strings.Contains(err.Error(), "output rows is to commit batch") {
		t.Errorf("got %v", err)
	}
	if got := goOn(t, s, want); got != right { // the program as it was
		t.Error(got)
	}
}
