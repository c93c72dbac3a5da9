package streamingcontext_test

import (
	"strings"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/streamingcontext"
)

func TestStartReportsAllMistakes(t *testing.T) {
	ssc := streamingcontext.New(streamingcontext.Options{ConcurrentJobs: -1})
	other := streamingcontext.New(streamingcontext.Options{Interval: time.Second})
	in := nothing(ssc)
	dstream.Map[int, int](in, nil)
	in.Union(nothing(other))
	dstream.Window(in, 1500*time.Microsecond, 0)
	streamingcontext.QueueStream[int](ssc, nil)
	ssc.TextFiles("[")
	err := ssc.Start(t.Context())
	for _, want := range []error{streamingcontext.ErrBatchDurationUnset, dstream.ErrNilFunction, dstream.ErrDifferentContexts,
		dstream.ErrBadWindow, dstream.ErrArgument, dstream.ErrNoOutputOps} {
		wantErr(t, "start", err, want)
	}
	for _, want := range []string{"ConcurrentJobs is negative", "syntax error in pattern", "options_test.go:"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("start: %v; want %q in it", err, want)
		}
	}
	wantState(t, ssc, streamingcontext.Stopped)
	stop(t, other)
}

func TestOptions(t *testing.T) {
	engine, err := streamingcontext.NewEngine(streamingcontext.EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	for want, o := range map[string]streamingcontext.Options{
		"not a positive whole number": {Interval: time.Microsecond},
		"App has 256 bytes":           {Interval: time.Second, App: strings.Repeat("a", 256)},
		"must be zero with a given":   {Interval: time.Second, Engine: engine, CheckpointDir: "x"},
		"MaxRate is negative":         {Interval: time.Second, MaxRate: -1},
		"unknown estimator":           {Interval: time.Second, Backpressure: streamingcontext.Backpressure{Estimator: "x"}},
		"dynamic allocation":          {Interval: time.Second, DynamicAllocation: streamingcontext.DynamicAllocation{MinExecutors: -1}},
		"BlockInterval":               {Interval: time.Second, BlockInterval: time.Microsecond},
		"Executors is negative":       {Interval: time.Second, EngineOptions: streamingcontext.EngineOptions{Executors: -1}},
	} {
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("validate: %v, want %q", err, want)
		}
		if err := streamingcontext.New(o).Start(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("start: %v, want %q", err, want)
		}
	}
	if err := (streamingcontext.Options{Interval: time.Second}).Validate(); err != nil {
		t.Errorf("the least options: %v", err)
	}
	if s := (streamingcontext.Options{Interval: time.Second}).String(); !strings.Contains(s, "stop timeout 10s") {
		t.Errorf("options in effect: %s", s)
	}
}
