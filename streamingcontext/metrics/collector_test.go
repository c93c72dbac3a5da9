package metrics_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/scheduler"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/metrics"
	"github.com/leat-io/leat/streamingcontext/progress"
)

const unknown = streamingcontext.Unknown

// told is a store that has heard of two completed batches, one that runs and one that waits.
func told() *progress.Store {
	s := progress.New(progress.Options{App: "counts", Interval: time.Second})
	l := s.Listener()
	l.StreamingStarted(500)
	r := streamingcontext.ReceiverInfo{Stream: 0, Name: "Socket stream [0]", Active: true, LastErrorAt: unknown}
	l.ReceiverStarted(r)
	r.LastError, r.LastErrorAt, r.Active = errors.New("refused"), 1500, false
	l.ReceiverStopped(r)
	r.Active = true
	l.ReceiverStarted(r)
	l.ReceiverStarted(streamingcontext.ReceiverInfo{Stream: 1, Name: "odd \xff\"", LastErrorAt: unknown})
	for i, ended := range []int64{1100, 2600, unknown, unknown} {
		at := int64(1000 * (i + 1))
		b := streamingcontext.BatchInfo{Time: dstream.Time(at), Submitted: at + 10, Started: unknown, Ended: unknown,
			Inputs:  []dstream.InputInfo{{Stream: 0, Records: 5}, {Stream: 1, Records: int64(i)}},
			Outputs: []streamingcontext.OutputInfo{{Batch: dstream.Time(at)}}}
		l.BatchSubmitted(b)
		if i == 3 {
			break
		}
		b.Started = at + 20
		l.BatchStarted(b)
		if ended != unknown {
			b.Ended = ended
			if i == 1 {
				b.Outputs[0].Err = errors.New("no")
			}
			l.BatchCompleted(b)
		}
	}
	l.Dropped(3)
	j := s.SchedulerListener()
	j.ExecutorAdded(scheduler.ExecutorInfo{})
	j.ExecutorAdded(scheduler.ExecutorInfo{})
	j.ExecutorLost("a", scheduler.Loss{})
	j.JobStarted(scheduler.JobStarted{Job: 1})
	j.JobStarted(scheduler.JobStarted{Job: 2})
	j.JobEnded(scheduler.JobEnded{Job: 1, Skipped: []int{1, 2}})
	j.TaskStarted(scheduler.TaskStarted{})
	j.TaskEnded(scheduler.TaskEnded{})
	return s
}

func TestMetrics(t *testing.T) {
	want, err := os.Open("testdata/metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer want.Close()
	if err := testutil.CollectAndCompare(metrics.New(told()), want); err != nil {
		t.Error(err)
	}
}

func TestMetricsOfAProgramThatHasNotStarted(t *testing.T) {
	text := scrape(t, metrics.Handler(progress.New(progress.Options{})))
	for _, want := range []string{
		"leat_streaming_last_completed_batch_total_delay_seconds -1\n", "leat_streaming_last_received_batch_submission_time_seconds -1\n",
		"leat_streaming_last_received_batch_records 0\n", "leat_streaming_start_time_seconds -1\n", "leat_streaming_completed_batches_total 0\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestMetricsFollowTheRulesForNames(t *testing.T) {
	problems, err := testutil.CollectAndLint(metrics.New(told()))
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %+v", err, problems)
	}
}

func TestTwoStoresHaveRegistriesOfTheirOwn(t *testing.T) {
	a, b := metrics.Handler(told()), metrics.Handler(progress.New(progress.Options{}))
	if scrape(t, a) == scrape(t, b) {
		t.Error("both say the same")
	}
	if err := prometheus.DefaultRegisterer.Register(metrics.New(told())); err != nil {
		t.Errorf("the global registry has been used: %v", err)
	}
	prometheus.DefaultRegisterer.Unregister(metrics.New(told()))
}

func scrape(t *testing.T, h http.Handler) string {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func ExampleHandler() {
	store := progress.New(progress.Options{})
	// In a program: defer store.Attach(ssc)()
	store.Listener().BatchCompleted(streamingcontext.BatchInfo{Time: 1000, Submitted: 1000, Started: 1010, Ended: 1250})
	w := httptest.NewRecorder()
	metrics.Handler(store).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "leat_streaming_last_completed_batch_total_delay") {
			fmt.Print(line)
		}
	}
	// Output: leat_streaming_last_completed_batch_total_delay_seconds 0.25
}

func ExampleNew() {
	registry := prometheus.NewPedanticRegistry() // of the program's own, beside other collectors
	err := registry.Register(metrics.New(progress.New(progress.Options{})))
	fmt.Println(err)
	// Output: <nil>
}

func BenchmarkScrape(b *testing.B) {
	s := progress.New(progress.Options{Interval: time.Second})
	for i := range int64(1000) {
		s.Listener().BatchCompleted(streamingcontext.BatchInfo{Time: dstream.Time(1000 * i)})
	}
	h := metrics.Handler(s)
	for b.Loop() {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/metrics", nil))
	}
}
