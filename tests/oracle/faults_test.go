package oracle

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each kind of fault does its harm and leaves the results as they are. Where a fault strikes depends on scheduling:
// a few moments are tried.
func TestEveryFaultStrikesAndResultsStay(t *testing.T) {
	calm := Config{Parts: 7, Executors: 3, Slots: 2}
	for _, c := range []struct {
		name   string
		harm   func(c *Config)
		struck func(w Work) int64
	}{
		{"lose", func(c *Config) { c.Kills = 3 }, func(w Work) int64 { return w.Lost }},
		{"spoil", func(c *Config) { c.Spoils = 3 }, func(w Work) int64 { return w.Spoiled }},
		{"spoil_with_isolation", func(c *Config) { c.Spoils, c.Isolate = 3, true }, func(w Work) int64 { return w.Spoiled }},
		{"meddle", func(c *Config) { c.Meddles = 3 }, func(w Work) int64 { return w.Meddled }},
		{"stall", func(c *Config) { c.Stalls = 1 }, func(w Work) int64 { return w.Stalled }},
		{"hang", func(c *Config) { c.Hangs = 2 }, func(w Work) int64 { return min(w.Hung, w.Copies) }},
		{"little_memory", func(c *Config) { c.Memory = 64 << 10 }, func(w Work) int64 { return w.Spills }},
		{"little_memory_for_blocks", func(c *Config) { c.Memory, c.Isolate = 700<<10, true }, func(w Work) int64 { return w.Evictions }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := keepingPlan(t)
			want := Expect(p)
			work, err := Check(t.Context(), p, want, calm)
			if err != nil {
				t.Fatal(err)
			}
			if c.struck(work) != 0 {
				t.Fatalf("%+v without faults", work)
			}
			struck := int64(0)
			for when := range uint64(10) {
				config := calm
				config.When, config.Work = when, work
				c.harm(&config)
				got, err := Check(t.Context(), p, want, config)
				if err != nil {
					t.Fatalf("%v: %v", config, err)
				}
				struck += c.struck(got)
			}
			if struck == 0 {
				t.Error("nothing happened in ten runs")
			}
		})
	}
}

// keepingPlan is a plan that shuffles and keeps rows with long strings.
func keepingPlan(t *testing.T) *Plan {
	t.Helper()
	p := &Plan{Seed: 2, Batches: 1, Interval: 1000, Outputs: []int{2}}
	var rows []Row
	for i := range int64(100) {
		rows = append(rows, Row{Key: fmt.Sprint("key ", i%7), Value: i})
	}
	p.Sources = []Source{{Batches: batchesOf(rows)}}
	p.Steps = []Step{stepOf(t, "persistLong", Step{Arg: 2, Width: 12 << 10}), stepOf(t, "sortLong", Step{Width: 12 << 10, Parts: 2}),
		stepOf(t, "groupLong", Step{Width: 12 << 10, Parts: 1})}
	p.Steps[1].In[0], p.Steps[2].In[0] = 0, 1
	if err := p.settle(); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAConfigMakesTheSameFaults(t *testing.T) {
	for seed := range uint64(20) {
		for i, c := range Configs(seed) {
			if diff := cmp.Diff(c.schedule(), Configs(seed)[i].schedule()); diff != "" {
				t.Error(diff)
			}
			if got := len(c.schedule()); (got > 0) != c.harms() || (i%2 == 1) != c.harms() {
				t.Errorf("seed %d, config %d: %d faults, %v", seed, i, got, c)
			}
			if c.speculates() && (c.Executors < 2 || c.Slots < 2) {
				t.Errorf("seed %d, config %d leaves no slot for copies: %v", seed, i, c)
			}
		}
	}
}

func TestTooFewFaultsAreSeen(t *testing.T) {
	all := Work{1, 1, 9, 9, 9, 9, 9, 9, 9, 9}
	if err := all.short(9); err != nil {
		t.Error(err)
	}
	all.Evictions = 8
	if err := all.short(9); err == nil || !strings.Contains(err.Error(), "8 evictions") {
		t.Errorf("got %v", err)
	}
}

func TestLawsFail(t *testing.T) {
	all := []Row{{Key: "a", Value: 1}, {Key: "b", Value: 2}, {Key: "a", Value: 1}}
	for _, part := range [][]Row{nil, all[:1], all[1:], all, {all[0], all[2]}} {
		if err := within(part, all); err != nil {
			t.Error(err)
		}
	}
	for _, part := range [][]Row{{all[1], all[1]}, {all[1], all[0], all[0]}, {{Key: "a", Value: 2}}} {
		if within(part, all) == nil {
			t.Errorf("%v passes for a part of %v", part, all)
		}
	}
	if members([]Row{all[1], all[1]}, all) != nil || members([]Row{{Key: "c"}}, all) == nil {
		t.Error("members are not told from others")
	}
}
