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
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/blobstore/blobtest"
	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/dstream/sink/sinktest/disk"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/memlog"
	"github.com/leat-io/leat/streamingcontext"
)

// drivers are several drivers of one application in a synctest bubble: a group of nodes, a store and a disk of files that they share.
type drivers struct {
	t       *testing.T
	dir     string // of received blocks, if there is but one driver
	group   *memlog.Group
	store   *blobtest.Memory
	disk    *disk.Disk // of the files
	source  []string   // records, five a batch
	faults  func(memlog.GroupCall) memlog.GroupFault
	strikes func(d *driver, point string, nth int) *strike // nil where nothing happens; called with mu held
	options func(node string, o *streamingcontext.Options)
	refuses func(d *driver) error                                // why the sink takes no commit of a driver, if it does not; nil: it does
	declare func(d *driver, ssc *streamingcontext.Context) error // nil: declare of drivers

	mu       sync.Mutex // guards the fields below
	points   map[string]int
	log      []driverlog.Command // that took effect, in their order
	indexes  []uint64            // of these
	awaited  map[int64]chan struct{}
	epochs   []string // "node epoch", of the terms that drivers had
	breaches []string
	nodes    map[string]*driver
}

// A driver is one of drivers.
type driver struct {
	of      *drivers
	name    string
	cancel  context.CancelFunc
	ended   chan struct{}
	err     error         // belongs to ended
	reason  error         // of the last end of a term; guarded by of.mu
	stands  int           // how often it stood by; guarded by of.mu
	did     int           // how many points it came to; guarded by of.mu
	bystand chan struct{} // closed when it stands by the next time
	gate    chan struct{} // closed when it goes on; nil unless it is paused
	ssc     *streamingcontext.Context
}

// A strike is what befalls a driver at a point.
type strike struct {
	after bool // the operation has had its effect
	what  string
	next  string        // who leads then
	long  time.Duration // that it is paused or not told
	later time.Duration // after which last leads, if nobody does
	last  string
}

func newDrivers(t *testing.T, n int) *drivers {
	w := &drivers{t: t, store: blobtest.NewMemory(), disk: disk.New(), points: map[string]int{}, awaited: map[int64]chan struct{}{}, nodes: map[string]*driver{}}
	for i := range 33 {
		w.source = append(w.source, fmt.Sprintf("k%d", i*i%7))
	}
	var err error
	if w.group, err = memlog.NewGroup(memlog.GroupOptions{Nodes: []string{"a", "b", "c"}[:n], Plan: w.plan, Applied: w.applied}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"}[:n] {
		w.nodes[name] = &driver{of: w, name: name, bystand: make(chan struct{})}
	}
	return w
}

// applied takes note of a command that took effect.
func (w *drivers) applied(index uint64, cmd driverlog.Command) {
	cmd, _ = driverlog.DecodeCommand(cmd.Append(nil)) // its slices are the proposer's
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log, w.indexes = append(w.log, cmd), append(w.indexes, index)
	if c, ok := w.awaited[cmd.Batch]; ok && cmd.Kind == driverlog.Committed {
		close(c)
		delete(w.awaited, cmd.Batch)
	}
}

// await waits until a batch is committed.
func (w *drivers) await(batch int64) {
	w.t.Helper()
	w.mu.Lock()
	done := w.awaited[batch]
	if done == nil {
		done = make(chan struct{})
		if slices.ContainsFunc(w.log, func(c driverlog.Command) bool { return c.Kind == driverlog.Committed && c.Batch == batch }) {
			close(done)
		} else {
			w.awaited[batch] = done
		}
	}
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Hour)
	defer cancel()
	select {
	case <-done:
	case <-ctx.Done():
		w.t.Fatalf("batch %d is not committed; leader %q, terms %q, ends %v", batch, w.group.Leader(), w.epochs, w.ends())
	}
}

func (w *drivers) ends() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		d := w.nodes[name]
		select {
		case <-d.ended:
			all = append(all, fmt.Sprint(name, ": ended: ", d.err))
		default:
			w.mu.Lock()
			all = append(all, fmt.Sprint(name, ": ", d.reason))
			w.mu.Unlock()
		}
	}
	return all
}

func (w *drivers) breach(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.breaches = append(w.breaches, fmt.Sprintf(format, args...))
}

// start starts a driver.
func (w *drivers) start(name string) *driver {
	d := w.nodes[name]
	ctx, cancel := context.WithCancel(w.t.Context())
	d.cancel, d.ended = cancel, make(chan struct{})
	opts := streamingcontext.Options{App: "app", Interval: time.Second, Cluster: w.group.Node(name), Store: &gatedStore{Store: w.store, d: d},
		EngineOptions: streamingcontext.EngineOptions{Cores: 2},
		DriverListener: streamingcontext.DriverListener{
			StandingBy: func() {
				w.mu.Lock()
				defer w.mu.Unlock()
				d.stands++
				close(d.bystand)
				d.bystand = make(chan struct{})
			},
			Leading: func(epoch uint64) {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.epochs = append(w.epochs, fmt.Sprint(name, " ", epoch))
			},
			GoingOn: func(ssc *streamingcontext.Context) {
				w.mu.Lock()
				defer w.mu.Unlock()
				d.ssc = ssc
			},
			StoodDown: func(_ uint64, reason error) {
				w.mu.Lock()
				defer w.mu.Unlock()
				d.reason = reason
			},
		}}
	if w.options != nil {
		w.options(name, &opts)
	}
	go func() {
		defer close(d.ended)
		d.err = streamingcontext.Drive(ctx, w.dir, opts, func(ssc *streamingcontext.Context) error {
			if w.declare != nil {
				return w.declare(d, ssc)
			}
			return d.declare(ssc)
		})
	}()
	w.t.Cleanup(func() {
		d.wake()
		cancel()
		<-d.ended
	})
	return d
}

// startAll starts all drivers, of which the first leads.
func (w *drivers) startAll() {
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		w.start(name)
		synctest.Wait()
	}
}

// standsBy waits until a driver has stood by so often.
func (d *driver) standsBy(often int) {
	d.of.t.Helper()
	ctx, cancel := context.WithTimeout(d.of.t.Context(), time.Minute)
	defer cancel()
	for {
		d.of.mu.Lock()
		stands, next := d.stands, d.bystand
		d.of.mu.Unlock()
		if stands >= often {
			return
		}
		select {
		case <-next:
		case <-d.ended:
			d.of.t.Fatalf("%s ends with %v", d.name, d.err)
		case <-ctx.Done():
			d.of.t.Fatalf("%s has stood by %d times, not %d", d.name, stands, often)
		}
	}
}

// pass lets time go by.
func (w *drivers) pass(d time.Duration) {
	ctx, cancel := context.WithTimeout(w.t.Context(), d)
	defer cancel()
	<-ctx.Done()
}

// stop ends drivers as planned, in this order.
func (w *drivers) stop(names ...string) {
	w.t.Helper()
	for _, name := range names {
		d := w.nodes[name]
		d.cancel()
		<-d.ended
		if d.err != nil {
			w.t.Errorf("%s ends with %v", name, d.err)
		}
	}
}

func (w *drivers) stopAll() {
	w.t.Helper()
	w.stop(slices.Sorted(maps.Keys(w.nodes))...)
}

// paused returns what a paused driver waits for.
func (d *driver) paused() chan struct{} {
	d.of.mu.Lock()
	defer d.of.mu.Unlock()
	return d.gate
}

// stand waits while the driver is paused.
func (d *driver) stand() {
	for gate := d.paused(); gate != nil; gate = d.paused() {
		<-gate
	}
}

func (d *driver) pause() {
	d.of.mu.Lock()
	if d.gate == nil {
		d.gate = make(chan struct{})
	}
	d.of.mu.Unlock()
	d.of.group.Pause(d.name)
}

func (d *driver) wake() {
	d.of.mu.Lock()
	if d.gate != nil {
		close(d.gate)
		d.gate = nil
	}
	d.of.mu.Unlock()
	d.of.group.Resume(d.name)
}

// at returns what befalls the driver at a point.
func (d *driver) at(point string) *strike {
	d.of.mu.Lock()
	defer d.of.mu.Unlock()
	d.of.points[point]++
	d.did++
	if d.of.strikes == nil {
		return nil
	}
	return d.of.strikes(d, point, d.of.points[point])
}

// strike does it.
func (d *driver) strike(s *strike) {
	g := d.of.group
	switch s.what {
	case "pause":
		d.pause()
		if s.long > 0 {
			time.AfterFunc(s.long, d.wake)
		}
	case "hush":
		g.Hush(d.name)
		if s.long > 0 {
			time.AfterFunc(s.long, func() { g.Tell(d.name) })
		}
	}
	g.Depose(d.name)
	g.Elect(s.next)
	if s.later > 0 {
		time.AfterFunc(s.later, func() {
			if g.Leader() == "" {
				g.Elect(s.last)
			}
		})
	}
}

// do is an operation of a driver.
func (d *driver) do(point string, effect func() error) error {
	d.stand()
	s := d.at(point)
	if s != nil && !s.after {
		d.strike(s)
		d.stand()
	}
	err := effect()
	if s != nil && s.after {
		d.strike(s)
		d.stand()
	}
	return err
}

// plan is what befalls nodes of the group.
func (w *drivers) plan(c memlog.GroupCall) (f memlog.GroupFault) {
	if w.faults != nil {
		f = w.faults(c)
	}
	d := w.nodes[c.Node]
	var kinds []string
	for _, cmd := range c.Commands {
		kinds = append(kinds, cmd.Kind.String())
	}
	switch s := d.at("log " + strings.Join(kinds, ", ")); {
	case s == nil:
	case s.after:
		f.After = func() { d.strike(s) }
	default:
		d.strike(s)
	}
	return f
}

// declare declares four outputs: the records, an inverse window, a running total and a count by mapWithState.
func (d *driver) declare(ssc *streamingcontext.Context) error {
	words := dstream.NewInput(ssc.Graph(), "source", "Source", dstream.Input[string](&sourceInput{d: d, batches: map[dstream.Time][]string{}}))
	to := sink.Sink[string](gatedSink{files.New("/out", files.Options[string]{Format: files.TextFormat(), FS: diskFS{d.of.disk}}), d})
	dstream.SaveTo(words, "records", to)
	pairs := dstream.Map(words, func(k string) rdd.Pair[string, int64] { return rdd.Pair[string, int64]{Key: k, Value: 1} })
	text := func(p rdd.Pair[string, int64]) string { return fmt.Sprint(p.Key, " ", p.Value) }
	window := dstream.ReduceByKeyAndWindow(pairs, add, sub, 3*time.Second, time.Second)
	dstream.SaveTo(dstream.Map(window, text), "window", to)
	totals := dstream.UpdateStateByKey(pairs, total)
	dstream.SaveTo(dstream.Map(totals, text), "totals", to)
	seen := dstream.MapWithState(pairs, dstream.NewStateSpec(func(k string, v rdd.Option[int64], s *dstream.State[int64]) rdd.Pair[string, int64] {
		sum := s.Option().Value + v.Value
		_ = s.Update(sum) // no timeout
		return rdd.Pair[string, int64]{Key: k, Value: sum}
	}))
	dstream.SaveTo(dstream.Map(seen.DStream, text), "seen", to)
	return errors.Join(window.Checkpoint(2*time.Second), totals.Checkpoint(2*time.Second), seen.Checkpoint(2*time.Second))
}

// rows returns what the outputs have of batches before a number, by output and batch.
func (w *drivers) rows(before int64) map[string][]string {
	w.t.Helper()
	all := map[string][]string{}
	for row, err := range files.Read("/out", files.ReadOptions{FS: diskFS{w.disk}}) {
		if err != nil {
			w.t.Fatal(err)
		}
		if row.Batch < before {
			key := fmt.Sprint(row.Output, " ", row.Batch)
			all[key] = append(all[key], string(row.Line))
		}
	}
	for _, rows := range all {
		slices.Sort(rows)
	}
	return all
}

// ledAlone returns what one driver writes that nothing befalls, and how often it comes to each point.
func ledAlone(t *testing.T, batches int64) (want map[string][]string, points map[string]int) {
	t.Run("undisturbed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newDrivers(t, 1)
			w.startAll()
			w.await(batches - 1)
			w.stopAll()
			want, points = w.rows(batches), w.points
			w.check(batches, want)
		})
	})
	if t.Failed() {
		t.FailNow()
	}
	return want, points
}

// check compares what is there with what is to be, after the drivers have ended.
func (w *drivers) check(batches int64, want map[string][]string) {
	w.t.Helper()
	if diff := cmp.Diff(want, w.rows(batches)); diff != "" {
		w.t.Errorf("rows by output and batch (-want +got):\n%s", diff)
	}
	if _, err := files.VerifyWith("/out", files.ReadOptions{FS: diskFS{w.disk}}); err != nil {
		w.t.Error(err)
	}
	if _, err := streamingcontext.VerifyStored(w.t.Context(), w.store, w.group.State()); err != nil {
		w.t.Error(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range w.breaches {
		w.t.Error(b)
	}
	// I1, I4, I5, I7: each record in one batch, batches dense and in the order of their times, each with one manifest; commands of the epoch that
	// stands.
	var given []string
	next, last, epoch := int64(0), int64(-1), uint64(0)
	prepared := map[int64]bool{}
	for i, cmd := range w.log {
		if cmd.Kind == driverlog.LeaderStart {
			epoch = w.indexes[i]
		} else if cmd.Epoch != epoch {
			w.t.Errorf("%s of batch %d is of epoch %d, and %d stands", cmd.Kind, cmd.Batch, cmd.Epoch, epoch)
		}
		switch cmd.Kind {
		case driverlog.Begin:
			if cmd.Batch != next || cmd.Time != last+1000 && last >= 0 {
				w.t.Errorf("batch %d is begun with time %d after %d with %d", cmd.Batch, cmd.Time, next-1, last)
			}
			next, last = next+1, cmd.Time
			for _, in := range cmd.Inputs {
				given = append(given, strings.Fields(string(in.Data[2:]))...)
			}
		case driverlog.Prepared:
			if prepared[cmd.Batch] {
				w.t.Errorf("batch %d is prepared twice", cmd.Batch)
			}
			prepared[cmd.Batch] = true
		}
	}
	if !slices.Equal(given, w.source) {
		w.t.Errorf("batches had the records %q, want %q", given, w.source)
	}
}
