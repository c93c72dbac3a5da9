package streamingcontext_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

func TestListenersComeAndGo(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	discard(streamtest.Input[int](kit).Stream())
	ssc := kit.Context()
	var first, second, never []dstream.Time
	to := func(times *[]dstream.Time) *streamingcontext.Listener {
		return &streamingcontext.Listener{BatchCompleted: func(b streamingcontext.BatchInfo) { *times = append(*times, b.Time) }}
	}
	a, b, n := to(&first), to(&second), to(&never)
	ssc.AddListener(n)
	ssc.RemoveListener(n)
	kit.Advance(1) // nobody listens
	ssc.AddListener(a)
	ssc.AddListener(a)
	ssc.AddListener(nil)
	ssc.RemoveListener(nil)
	kit.Advance(1)
	ssc.AddListener(b)
	kit.Advance(1)
	stop(t, ssc)
	ssc.RemoveListener(b)
	want := [3]string{"[2000 ms 3000 ms]", "[3000 ms]", "[]"}
	if got := [3]string{fmt.Sprint(first), fmt.Sprint(second), fmt.Sprint(never)}; got != want {
		t.Errorf("told of %v, want %v", got, want)
	}
}

func TestListenersMayComeAtAnyMoment(t *testing.T) {
	opts, clock := seconds() // the test kit would listen
	ssc := streamingcontext.New(opts)
	in := streamingcontext.Slices(ssc, [][]int{}, 1)
	var once sync.Once
	var told []string
	l := &streamingcontext.Listener{
		OutputCompleted: func(o streamingcontext.OutputInfo) { told = append(told, fmt.Sprint(o.Batch, " output ", o.ID)) },
		BatchCompleted:  func(b streamingcontext.BatchInfo) { told = append(told, fmt.Sprint(b.Time)) },
	}
	// In the midst of a batch that nobody was told of.
	dstream.ForeachRDD(in, func(context.Context, *rdd.RDD[int], dstream.Time) error {
		once.Do(func() { ssc.AddListener(l) })
		return nil
	})
	if err := ssc.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for batch := range 2 {
		clock.Advance(1000)
		if err := ssc.Settled(t.Context(), dstream.Time(1000*(batch+1))); err != nil {
			t.Fatal(err)
		}
	}
	stop(t, ssc)
	if diff := cmp.Diff(told, []string{"2000 ms output 0", "2000 ms"}); diff != "" {
		t.Errorf("events (-got +want):\n%s", diff)
	}
}

// Section 1.2: the group of whoever starts the context is not that of its jobs; the rest is.
func TestJobsSayWhichOutputTheyAreOf(t *testing.T) {
	var mu sync.Mutex
	var jobs []string
	engine, err := streamingcontext.NewEngine(streamingcontext.EngineOptions{Isolate: true, SchedulerListeners: []scheduler.Listener{{
		JobStarted: func(e scheduler.JobStarted) {
			p := e.Properties
			mu.Lock()
			defer mu.Unlock()
			jobs = append(jobs, fmt.Sprintf("%d.%d group %q, %q, tags %v, pool %q", p.Batch, p.Output, p.Group, p.Description, p.Tags, p.Pool))
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	clock := &streamingcontext.ManualClock{}
	ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Engine: engine, Clock: clock})
	in := streamingcontext.Slices(ssc, [][]int{{1}}, 1)
	count := func(with func(context.Context) context.Context) {
		dstream.ForeachRDD(in, func(ctx context.Context, r *rdd.RDD[int], _ dstream.Time) error {
			_, err := r.Count(with(ctx))
			return err
		})
	}
	count(func(ctx context.Context) context.Context { return ctx })
	count(func(ctx context.Context) context.Context {
		return rdd.WithTags(rdd.WithJobGroup(ctx, "mine", "my own"), "b")
	})
	ctx := rdd.WithPool(rdd.WithTags(rdd.WithJobGroup(t.Context(), "callers", "the caller's"), "a"), "reports")
	if err := ssc.Start(ctx); err != nil {
		t.Fatal(err)
	}
	clock.Advance(1000)
	if err := ssc.Settled(t.Context(), 1000); err != nil {
		t.Fatal(err)
	}
	stop(t, ssc)
	if err := engine.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`1000.0 group "", "output operation 0, batch time 1000 ms", tags [a], pool "reports"`,
		`1000.1 group "mine", "my own", tags [a b], pool "reports"`,
	}
	if diff := cmp.Diff(jobs, want); diff != "" {
		t.Errorf("properties (-got +want):\n%s", diff)
	}
}

func TestTasksSeeTheirBatch(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{Engine: streamingcontext.EngineOptions{Isolate: true}})
	in := streamtest.Input[int](kit)
	seen := streamtest.Collect(kit, dstream.Transform(in.Stream(), func(r *rdd.RDD[int], _ dstream.Time) (*rdd.RDD[int64], error) {
		return rdd.MapPartitionsWithContext(r, func(ctx context.Context, _ int, _ iter.Seq[int]) iter.Seq2[int64, error] {
			return func(yield func(int64, error) bool) {
				task, _ := rdd.TaskFrom(ctx)
				yield(task.Properties.Batch, nil)
			}
		}), nil
	}))
	in.Push(1)
	kit.Advance(1)
	if got := fmt.Sprint(seen.Batch(1)); !strings.Contains(got, "1000") {
		t.Errorf("batches %s", got)
	}
}

func TestStatsReport(t *testing.T) {
	var out bytes.Buffer
	l := streamingcontext.StatsReport(&out, 4)
	for i := range int64(6) {
		l.BatchCompleted(streamingcontext.BatchInfo{Submitted: 0, Started: 100 * i, Ended: 100*i + 10*(i+1)})
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	want := []string{
		"total delay of 1: min 10ms, 25% 10ms, median 10ms, 75% 10ms, max 10ms",
		"processing time of 1: min 10ms, 25% 10ms, median 10ms, 75% 10ms, max 10ms",
		"total delay of 4: min 230ms, 25% 340ms, median 450ms, 75% 560ms, max 560ms",
		"processing time of 4: min 30ms, 25% 40ms, median 50ms, 75% 60ms, max 60ms",
	}
	if diff := cmp.Diff(append(lines[:2:2], lines[10:]...), want); diff != "" {
		t.Errorf("reports (-got +want):\n%s", diff)
	}
	out.Reset()
	streamingcontext.StatsReport(&out, 0).BatchCompleted(streamingcontext.BatchInfo{Started: streamingcontext.Unknown})
	if got := out.String(); got != "total delay of 1: min 0s, 25% 0s, median 0s, 75% 0s, max 0s\nprocessing time of 0: unknown\n" {
		t.Errorf("a batch without a start: %s", got)
	}
}

func ExampleStatsReport() {
	l := streamingcontext.StatsReport(os.Stdout, 10)
	// In a program: ssc.AddListener(&l), or Options.Listeners.
	l.BatchCompleted(streamingcontext.BatchInfo{Time: 10000, Submitted: 10040, Started: 10100, Ended: 10750})
	// Output:
	// total delay of 1: min 710ms, 25% 710ms, median 710ms, 75% 710ms, max 710ms
	// processing time of 1: min 650ms, 25% 650ms, median 650ms, 75% 650ms, max 650ms
}

func ExampleContext_AddListener() {
	clock := &streamingcontext.ManualClock{}
	ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Clock: clock})
	discard(streamingcontext.Slices(ssc, [][]int{{1, 2, 3}, {4}}, 1))
	ssc.AddListener(&streamingcontext.Listener{
		BatchCompleted: func(b streamingcontext.BatchInfo) { fmt.Println(b.Time, b.Records(), b.Failed()) },
	})
	run(ssc, clock, 2)
	// Output:
	// 1000 ms 3 false
	// 2000 ms 1 false
}
