package streamingcontext_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/memlog"
	"github.com/leat-io/leat/streamingcontext"
)

// A world is what outlives a process that dies: the source, the driver log and the sink, beside a folder on disk. Processes
// work on it one after the other, or two at once where one believes that it still leads.
type world struct {
	log *memlog.Log
	bug string // a fault of the world itself, that a checker must find; empty in an honest one

	mu       sync.Mutex
	source   []string            // records, five a batch
	staged   map[string][]string // rows by attempt
	tries    map[string][]string // rows of the first try of each batch that was sealed
	shown    map[int64][]string  // committed rows by batch
	printed  []string            // what Print wrote, call by call
	mark     sink.Mark
	fenced   int
	breaches []string // of what must hold at every moment
}

func newWorld(t *testing.T, records int) *world {
	w := &world{log: newLog(t), staged: map[string][]string{}, tries: map[string][]string{}, shown: map[int64][]string{}, mark: sink.Mark{ID: -1}}
	for i := range records {
		w.source = append(w.source, fmt.Sprintf("k%d", i*i%7))
	}
	return w
}

// breach notes that something which must hold does not. mu is held.
func (w *world) breach(format string, args ...any) {
	w.breaches = append(w.breaches, fmt.Sprintf(format, args...))
}

// What happens to an operation of a process on the world.
type fault int

const (
	none      fault = iota
	dieBefore       // the process dies, the operation has no effect
	dieAfter        // the process dies, the operation has its effect
	fail            // an error, and no effect
	failAfter       // an error, and the effect all the same
	pause           // the process stands still, and goes on later, when another one leads
	faults
)

var errDied = errors.New("the process has died")

// A process is one program on the world.
type process struct {
	w     *world
	plan  func(i int, name string) fault
	setup func(ssc *streamingcontext.Context) error

	mu     sync.Mutex
	ops    []string // its operations, in order
	dead   bool
	stood  bool                    // still, once
	end    context.CancelCauseFunc // ends what waits in it
	paused chan struct{}           // closed when it stands still
	resume chan struct{}
	wake   func() // lets it go on
}

func (w *world) process(plan func(i int, name string) fault) *process {
	resume := make(chan struct{})
	p := &process{w: w, plan: plan, paused: make(chan struct{}), resume: resume, wake: sync.OnceFunc(func() { close(resume) })}
	p.setup = p.declare
	return p
}

// op is one operation of the process.
func (p *process) op(name string, effect func() error) error {
	p.mu.Lock()
	if p.dead {
		p.mu.Unlock()
		return errDied
	}
	i := len(p.ops)
	p.ops = append(p.ops, name)
	f := p.plan(i, name)
	if f == pause && p.stood {
		f = none
	}
	p.stood = p.stood || f == pause
	p.dead = f == dieBefore || f == dieAfter
	p.mu.Unlock()
	if f == pause {
		close(p.paused)
		<-p.resume
	}
	if f == dieBefore || f == dieAfter {
		p.end(errDied)
	}
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	switch f {
	case dieBefore:
		return errDied
	case dieAfter:
		return errors.Join(errDied, effect())
	case fail:
		return fmt.Errorf("%s fails", name)
	case failAfter:
		return errors.Join(fmt.Errorf("%s fails, as it seems", name), effect())
	}
	return effect()
}

// worldLog is the driver log as a process sees it. It is not told when another one leads.
type worldLog struct {
	*memlog.Log
	p *process
}

func (l worldLog) Propose(ctx context.Context, cmd driverlog.Command) (res driverlog.Result, err error) {
	refused := error(nil)
	failed := l.p.op(cmd.Kind.String(), func() error {
		if l.p.w.bug == "no fence" && cmd.Kind != driverlog.LeaderStart {
			state, _ := l.Log.State(ctx)
			cmd.Epoch = state.Epoch
		}
		res, refused = l.Log.Propose(ctx, cmd)
		return nil
	})
	if failed != nil {
		return driverlog.Result{}, fmt.Errorf("%w: %w", driverlog.ErrUnknown, failed)
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
	if failed := l.p.op("lead", func() error {
		l.Log.StepDown()
		term, err = l.Log.Lead(ctx)
		return nil
	}); failed != nil {
		return driverlog.Term{}, failed
	}
	term.Lost = make(chan struct{})
	return term, err
}

// worldInput gives up to five records a batch, which it takes from the source.
type worldInput struct {
	p       *process
	batches map[dstream.Time][]string
}

func (in *worldInput) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[string], error) {
	rows, ok := in.batches[t]
	if !ok {
		// What a process has taken and not recorded is there for the next one.
		taken := 0
		for _, b := range in.batches {
			taken += len(b)
		}
		left := in.p.w.source[min(taken, len(in.p.w.source)):]
		rows = slices.Clone(left[:min(5, len(left))])
		in.batches[t] = rows
	}
	return rdd.Parallelize(c, rows, 2), nil
}

func (in *worldInput) Record(t dstream.Time) ([]byte, error) {
	return []byte(strings.Join(in.batches[t], " ")), nil
}

func (in *worldInput) Replay(t dstream.Time, recorded []byte) error {
	in.batches[t] = strings.Fields(string(recorded))
	if in.p.w.bug == "other input" && len(in.batches[t]) > 0 {
		in.batches[t][0] = "k9"
	}
	return nil
}

// Save returns what batches have had, which those that are forgotten would not say.
func (in *worldInput) Save() ([]byte, error) {
	var b strings.Builder
	for _, t := range slices.Sorted(maps.Keys(in.batches)) {
		fmt.Fprintf(&b, "%d=%s\n", t, strings.Join(in.batches[t], " "))
	}
	return []byte(b.String()), nil
}

func (in *worldInput) Load(data []byte) error {
	if in.p.w.bug == "no memory" {
		return nil
	}
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

// worldSink is the sink as a process sees it.
type worldSink struct{ p *process }

func (s worldSink) Begin(context.Context, sink.Batch, int) error { return nil }

func (s worldSink) Part(_ context.Context, b sink.Batch, part int, attempt string) (sink.Writer[string], error) {
	return &worldWriter{p: s.p, name: fmt.Sprintf("%d/%d/%s", b.ID, part, attempt)}, nil
}

func (s worldSink) Seal(_ context.Context, b sink.Batch, notes [][]byte) ([]byte, error) {
	var names []string
	for _, n := range notes {
		names = append(names, string(n))
	}
	staged := strings.Join(names, " ")
	return []byte(staged), s.p.op("seal", func() error {
		w := s.p.w
		rows, key := w.rows(staged), fmt.Sprint(b.ID)
		if first, ok := w.tries[key]; ok && !slices.Equal(first, rows) {
			w.breach("batch %d run again gives other rows: %q, then %q", b.ID, first, rows)
		}
		w.tries[key] = rows
		return nil
	})
}

// rows returns the rows of attempts. mu is held.
func (w *world) rows(staged string) []string {
	var rows []string
	for _, name := range strings.Fields(staged) {
		part, ok := w.staged[name]
		if !ok {
			w.breach("%s counts and was not staged", name)
		}
		rows = append(rows, part...)
	}
	return rows
}

func (s worldSink) Commit(_ context.Context, b sink.Batch, staged []byte) error {
	return s.p.op("commit", func() error {
		w := s.p.w
		digest := sha256.Sum256(staged)
		switch {
		case b.ID == w.mark.ID && digest != w.mark.Digest && w.bug == "":
			w.breach("batch %d is committed with other rows", b.ID)
			return &sink.ConflictError{Batch: b}
		case b.ID <= w.mark.ID && w.bug != "twice":
			return nil
		case b.Epoch < w.mark.Epoch:
			w.fenced++
			return &sink.FencedError{Batch: b, Have: w.mark.Epoch}
		}
		if w.bug == "lost batch" && b.ID == 4 {
			w.mark = sink.Mark{ID: b.ID, Epoch: b.Epoch, Digest: digest}
			return nil
		}
		w.shown[b.ID] = append(w.shown[b.ID], w.rows(string(staged))...)
		w.mark = sink.Mark{ID: b.ID, Epoch: b.Epoch, Digest: digest}
		return nil
	})
}

func (s worldSink) Clean(context.Context, sink.Batch) error {
	return s.p.op("clean", func() error { return nil })
}

func (s worldSink) Last(context.Context, string, string) (sink.Mark, error) {
	s.p.w.mu.Lock()
	defer s.p.w.mu.Unlock()
	return s.p.w.mark, nil
}

type worldWriter struct {
	p    *process
	name string
	rows []string
}

func (w *worldWriter) Write(rows []string) error {
	w.rows = append(w.rows, rows...)
	return nil
}

func (w *worldWriter) Finish(context.Context) ([]byte, error) {
	return []byte(w.name), w.p.op("stage", func() error {
		w.p.w.staged[w.name] = w.rows
		return nil
	})
}

func (w *worldWriter) Abort(context.Context) error { return nil }

// declare declares the program: totals of each key as state, counts of the last three batches, times that a key was seen, and
// rows of all.
func (p *process) declare(ssc *streamingcontext.Context) error {
	in := dstream.NewInput(ssc.Graph(), "world", "World", dstream.Input[string](&worldInput{p: p, batches: map[dstream.Time][]string{}}))
	counts := dstream.CountByValue(in)
	totals := dstream.UpdateStateByKey(counts, func(n []int64, old rdd.Option[int64]) rdd.Option[int64] {
		for _, x := range n {
			old.Value += x
		}
		return rdd.Option[int64]{Value: old.Value, OK: true}
	}, dstream.TouchedOnly())
	window := dstream.ReduceByKeyAndWindow(counts, add, sub, 3*time.Second, 0)
	seen := dstream.MapWithState(counts, dstream.NewTryStateSpec(func(_ dstream.Time, key string, _ rdd.Option[int64], times *dstream.State[int64]) (rdd.Option[string], error) {
		n := times.Option().Value + 1
		return rdd.Option[string]{Value: fmt.Sprintf("seen/%s/%d", key, n), OK: true}, times.Update(n)
	}))
	for _, s := range []interface{ Checkpoint(time.Duration) error }{totals, window, seen} {
		if err := s.Checkpoint(2 * time.Second); err != nil {
			return err
		}
	}
	rows := dstream.Map(totals, func(p rdd.Pair[string, int64]) string { return fmt.Sprintf("total/%s/%d", p.Key, p.Value) })
	recent := dstream.Map(window, func(p rdd.Pair[string, int64]) string { return fmt.Sprintf("window/%s/%d", p.Key, p.Value) })
	dstream.SaveTo(rows.Union(recent).Union(seen.DStream), "rows", sink.Sink[string](worldSink{p}))
	return nil
}

func add(a, b int64) int64 { return a + b }
func sub(a, b int64) int64 { return a - b }

// live runs the process until the batches up to a time are done, it dies, or it stands still.
func (p *process) live(ctx context.Context, dir string, now, until int64) (clock *streamingcontext.ManualClock, stop func() error, err error) {
	ctx, end := context.WithCancelCause(ctx)
	p.mu.Lock()
	p.end = end
	p.mu.Unlock()
	clock = new(streamingcontext.ManualClock)
	clock.Set(now)
	stop = func() error { end(nil); return nil }
	ssc, err := streamingcontext.GetOrCreate(dir, streamingcontext.Options{
		App: "app", Interval: time.Second, Clock: clock, Log: worldLog{p.w.log, p}, StopTimeout: -1,
		OnFailure:     streamingcontext.FailurePolicy{Retries: 3},
		EngineOptions: streamingcontext.EngineOptions{Cores: 1, MaxFailures: 8},
	}, p.setup)
	if err != nil {
		return clock, stop, err
	}
	stop = func() error {
		end(nil)
		p.wake() // it may have died in one place while it stood still in another
		return ssc.Stop(context.WithoutCancel(ctx), streamingcontext.StopOptions{})
	}
	ran := make(chan error, 1)
	go func() {
		err := ssc.Start(ctx)
		for now := clock.Now(); err == nil && now < until; now = clock.Now() {
			clock.Set(now - now%1000 + 1000)
			err = ssc.Settled(ctx, dstream.Time(clock.Now()))
		}
		if err == nil {
			err = ssc.Settled(ctx, dstream.Time(until))
		}
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		ran <- err
	}()
	select {
	case err := <-ran:
		return clock, stop, err
	case <-p.paused:
		asleep := stop
		return clock, func() error { defer func() { <-ran }(); return asleep() }, errPaused
	}
}

var errPaused = errors.New("the process stands still")
