package streamingcontext_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/memlog"
	"github.com/leat-io/leat/streamingcontext"
)

// A world is what outlives a process that dies: the source, the driver log and the sink. At one of the operations on them the
// process dies: just before it or just after, and nothing it does later has an effect.
type world struct {
	log *memlog.Log

	mu     sync.Mutex
	ops    []string // every operation, in order, of the process that runs
	dieAt  int      // the operation at which it dies; -1 never
	after  bool     // the operation still takes effect
	dead   bool
	kill   func()              // ends what waits in the process
	source []string            // records that have not been given to a batch
	staged map[string][]string // by attempt
	shown  map[int64][]string  // committed rows by batch
	marks  map[string]sink.Mark
}

var errDied = errors.New("the process has died")

func newWorld(t *testing.T, records int) *world {
	w := &world{log: newLog(t), dieAt: -1, staged: map[string][]string{}, shown: map[int64][]string{}, marks: map[string]sink.Mark{}}
	for i := range records {
		w.source = append(w.source, fmt.Sprintf("k%d", i%7))
	}
	return w
}

// op is one operation: effect happens unless the process dies before.
func (w *world) op(name string, effect func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		return errDied
	}
	w.ops = append(w.ops, name)
	if len(w.ops)-1 != w.dieAt {
		return effect()
	}
	w.dead = true
	w.kill()
	if w.after {
		return errors.Join(errDied, effect())
	}
	return errDied
}

// begin is the start of another process, which dies at an operation.
func (w *world) begin(dieAt int, after bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ops, w.dead, w.dieAt, w.after = nil, false, dieAt, after
}

// worldLog is the driver log as a process sees it.
type worldLog struct {
	*memlog.Log
	w *world
}

func (l worldLog) Propose(ctx context.Context, cmd driverlog.Command) (res driverlog.Result, err error) {
	refused := error(nil)
	if died := l.w.op(cmd.Kind.String(), func() error { res, refused = l.Log.Propose(ctx, cmd); return nil }); died != nil {
		return driverlog.Result{}, fmt.Errorf("%w: %w", driverlog.ErrUnknown, died)
	}
	return res, refused
}

func (l worldLog) ProposeAll(ctx context.Context, cmds []driverlog.Command) (all []driverlog.Result, err error) {
	for _, cmd := range cmds {
		res, err := l.Propose(ctx, cmd)
		if err != nil {
			return all, err
		}
		all = append(all, res)
	}
	return all, nil
}

func (l worldLog) Lead(ctx context.Context) (term driverlog.Term, err error) {
	if died := l.w.op("lead", func() error { term, err = l.Log.Lead(ctx); return nil }); died != nil {
		return driverlog.Term{}, died
	}
	return term, err
}

// worldInput gives up to five records a batch, which it takes from the source.
type worldInput struct {
	w       *world
	batches map[dstream.Time][]string
}

func (in *worldInput) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[string], error) {
	rows, ok := in.batches[t]
	if !ok {
		in.w.mu.Lock()
		// What a process has taken and not recorded is there for the next one.
		taken := 0
		for _, b := range in.batches {
			taken += len(b)
		}
		left := in.w.source[min(taken, len(in.w.source)):]
		rows = slices.Clone(left[:min(5, len(left))])
		in.batches[t] = rows
		in.w.mu.Unlock()
	}
	return rdd.Parallelize(c, rows, 2), nil
}

func (in *worldInput) Record(t dstream.Time) ([]byte, error) {
	return []byte(strings.Join(in.batches[t], " ")), nil
}

func (in *worldInput) Replay(t dstream.Time, recorded []byte) error {
	in.batches[t] = strings.Fields(string(recorded))
	return nil
}

// Save returns how many records batches have had, which the batches that are forgotten would not say.
func (in *worldInput) Save() ([]byte, error) {
	var b strings.Builder
	for _, t := range slices.Sorted(maps.Keys(in.batches)) {
		fmt.Fprintf(&b, "%d=%s\n", t, strings.Join(in.batches[t], " "))
	}
	return []byte(b.String()), nil
}

func (in *worldInput) Load(data []byte) error {
	for line := range strings.Lines(string(data)) {
		at, rows, _ := strings.Cut(strings.TrimSpace(line), "=")
		var t int64
		if _, err := fmt.Sscan(at, &t); err != nil {
			return err
		}
		in.batches[dstream.Time(t)] = strings.Fields(rows)
	}
	return nil
}

// worldSink is a sink in the world.
type worldSink struct{ w *world }

func (s worldSink) Begin(context.Context, sink.Batch, int) error { return nil }

func (s worldSink) Part(_ context.Context, b sink.Batch, part int, attempt string) (sink.Writer[string], error) {
	return &worldWriter{w: s.w, name: fmt.Sprintf("%s/%d/%d/%s", b.Output, b.ID, part, attempt)}, nil
}

func (s worldSink) Seal(_ context.Context, b sink.Batch, notes [][]byte) ([]byte, error) {
	var names []string
	for _, n := range notes {
		names = append(names, string(n))
	}
	return []byte(strings.Join(names, " ")), s.w.op("seal", func() error { return nil })
}

func (s worldSink) Commit(_ context.Context, b sink.Batch, staged []byte) error {
	return s.w.op("commit", func() error {
		if mark, ok := s.w.marks[b.Output]; ok && mark.ID >= b.ID {
			return nil
		}
		var rows []string
		for _, name := range strings.Fields(string(staged)) {
			part, ok := s.w.staged[name]
			if !ok {
				return fmt.Errorf("%v: %s was not staged", b, name)
			}
			rows = append(rows, part...)
		}
		s.w.shown[b.ID] = append(s.w.shown[b.ID], rows...)
		s.w.marks[b.Output] = sink.Mark{ID: b.ID, Epoch: b.Epoch}
		return nil
	})
}

func (s worldSink) Clean(context.Context, sink.Batch) error {
	return s.w.op("clean", func() error { return nil })
}

func (s worldSink) Last(_ context.Context, _, output string) (sink.Mark, error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if mark, ok := s.w.marks[output]; ok {
		return mark, nil
	}
	return sink.Mark{ID: -1}, nil
}

type worldWriter struct {
	w    *world
	name string
	rows []string
}

func (w *worldWriter) Write(rows []string) error {
	w.rows = append(w.rows, rows...)
	return nil
}

func (w *worldWriter) Finish(context.Context) ([]byte, error) {
	return []byte(w.name), w.w.op("stage", func() error { w.w.staged[w.name] = w.rows; return nil })
}

func (w *worldWriter) Abort(context.Context) error { return nil }

// declareWorld declares the program: totals of each key as state, counts of the last three batches, and rows of both.
func declareWorld(w *world) func(*streamingcontext.Context) error {
	return func(ssc *streamingcontext.Context) error {
		in := dstream.NewInput(ssc.Graph(), "world", "World", dstream.Input[string](&worldInput{w: w, batches: map[dstream.Time][]string{}}))
		counts := dstream.CountByValue(in)
		totals := dstream.UpdateStateByKey(counts, func(n []int64, old rdd.Option[int64]) rdd.Option[int64] {
			for _, x := range n {
				old.Value += x
			}
			return rdd.Option[int64]{Value: old.Value, OK: true}
		}, dstream.TouchedOnly())
		if err := totals.Checkpoint(2 * time.Second); err != nil {
			return err
		}
		window := dstream.ReduceByKeyAndWindow(counts, add, sub, 3*time.Second, 0)
		if err := window.Checkpoint(2 * time.Second); err != nil {
			return err
		}
		rows := dstream.Map(totals, func(p rdd.Pair[string, int64]) string { return fmt.Sprintf("total/%s/%d", p.Key, p.Value) })
		recent := dstream.Map(window, func(p rdd.Pair[string, int64]) string { return fmt.Sprintf("window/%s/%d", p.Key, p.Value) })
		dstream.SaveTo(rows.Union(recent), "rows", worldSink{w})
		return nil
	}
}

func add(a, b int64) int64 { return a + b }
func sub(a, b int64) int64 { return a - b }

// live runs a process until the batches up to a time are done, or it dies.
func (w *world) live(t *testing.T, dir string, clock *streamingcontext.ManualClock, until int64) (err error) {
	t.Helper()
	ctx, kill := context.WithCancelCause(t.Context())
	defer kill(nil)
	w.mu.Lock()
	w.kill = func() { kill(errDied) }
	w.mu.Unlock()
	defer func() {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
	}()
	ssc, err := streamingcontext.GetOrCreate(dir, streamingcontext.Options{
		App: "app", Interval: time.Second, Clock: clock, Log: worldLog{w.log, w}, StopTimeout: -1,
		EngineOptions: streamingcontext.EngineOptions{Cores: 1},
	}, declareWorld(w))
	if err != nil {
		return err
	}
	if err := ssc.Start(ctx); err != nil {
		return err
	}
	defer func() {
		if err := ssc.Stop(context.WithoutCancel(t.Context()), streamingcontext.StopOptions{}); err != nil {
			t.Error(err)
		}
	}()
	for now := clock.Now(); now < until; now = clock.Now() {
		clock.Set(now - now%1000 + 1000)
		if err := ssc.Settled(ctx, dstream.Time(clock.Now())); err != nil {
			return err
		}
	}
	return ssc.Settled(ctx, dstream.Time(until))
}

// TestEveryCrashPoint kills the process at each operation on the world, before and after it takes effect, and the process that goes on
// once more, and compares what the sink shows with an undisturbed run.
func TestEveryCrashPoint(t *testing.T) {
	const until = 9000
	want := newWorld(t, 33)
	if err := want.live(t, t.TempDir(), new(streamingcontext.ManualClock), until); err != nil {
		t.Fatal(err)
	}
	points := slices.Clone(want.ops)
	for _, kind := range []string{"lead", "application", "begin", "stage", "seal", "prepared", "commit", "committed", "clean", "checkpoint"} {
		if !slices.ContainsFunc(points, func(p string) bool { return strings.HasPrefix(p, kind) }) {
			t.Errorf("no operation %q in %q", kind, points)
		}
	}
	for at, name := range points {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d %s after=%t", at, name, after), func(t *testing.T) {
				w, dir := newWorld(t, 33), t.TempDir()
				clock := new(streamingcontext.ManualClock)
				w.begin(at, after)
				if err := w.live(t, dir, clock, until); !errors.Is(err, errDied) {
					t.Fatalf("the first process: %v", err)
				}
				// The next one dies in recovery or soon after it, somewhere else each time.
				w.begin(at%9, !after)
				if err := w.live(t, dir, clock, until); err != nil && !errors.Is(err, errDied) {
					t.Fatalf("the second process: %v", err)
				}
				w.begin(-1, false)
				if err := w.live(t, dir, clock, until); err != nil {
					t.Fatalf("the last process: %v", err)
				}
				if diff := cmp.Diff(w.shown, want.shown); diff != "" {
					t.Errorf("rows by batch (-got +want):\n%s", diff)
				}
			})
		}
	}
}
