package recovery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/streamingcontext"
)

// A site is where a program lives: what it goes on from, what it reads, and what it shows.
type site struct{ root string }

func (s site) dir() string { return filepath.Join(s.root, "app") }
func (s site) out() string { return filepath.Join(s.root, "out") }
func (s site) in() string  { return filepath.Join(s.root, "in") }

// copyTo makes a copy of everything at another place. The files that are read keep their times.
func (s site) copyTo(t testing.TB, root string) site {
	t.Helper()
	if err := os.CopyFS(root, os.DirFS(s.root)); err != nil {
		t.Fatal(err)
	}
	copied := site{root}
	entries, err := os.ReadDir(s.in())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil {
			err = os.Chtimes(filepath.Join(copied.in(), e.Name()), time.Time{}, info.ModTime())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return copied
}

// again makes another site what s is. It has the place at which the program has run: a file is known by its path.
func (s site) again(t testing.TB, at site) site {
	t.Helper()
	if err := os.RemoveAll(at.root); err != nil {
		t.Fatal(err)
	}
	return s.copyTo(t, at.root)
}

// feed is a receiver that stores what it is handed, a block at a time.
type feed struct{ blocks chan fedBlock }

type fedBlock struct {
	rows   []string
	stored chan error
}

func (f *feed) Receive(ctx context.Context, to receivers.Sink[string]) error {
	for {
		select {
		case b := <-f.blocks:
			b.stored <- to.StoreBlock(ctx, b.rows)
		case <-ctx.Done():
			return nil
		}
	}
}

// program is what runs at a site.
type program struct {
	site  site
	clock *streamingcontext.ManualClock
	feed  *feed
	opts  func(*streamingcontext.Options)
	// hold keeps the outputs of later batches from ending: in ForeachRDD, or in the sink's commit.
	holdJobs, holdCommits int64
	held                  chan struct{}
	begun                 chan int64 // the times of batches, when they are
	sink                  func(sink.Sink[string]) sink.Sink[string]
	log                   *slog.Logger
	output                string
}

const never = 1 << 40

func newProgram(s site) *program {
	return &program{site: s, clock: new(streamingcontext.ManualClock), feed: &feed{make(chan fedBlock)}, output: "rows",
		holdJobs: never, holdCommits: never, held: make(chan struct{}, 100), begun: make(chan int64, 10_000)}
}

// declare declares the program: words of files and of a receiver, their totals, their counts in the last three batches, and how
// often each was there.
func (p *program) declare(ssc *streamingcontext.Context) error {
	lines := ssc.TextFiles(p.site.in(), streamingcontext.IncludeExisting())
	words := dstream.FlatMap(lines, strings.Fields).Union(streamingcontext.Receive(ssc, receivers.Receiver[string](p.feed)))
	counts := dstream.CountByValue(words, rdd.NumPartitions(2))
	totals := dstream.UpdateStateByKey(counts, func(n []int64, old rdd.Option[int64]) rdd.Option[int64] {
		for _, x := range n {
			old.Value += x
		}
		return rdd.Option[int64]{Value: old.Value, OK: true}
	}, dstream.TouchedOnly())
	if err := totals.Checkpoint(3 * time.Second); err != nil {
		return err
	}
	add := func(a, b int64) int64 { return a + b }
	subtract := func(a, b int64) int64 { return a - b }
	window := dstream.ReduceByKeyAndWindow(counts, add, subtract, 3*time.Second, 0)
	if err := window.Checkpoint(2 * time.Second); err != nil {
		return err
	}
	seen := dstream.MapWithState(counts, dstream.NewTryStateSpec(func(_ dstream.Time, word string, _ rdd.Option[int64], times *dstream.State[int64]) (rdd.Option[string], error) {
		n := times.Option().Value + 1
		return rdd.Option[string]{Value: fmt.Sprintf("seen/%s/%d", word, n), OK: true}, times.Update(n)
	}))
	if err := seen.DStream.Checkpoint(4 * time.Second); err != nil {
		return err
	}
	row := func(kind string) func(rdd.Pair[string, int64]) string {
		return func(p rdd.Pair[string, int64]) string { return fmt.Sprintf("%s/%s/%d", kind, p.Key, p.Value) }
	}
	all := dstream.Map(totals, row("total")).Union(dstream.Map(window, row("window"))).Union(seen.DStream)
	to := sink.Sink[string](holding{files.Text(p.site.out()), p})
	if p.sink != nil {
		to = p.sink(to)
	}
	dstream.ForeachRDD(counts, func(ctx context.Context, _ *rdd.RDD[rdd.Pair[string, int64]], at dstream.Time) error {
		if int64(at) <= p.holdJobs {
			return nil
		}
		p.held <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	dstream.SaveTo(all, p.output, to)
	return nil
}

// holding is a sink that does not commit late batches.
type holding struct {
	sink.Sink[string]
	p *program
}

func (h holding) Commit(ctx context.Context, b sink.Batch, staged []byte) error {
	if b.Time <= h.p.holdCommits {
		return h.Sink.Commit(ctx, b, staged)
	}
	h.p.held <- struct{}{}
	<-ctx.Done()
	return ctx.Err()
}

func (p *program) options() streamingcontext.Options {
	o := streamingcontext.Options{
		App: "app", Interval: time.Second, Clock: p.clock, StopTimeout: -1, FileRemember: time.Hour, Logger: p.log,
		EngineOptions: streamingcontext.EngineOptions{Cores: 1},
		Listeners:     []streamingcontext.Listener{{BatchSubmitted: func(b streamingcontext.BatchInfo) { p.begun <- int64(b.Time) }}},
	}
	if p.opts != nil {
		p.opts(&o)
	}
	return o
}

// batch gives a batch what it has: a file in every second one, and a block in all but every fourth.
func (p *program) batch(ctx context.Context, ssc *streamingcontext.Context, n int64) error {
	if err := p.write(n); err != nil {
		return err
	}
	if err := p.store(ctx, n); err != nil {
		return err
	}
	p.clock.Set(n * 1000)
	return nil
}

// write makes the file of a batch, unless it is there.
func (p *program) write(n int64) error {
	if n%2 == 0 {
		name := filepath.Join(p.site.in(), fmt.Sprintf("%03d", n))
		if _, err := os.Stat(name); err != nil {
			if err := os.MkdirAll(p.site.in(), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(name, fmt.Appendf(nil, "f%d x y\nx f%d\n", n, n%3), 0o644); err != nil {
				return err
			}
		}
		return os.Chtimes(name, time.Time{}, time.UnixMilli(n*1000-500))
	}
	return nil
}

// store hands the block of a batch to the receiver, and returns when it is acknowledged.
func (p *program) store(ctx context.Context, n int64) error {
	if n%4 != 3 {
		b := fedBlock{[]string{fmt.Sprintf("r%d", n), "x", fmt.Sprintf("r%d", n%5)}, make(chan error, 1)}
		select {
		case p.feed.blocks <- b:
		case <-ctx.Done():
			return ctx.Err()
		}
		// It answers, whatever becomes of the program: a block whose answer nobody waits for may be there or not.
		return <-b.stored
	}
	return nil
}

// ran is a program that has run some batches and not been stopped.
func (p *program) start(ctx context.Context) (*streamingcontext.Context, error) {
	ssc, err := streamingcontext.GetOrCreate(p.site.dir(), p.options(), p.declare)
	if err != nil {
		return nil, err
	}
	if err := ssc.Start(ctx); err != nil {
		return nil, errors.Join(err, ssc.Stop(context.WithoutCancel(ctx), streamingcontext.StopOptions{}))
	}
	return ssc, nil
}

// run runs batches from first to last, and stops.
func (p *program) run(ctx context.Context, first, last int64, stop streamingcontext.StopOptions) error {
	p.clock.Set((first - 1) * 1000)
	ssc, err := p.start(ctx)
	if err != nil {
		return err
	}
	err = p.batches(ctx, ssc, first, last)
	return errors.Join(err, ssc.Stop(context.WithoutCancel(ctx), stop))
}

// batches runs batches until those that are let through are done and one that is held is.
func (p *program) batches(ctx context.Context, ssc *streamingcontext.Context, first, last int64) error {
	failed, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var watch sync.WaitGroup
	watch.Go(func() { cancel(ssc.Await(failed)) })
	err := p.eachBatch(failed, ssc, first, last)
	if cause := context.Cause(failed); cause != nil {
		err = cause
	} else if ended := failure(ctx, ssc); err != nil && ended != nil {
		err = ended // a receiver may be told that all is over before the watch is told why
	}
	cancel(nil)
	watch.Wait()
	return err
}

func (p *program) eachBatch(ctx context.Context, ssc *streamingcontext.Context, first, last int64) error {
	open := min(p.holdJobs, p.holdCommits)
	for n := first; n <= last; n++ {
		if err := p.batch(ctx, ssc, n); err != nil {
			return err
		}
		if n*1000 <= open {
			if err := ssc.Settled(ctx, dstream.Time(n*1000)); err != nil {
				return err
			}
			continue
		}
		for begun := int64(0); begun < n*1000; {
			select {
			case begun = <-p.begun:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	if last*1000 > open {
		select {
		case <-p.held:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// shown returns the rows of each batch that the sink shows, sorted.
func (s site) shown() (map[int64][]string, error) {
	rows := map[int64][]string{}
	for row, err := range files.Read(s.out(), files.ReadOptions{}) {
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

// until is run, but for what the program does when the disk is full: it returns the last batch whose block was acknowledged and
// whose time has come, and the error that a receiver or the program met.
func (p *program) until(ctx context.Context, first, last int64) (fed int64, err error) {
	p.clock.Set((first - 1) * 1000)
	ssc, err := p.start(ctx)
	if err != nil {
		return first - 1, err
	}
	for fed = first - 1; err == nil && fed < last; {
		if err = p.storeOrEnd(ctx, ssc, fed+1); err != nil {
			break
		}
		fed++
		p.clock.Set(fed * 1000)
		if err = ssc.Settled(ctx, dstream.Time(fed*1000)); err == nil {
			err = failure(ctx, ssc) // a batch that failed is settled too
		}
	}
	// What a stop cannot write was reported before, or is written again.
	if stopped := ssc.Stop(context.WithoutCancel(ctx), streamingcontext.StopOptions{}); err == nil {
		err = stopped
	}
	return fed, err
}

// failure returns the error that the program has met, nil if it has met none yet.
func failure(ctx context.Context, ssc *streamingcontext.Context) error {
	now, cancel := context.WithCancel(ctx)
	cancel()
	if err := ssc.Await(now); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// storeOrEnd is store while the program runs.
func (p *program) storeOrEnd(ctx context.Context, ssc *streamingcontext.Context, n int64) error {
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var watch sync.WaitGroup
	watch.Go(func() { cancel(ssc.Await(running)) })
	err := p.store(running, n)
	if cause := context.Cause(running); err != nil && cause != nil {
		err = cause
	} else if ended := failure(ctx, ssc); err != nil && ended != nil {
		err = ended
	}
	cancel(nil)
	watch.Wait()
	return err
}
