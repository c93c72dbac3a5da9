package scheduler_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/schedulertest"
)

func TestPlaces(t *testing.T) {
	t.Run("D1_a_panic_of_a_node_asked_for_places_fails_the_job_only", func(t *testing.T) {
		var ended []error
		backend := new(schedulertest.Scripted)
		loop := scheduler.NewScriptLoop(backend, scheduler.Options{Listeners: []scheduler.Listener{{
			JobEnded: func(e scheduler.JobEnded) { ended = append(ended, e.Err) },
		}}})
		loop.ExecutorAdded(scheduler.ExecutorInfo{ID: "a", Slots: 1})
		g := new(schedulertest.Graph)
		bad := g.Source("bad", 2, nil)
		bad.Places = func(int) []string { panic("no map") }
		// Its map stage is the one that waits for it, with a child that waits for that.
		job, _ := schedulertest.Collect(g.Shuffle("final", bad, 1))
		loop.Submit(job)
		var pe *scheduler.PanicError
		if len(ended) != 1 || !errors.As(ended[0], &pe) || pe.Value != "no map" || !loop.Idle() {
			t.Fatalf("got %v, idle %t", ended, loop.Idle())
		}
		job, _ = schedulertest.Collect(g.Source("good", 1, nil))
		loop.Submit(job)
		loop.TaskEnded(schedulertest.Success(backend.Launched()[0], []int64{}))
		if len(ended) != 2 || ended[1] != nil {
			t.Errorf("the next job: got %v", ended)
		}
	})
	t.Run("D26a_large_shuffles_are_not_looked_at", func(t *testing.T) {
		for _, c := range []struct{ maps, want int }{{999, 1}, {1000, 0}} {
			local := 0
			backend := new(schedulertest.Scripted)
			loop := scheduler.NewScriptLoop(backend, scheduler.Options{Listeners: []scheduler.Listener{{
				TaskStarted: func(e scheduler.TaskStarted) {
					if e.Locality == scheduler.NodeLocal {
						local++
					}
				},
			}}})
			loop.ExecutorAdded(scheduler.ExecutorInfo{ID: "a", Host: "h1", Slots: 2000})
			g := new(schedulertest.Graph)
			job, _ := schedulertest.Collect(g.Shuffle("final", g.Source("source", c.maps, nil), 1))
			loop.Submit(job)
			loop.ExecutorAdded(scheduler.ExecutorInfo{ID: "b", Host: "h2", Slots: 2000})
			for _, task := range backend.Launched() {
				loop.TaskEnded(schedulertest.Success(task, nil))
			}
			if local != c.want {
				t.Errorf("%d maps: %d reducers were placed, want %d", c.maps, local, c.want)
			}
		}
	})
	t.Run("nothing_above_a_node_that_is_held_whole_is_looked_at", func(t *testing.T) {
		g := new(schedulertest.Graph)
		asked := 0
		src := g.Source("source", 2, nil)
		src.Places = func(int) []string { asked++; return nil }
		kept := g.Map("kept", src, nil)
		backend := new(schedulertest.Scripted)
		loop := scheduler.NewScriptLoop(backend, scheduler.Options{})
		loop.ExecutorAdded(scheduler.ExecutorInfo{ID: "a", Slots: 2})
		job, _ := schedulertest.Collect(kept)
		loop.Submit(job)
		for _, task := range backend.Launched() {
			end := schedulertest.Success(task, []int64{})
			end.Cached = []scheduler.CachedBlock{{BlockID: scheduler.BlockID{Node: kept.ID(), Part: task.Attempt.Partition},
				Executors: []scheduler.ExecutorID{"a"}}}
			loop.TaskEnded(end)
		}
		before := asked
		job, _ = schedulertest.Collect(g.Map("final", kept, nil))
		loop.Submit(job)
		if before == 0 || asked != before {
			t.Errorf("asked %d times, then %d times", before, asked-before)
		}
	})
	t.Run("a_diamond_of_thirty_steps_is_walked_once", func(t *testing.T) {
		g := new(schedulertest.Graph)
		node := g.Source("source", 1, nil)
		node.Places = func(int) []string { return []string{"a"} }
		for range 30 {
			node = g.Zip("twice", node, node)
		}
		backend := new(schedulertest.Scripted)
		loop := scheduler.NewScriptLoop(backend, scheduler.Options{})
		loop.ExecutorAdded(scheduler.ExecutorInfo{ID: "b", Slots: 1})
		loop.ExecutorAdded(scheduler.ExecutorInfo{ID: "a", Slots: 1})
		job, _ := schedulertest.Collect(node)
		loop.Submit(job)
		if on := backend.Launched()[0].Executor; on != "a" {
			t.Errorf("launched on %s", on)
		}
	})
}

func TestOptionsOfPlacement(t *testing.T) {
	bad := scheduler.Options{LocalityWait: -1, Speculation: scheduler.Speculation{Quantile: 2, Multiplier: -1},
		Exclusion: scheduler.Exclusion{Timeout: -1}}
	err := bad.Validate()
	for _, want := range []string{"LocalityWait is negative", "Quantile is over 1", "Speculation.Multiplier is negative", "Exclusion.Timeout is negative"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	on := scheduler.Options{LocalityWait: time.Second, Speculation: scheduler.Speculation{Enabled: true}, Exclusion: scheduler.Exclusion{Enabled: true}}
	if err := on.Validate(); err != nil {
		t.Error(err)
	}
	if s := on.String(); !strings.HasSuffix(s, ", locality wait 1s, speculation after 3 x 0.9, exclusion for 1h0m0s") {
		t.Errorf("got %q", s)
	}
}

// A knowing backend says how many rows attempts have read.
type knowing struct {
	*schedulertest.Scripted
	rows map[scheduler.TaskID]int64
}

func (k knowing) Rows(id scheduler.TaskID) (int64, bool) {
	rows, known := k.rows[id]
	return rows, known
}

func TestTasksThatReadAsFastAsOthersHaveTwiceTheTime(t *testing.T) {
	// D25: three tasks read 100 rows in 1 s each; the fourth has read more, at 3100 ms.
	for _, c := range []struct {
		rows int64
		at   time.Duration // when it is copied
	}{{0, 3100}, {230, 3100}, {600, 6100}} {
		t.Run(fmt.Sprintf("D25_rows_%d", c.rows), func(t *testing.T) {
			backend := knowing{new(schedulertest.Scripted), map[scheduler.TaskID]int64{4: c.rows}}
			slow := 0
			loop := scheduler.NewScriptLoop(backend, scheduler.Options{Speculation: scheduler.Speculation{Enabled: true, Quantile: 0.75},
				Listeners: []scheduler.Listener{{TaskCopied: func(scheduler.TaskStarted) { slow++ }}}})
			loop.ExecutorAdded(scheduler.ExecutorInfo{ID: "a", Slots: 4})
			job, _ := schedulertest.Collect(new(schedulertest.Graph).Source("source", 4, nil))
			loop.Submit(job)
			loop.Advance(time.Second)
			for _, task := range backend.Launched()[:3] {
				end := schedulertest.Success(task, []int64{})
				end.Metrics = lineage.Metrics{InputRows: 100}
				loop.TaskEnded(end)
			}
			loop.Advance(c.at*time.Millisecond - time.Second - time.Millisecond)
			if slow != 0 {
				t.Errorf("it was copied before %d ms", c.at)
			}
			loop.Advance(time.Millisecond)
			if slow != 1 {
				t.Errorf("it was not copied at %d ms", c.at)
			}
		})
	}
}

// BenchmarkPlacedTasks measures what launching a task and taking its report cost the loop, without and with a
// place that it prefers, and a wait for it.
func BenchmarkPlacedTasks(b *testing.B) {
	const tasks = 4096
	for _, c := range []struct {
		name string
		set  func(o *scheduler.Options, src *schedulertest.Node)
	}{
		{"plain", func(*scheduler.Options, *schedulertest.Node) {}},
		{"places", func(o *scheduler.Options, src *schedulertest.Node) {
			names := make([][]string, 16)
			for i := range names {
				names[i] = []string{fmt.Sprint("e", i)}
			}
			src.Places = func(part int) []string { return names[part%16] }
		}},
		{"waits", func(o *scheduler.Options, src *schedulertest.Node) {
			names := []string{"e0"} // the other fifteen stand by
			src.Places = func(int) []string { return names }
			o.LocalityWait = time.Hour
		}},
		{"exclusion", func(o *scheduler.Options, src *schedulertest.Node) { o.Exclusion.Enabled = true }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var opts scheduler.Options
			src := new(schedulertest.Graph).Source("source", tasks, nil)
			c.set(&opts, src)
			backend := new(echo)
			loop := scheduler.NewScriptLoop(backend, opts)
			for i := range 16 {
				loop.ExecutorAdded(scheduler.ExecutorInfo{ID: scheduler.ExecutorID(fmt.Sprint("e", i)), Slots: 2})
			}
			job, _ := schedulertest.Collect(src)
			job.Done = nil
			b.ReportAllocs()
			for b.Loop() {
				loop.Submit(job)
				for len(backend.launched) > 0 {
					id := backend.launched[0]
					backend.launched = backend.launched[1:]
					loop.TaskEnded(&scheduler.TaskEnd{Task: id})
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/tasks, "ns/task")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// An echo is a backend that keeps what was launched for the test to end.
type echo struct {
	schedulertest.Scripted
	launched []scheduler.TaskID
}

func (e *echo) Launch(task *scheduler.Task) { e.launched = append(e.launched, task.ID) }
