package oracle

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stepOf returns a step of the operation with a name over source 0, or over both sources.
func stepOf(t *testing.T, name string, s Step) Step {
	t.Helper()
	for _, o := range operations() {
		if o.name == name {
			s.op = o
			for i := range o.inputs {
				s.In = append(s.In, ^i)
			}
			return s
		}
	}
	t.Fatalf("no operation %q", name)
	return s
}

// batchesOf returns present batches of the rows, from index 1.
func batchesOf(rows ...[]Row) []Batch {
	all := make([]Batch, 1, len(rows)+1)
	for _, r := range rows {
		all = append(all, Batch{Present: true, Rows: r})
	}
	return all
}

// The evaluator is right because it is plain; these cases were worked out by hand.
func TestPlainEvaluator(t *testing.T) {
	a := []Row{{Key: "x", Value: 1}, {Key: "y", Value: 2}, {Key: "x", Value: 1}}
	b := []Row{{Key: "x", Value: 10}, {Key: "z", Value: 20}}
	for _, c := range []struct {
		name    string
		step    Step
		sources [][]Batch
		want    [][]Row // by batch, sorted; nil is absent
	}{
		{"reduceByKey", Step{}, [][]Batch{batchesOf(a)}, [][]Row{{{Key: "x", Value: 2}, {Key: "y", Value: 2}}}},
		{"distinct", Step{}, [][]Batch{batchesOf(a)}, [][]Row{{{Key: "x", Value: 1}, {Key: "y", Value: 2}}}},
		{"join", Step{}, [][]Batch{batchesOf(a), batchesOf(b)}, [][]Row{{{Key: "x", Value: 54}, {Key: "x", Value: 54}}}},
		{"fullOuterJoin", Step{}, [][]Batch{batchesOf(a), batchesOf(b)}, [][]Row{{
			{Key: "x", Value: 54}, {Key: "x", Value: 54}, {Key: "y", Value: 2*3 - 77*5 + 1}, {Key: "z", Value: -77*3 + 20*5 + 1}}}},
		{"subtractByKey", Step{}, [][]Batch{batchesOf(a), batchesOf(b)}, [][]Row{{{Key: "y", Value: 2}}}},
		{"index", Step{}, [][]Batch{batchesOf(b)}, [][]Row{{{Key: "x", Value: 310}, {Key: "z", Value: 621}}}},
		{"sliding", Step{Arg: 1}, [][]Batch{batchesOf(a)}, [][]Row{{{Key: "x", Value: 5}, {Key: "y", Value: 4}}}},
		{"zipPartitions", Step{}, [][]Batch{batchesOf(b)}, [][]Row{{
			{Key: "x", Value: 10}, {Key: "x", Value: 20}, {Key: "z", Value: 20}, {Key: "z", Value: 40}}}},
		{"unionAll", Step{Arg: 2}, [][]Batch{batchesOf(b[:1]), batchesOf(b[1:])}, [][]Row{{
			{Key: "x", Value: 10}, {Key: "x", Value: 10}, {Key: "x", Value: 42}}}},
		{"coGroup4", Step{}, [][]Batch{batchesOf(b[:1]), batchesOf(nil)}, [][]Row{{
			{Key: "x", Value: 1 + mix(10) + 5*(1+mix(20))}}}},
		{"intersection", Step{}, [][]Batch{batchesOf(a), batchesOf(a[:2])}, [][]Row{{{Key: "x", Value: 1}, {Key: "y", Value: 2}}}},
		{"subtract", Step{}, [][]Batch{batchesOf(a), batchesOf(a[:1])}, [][]Row{{{Key: "y", Value: 2}}}},
		{"joinLong", Step{}, [][]Batch{batchesOf(b)}, [][]Row{{{Key: "x", Value: 81}, {Key: "z", Value: 161}}}},
		{"groupLong", Step{}, [][]Batch{batchesOf(b)}, [][]Row{{{Key: "x", Value: 1 + mix(10)}, {Key: "z", Value: 1 + mix(20)}}}},
		{"window", Step{Window: 2, Slide: 2}, [][]Batch{batchesOf(a, b, b[:1], nil)}, [][]Row{nil,
			{{Key: "x", Value: 1}, {Key: "x", Value: 1}, {Key: "x", Value: 10}, {Key: "y", Value: 2}, {Key: "z", Value: 20}},
			nil, {{Key: "x", Value: 10}}}},
		{"reduceByKeyAndWindowInverse", Step{Window: 1, Slide: 1}, [][]Batch{batchesOf(nil, b, a)}, [][]Row{{},
			{{Key: "x", Value: 10}, {Key: "z", Value: 20}},
			{{Key: "x", Value: 2}, {Key: "y", Value: 2}, {Key: "z", Value: 0}}}},
		{"reduceByKeyAndWindowNonZero", Step{Window: 1, Slide: 1}, [][]Batch{batchesOf(b, a)}, [][]Row{
			{{Key: "x", Value: 10}, {Key: "z", Value: 20}}, {{Key: "x", Value: 2}, {Key: "y", Value: 2}}}},
		{"countByWindow", Step{Window: 2, Slide: 1}, [][]Batch{batchesOf(nil, b, nil, nil)}, [][]Row{
			{}, {{Key: "#", Value: 2}}, {{Key: "#", Value: 2}}, {{Key: "#", Value: 0}}}},
		{"count", Step{}, [][]Batch{batchesOf(nil, a)}, [][]Row{{{Key: "#", Value: 0}}, {{Key: "#", Value: 3}}}},
		// 3 of z is not put into a state that is there; without data z times out at 4, two slides after 1.
		{"stateSnapshotsTimeout", Step{Arg: 0, Every: 2}, [][]Batch{{{}, {Present: true, Rows: []Row{{Key: "x", Value: 1}, {Key: "z", Value: 2}}},
			{Present: true, Rows: []Row{{Key: "x", Value: 3}}}, {Present: true, Rows: []Row{{Key: "x", Value: 4}}}, {}}}, [][]Row{
			{{Key: "x", Value: 1 + mix(1)}, {Key: "z", Value: 2 + mix(2)}},
			{{Key: "x", Value: 1 + mix(1)}, {Key: "z", Value: 2 + mix(2)}},
			{{Key: "x", Value: 5 + mix(1) + 2*mix(4)}, {Key: "z", Value: 2 + mix(2)}},
			{{Key: "x", Value: 5 + mix(1) + 2*mix(4)}}}},
		{"mapWithStateTimeoutInitial", Step{Arg: 0, Every: 4}, [][]Batch{{{}, {}, {}, {}, {}}}, [][]Row{{}, {}, {},
			{{Key: "a", Value: 5 + mix(1) + 2*mix(2)}, {Key: "never seen", Value: 7}}}},
		{"updateStateByKey", Step{}, [][]Batch{{{}, {}, {Present: true, Rows: b}, {}}}, [][]Row{nil,
			{{Key: "x", Value: 10 + mix(10)}, {Key: "z", Value: 20 + mix(20)}},
			{{Key: "x", Value: 10 + mix(10)}, {Key: "z", Value: 20 + mix(20)}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.step.op.family == batchOnly {
				t.Fatal("not over streams")
			}
			p := &Plan{Stream: true, Batches: len(c.want), Steps: []Step{stepOf(t, c.name, c.step)}, Outputs: []int{0}}
			for _, s := range c.sources {
				p.Sources = append(p.Sources, Source{Batches: s})
			}
			if err := p.settle(); err != nil {
				t.Fatal(err)
			}
			var got [][]Row
			for _, b := range Expect(p)[0][1:] {
				switch {
				case !b.Present:
					got = append(got, nil)
				case len(b.Rows) == 0:
					got = append(got, []Row{})
				default:
					got = append(got, sorted(b.Rows))
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("batches (-want +got):\n%s", d)
			}
		})
	}
}
