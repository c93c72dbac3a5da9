package hostile

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/scheduler/local"
)

// TestACombineFunctionThatIsNotAssociative gives one answer a plan, however often it is computed and with however little
// memory (B7).
func TestACombineFunctionThatIsNotAssociative(t *testing.T) {
	odd := func(a, b float64) float64 { return a/3 - b }
	var want []rdd.Pair[int, float64]
	var wantSum float64
	rigs(t, func(t *testing.T, r *rig) {
		for range 3 {
			rows := rdd.Map(rdd.Range(r.Context, 0, 60_000, 1, 5), func(i int64) rdd.Pair[int, float64] {
				return rdd.Pair[int, float64]{Key: int(i * 7919 % 20_011), Value: float64(i)}
			})
			got, err := rdd.ReduceByKey(rows, odd, rdd.NumPartitions(3)).Collect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			sum, err := rdd.Values(rows).Reduce(t.Context(), odd)
			if err != nil {
				t.Fatal(err)
			}
			tree, err := rdd.TreeReduce(t.Context(), rdd.Values(rows), odd, 2)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want, wantSum = got, sum+tree
			}
			if !slices.Equal(got, want) || sum+tree != wantSum {
				t.Errorf("another answer: %d pairs equal %t, sums %v and %v", len(got), slices.Equal(got, want), sum+tree, wantSum)
			}
		}
	})
}

// TestResultsOverTheLimit ends a job whose results are too large, whichever action asks for them (B7).
func TestResultsOverTheLimit(t *testing.T) {
	r := newRig(t, rigOptions{Options: local.Options{Isolate: true}, Scheduler: scheduler.Options{MaxResultSize: 100 << 10}})
	rows := fat(r.Context, 1000)
	for name, run := range map[string]func() error{
		"collect":      func() error { _, err := rows.Collect(t.Context()); return err },
		"async":        func() error { _, err := rdd.CollectAsync(t.Context(), rows).Wait(t.Context()); return err },
		"collectAsMap": func() error { _, err := rdd.CollectAsMap(t.Context(), rows); return err },
		"aggregate": func() error {
			_, err := rdd.Aggregate(t.Context(), rdd.Values(rows), []string{}, func(a []string, s string) []string { return append(a, s) },
				func(a, b []string) []string { return append(a, b...) })
			return err
		},
	} {
		err := within(t, name, run)
		if _, ok := errors.AsType[*scheduler.ResultSizeError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
		if job, ok := errors.AsType[*scheduler.JobError](err); !ok || job.Name == "" {
			t.Errorf("%s: error %v names no action", name, err)
		}
		wantPlace(t, err)
	}
	if n, err := rows.Count(t.Context()); n != 1000 || err != nil {
		t.Error(n, err)
	}
	err := rows.SaveAsTextFile(t.Context(), filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Errorf("a save has no results: %v", err)
	}
}

// TestAListenerThatBlocksTheCluster holds up neither jobs nor other listeners, and Close not for ever (B7, E3).
func TestAListenerThatBlocksTheCluster(t *testing.T) {
	release := make(chan bool)
	blocked, heard := make(chan bool, 1), make(chan bool, 1)
	tell := func(c chan bool) {
		select {
		case c <- true:
		default:
		}
	}
	r := newRig(t, rigOptions{Scheduler: scheduler.Options{ListenerQueue: 100, ListenerPatience: 1, Listeners: []scheduler.Listener{
		{JobStarted: func(scheduler.JobStarted) { tell(blocked); <-release }},
		{JobEnded: func(scheduler.JobEnded) { tell(heard) }},
	}}})
	for range 50 {
		r.works(t)
	}
	<-blocked
	wait := func() error { <-heard; return nil }
	if err := within(t, "another listener", wait); err != nil {
		t.Error(err)
	}
	if err := within(t, "close", r.scheduler.Close); !errors.Is(err, scheduler.ErrListenerStuck) {
		t.Errorf("close: %v", err)
	}
	close(release)
}
