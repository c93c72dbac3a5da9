package streamingcontext

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/leat-io/leat/scheduler"
)

// on returns executors, each given as id or id@host; a host is else the id in lower case.
func on(names ...string) []scheduler.ExecutorInfo {
	var all []scheduler.ExecutorInfo
	for _, name := range names {
		id, host, ok := strings.Cut(name, "@")
		if !ok {
			host = strings.ToLower(id)
		}
		all = append(all, scheduler.ExecutorInfo{ID: scheduler.ExecutorID(id), Host: host})
	}
	return all
}

func TestPlacementAtTheStart(t *testing.T) {
	for _, test := range []struct {
		name      string
		preferred []string // of the receivers
		executors []scheduler.ExecutorInfo
		want      [][]string
	}{
		{"Y1 three receivers, six executors", []string{"", "", ""}, on("A", "B", "C", "D", "E", "F"), [][]string{{"A", "D"}, {"B", "E"}, {"C", "F"}}},
		{"Y1 six receivers, three executors", []string{"", "", "", "", "", ""}, on("A", "B", "C"), [][]string{{"A"}, {"B"}, {"C"}, {"A"}, {"B"}, {"C"}}},
		{"Y1 no executors", []string{"", "h"}, nil, [][]string{nil, nil}},
		{"no receivers", nil, on("A"), [][]string{}},
		{"the least loaded on a host", []string{"h", "h", "h"}, on("A@h", "B@h", "C"), [][]string{{"A", "C"}, {"B"}, {"A"}}},
		{"an unknown host", []string{"x", ""}, on("A", "B"), [][]string{{"x", "B"}, {"A"}}},
		{"hosts come first", []string{"", "a"}, on("A", "B"), [][]string{{"B"}, {"A"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var receivers []placed
			for i, host := range test.preferred {
				receivers = append(receivers, placed{stream: i, preferred: host})
			}
			got := placeAll(receivers, test.executors)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("candidates (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlacementAgain_Y2(t *testing.T) {
	others := []placed{
		{stream: 0, state: active, executor: "A"},
		{stream: 1, state: scheduled, candidates: []string{"A", "B"}},
		{stream: 2, state: scheduled, candidates: []string{"B", "C", "D"}},
	}
	for _, test := range []struct {
		name, preferred string
		others          []placed
		executors       []scheduler.ExecutorInfo
		want            []string
	}{
		{"the least weight", "", others, on("A", "B", "C", "D"), []string{"C", "D"}},
		{"an idle one", "", others, on("A", "B", "C", "D", "E"), []string{"E"}},
		{"an unknown host", "h", others, on("A", "B", "C", "D", "E"), []string{"h", "E"}},
		{"no executors", "h", others, nil, nil},
		{"all idle", "", nil, on("A", "B"), []string{"A", "B"}},
		{"an inactive one weighs nothing", "", []placed{{state: inactive, executor: "A", candidates: []string{"A"}}, {state: active, executor: "B"}}, on("A", "B"), []string{"A"}},
		{"what is gone weighs nothing", "", []placed{{state: active, executor: "X"}}, on("A"), []string{"A"}},
		// 1/3 + 1/6 is 1/2, which it is not in binary.
		{"equal sums of fractions", "", []placed{
			{state: scheduled, candidates: []string{"A", "X", "Y"}}, {state: scheduled, candidates: []string{"A", "1", "2", "3", "4", "5"}},
			{state: scheduled, candidates: []string{"B", "X"}}}, on("A", "B"), []string{"A", "B"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := placeAgain(test.preferred, test.others, test.executors); !slices.Equal(got, test.want) {
				t.Errorf("candidates %v, want %v", got, test.want)
			}
		})
	}
}

// Whatever there is: with executors everybody has a candidate, no executor idles, and receivers without a wish are
// spread evenly.
func TestPlacementIsFair_Y1(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		executors := on([]string{"A", "B", "C", "D", "E", "F", "G"}[:rapid.IntRange(1, 7).Draw(rt, "executors")]...)
		receivers := make([]placed, rapid.IntRange(1, 20).Draw(rt, "receivers"))
		load := map[string]int{}
		for i, candidates := range placeAll(receivers, executors) {
			if len(candidates) == 0 || settleOn(candidates, executors) != scheduler.ExecutorID(candidates[0]) {
				rt.Fatalf("receiver %d has candidates %v", i, candidates)
			}
			for _, name := range candidates {
				load[name]++
			}
		}
		low, high := len(receivers), 0
		for _, e := range executors {
			low, high = min(low, load[string(e.ID)]), max(high, load[string(e.ID)])
		}
		if low == 0 || high-low > 1 {
			rt.Errorf("load %v", load)
		}
	})
}

func TestScaling_Y3(t *testing.T) {
	two, three := on("A", "B"), on("A", "B", "C")
	hosting := func(id scheduler.ExecutorID) bool { return id == "A" }
	for _, test := range []struct {
		mean      time.Duration
		opts      DynamicAllocation
		executors []scheduler.ExecutorInfo
		total     int
		release   scheduler.ExecutorID
	}{
		{1000, DynamicAllocation{}, two, 3, ""},
		{2500, DynamicAllocation{}, two, 5, ""},
		{901, DynamicAllocation{}, two, 3, ""},
		{899, DynamicAllocation{}, two, 2, ""},
		{301, DynamicAllocation{}, two, 2, ""},
		{299, DynamicAllocation{}, two, 1, "B"},
		{299, DynamicAllocation{}, three, 2, "C"},
		{299, DynamicAllocation{MinExecutors: 2}, two, 2, ""},
		{299, DynamicAllocation{}, on("A"), 1, ""},
		{2500, DynamicAllocation{MaxExecutors: 4}, two, 4, ""},
		{2500, DynamicAllocation{MaxExecutors: 2}, two, 2, ""},
		{1000, DynamicAllocation{MinExecutors: 6}, two, 6, ""},
		{500, DynamicAllocation{UpRatio: 0.5, DownRatio: 0.4}, two, 3, ""},
		{-1, DynamicAllocation{}, two, 2, ""},
	} {
		mean := test.mean * time.Millisecond
		total, release := test.opts.withDefaults(1).scale(mean, time.Second, test.executors, hosting)
		if total != test.total || release != test.release {
			t.Errorf("mean %v, %+v, executors %v: %d, %q; want %d, %q", mean, test.opts, test.executors, total, release, test.total, test.release)
		}
	}
	for want, o := range map[string]DynamicAllocation{
		"MinExecutors is negative": {MinExecutors: -1}, "MaxExecutors is negative": {MaxExecutors: -1},
		"below MinExecutors": {MinExecutors: 3, MaxExecutors: 2}, "whole number": {Interval: time.Microsecond},
		"must be above zero": {UpRatio: -1}, "not above DownRatio": {UpRatio: 0.3},
	} {
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
	if err := (DynamicAllocation{}).Validate(); err != nil {
		t.Error(err)
	}
}
