package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/leat-io/leat/tests/bench/peer"
	"github.com/leat-io/leat/tests/bench/workload"
)

// The windows that are compared, in batches.
const (
	shortWindow  = 6
	mediumWindow = 60
	longWindow   = 600
)

// windowPlan is how many slides are run.
type windowPlan struct {
	long   int // batches of the long window
	rounds int
}

func (s *suite) windowPlan() windowPlan {
	if s.size < workload.S {
		return windowPlan{long: mediumWindow, rounds: s.rounds}
	}
	return windowPlan{long: longWindow, rounds: s.rounds}
}

// measureWindows measures W2: what a slide costs. All windows run on one core, since what is compared
// is how the cost grows with the window, and that is the same on any number of them.
func measureWindows(ctx context.Context, s *suite) error {
	cores := s.cores[0]
	in, err := newWindowInput(s.size, cores, 0)
	if err != nil {
		return err
	}
	r := row{workload: "W2", size: s.size}
	if err := checkWindowAnswer(ctx, s, in, cores); err != nil {
		return err
	}
	plan := s.windowPlan()
	if s.wants("growth with inverse") {
		// The window part of a slide is a tenth of it, so a round has whole checkpoint intervals.
		if err := measureGrowth(ctx, s, r, in, withInverse, plan, 60, atMost(1.4, 1.3)); err != nil {
			return err
		}
	}
	if s.wants("growth without inverse") {
		// A pane takes part in combinations until its block has left, so a round is a block.
		if err := measureGrowth(ctx, s, r, in, withoutInverse, plan, plan.long, atMost(2.2, 2)); err != nil {
			return err
		}
	}
	if s.wants("recompute") {
		return measureRecompute(ctx, s, r, in, plan)
	}
	return nil
}

// checkWindowAnswer checks the window that the workload's definition gives the answer of.
func checkWindowAnswer(ctx context.Context, s *suite, in windowInput, cores int) (err error) {
	if s.size < workload.M {
		return nil
	}
	want := workload.PairsWindowWant()
	for _, kind := range []windowKind{withInverse, withoutInverse, recomputed, recomputedReduced} {
		w, err := newWindowed(kind, in, want.Last-want.First+1, 1, cores, s.dir)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.close()) }()
		if err := w.warm(ctx, want.Last+1); err != nil {
			return err
		}
		sum := want.Sum
		if kind.name == withoutInverse.name {
			sum = want.Max
		}
		if w.got.keys != int64(want.Keys) || w.got.values != sum {
			return fmt.Errorf("%s: wrong answer: got %+v, want %d keys and sum %d", kind.name, w.got, want.Keys, sum)
		}
	}
	return nil
}

// measureGrowth compares a long window with a short one. Reducing the new batch costs the same in
// both, and is less than half of a slide, so the floor is on the slide as a whole; what is left of it
// without that part is a row of its own.
func measureGrowth(ctx context.Context, s *suite, r row, in windowInput, kind windowKind, plan windowPlan, slides int, f floor) (err error) {
	cores := s.cores[0]
	var all []*windowed
	for _, v := range []struct {
		kind   windowKind
		length int
	}{{kind, plan.long}, {kind, shortWindow}, {batchOnly, 1}} {
		w, err := newWindowed(v.kind, in, v.length, 1, cores, s.dir)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.close()) }()
		w.name = fmt.Sprintf("%s, W=%d", v.kind.name, v.length)
		all = append(all, w)
		// Two windows' length fills the panes of two blocks, which is all there ever are.
		if err := w.warm(ctx, 2*v.length); err != nil {
			return err
		}
	}
	few := max(slides/5, 60)
	m, err := interleave(ctx, plan.rounds, s.minRound,
		all[0].subject(cores, slides), all[1].subject(cores, few), all[2].subject(cores, few), slidingSums(in, plan.long, cores, few))
	if err != nil {
		return err
	}
	long, short, batch, plain := m[0], m[1], m[2], m[3]
	r.records = 1
	r.variant = long.name + ", slide"
	row := compare(r, long, short, cpuOf, f)
	row.records, row.note = in.perBatch(), fmt.Sprintf("cost is of a slide; %d slides a round", slides)
	s.table.add(row)
	row = compare(r, long, plain, cpuOf, floor{})
	row.records, row.note = in.perBatch(), "dense table of a known range of keys, both ends from pairs"
	s.table.add(row)
	without := func(a measured) measured {
		a.rounds = slices.Clone(a.rounds)
		for i := range a.rounds {
			a.rounds[i].cpu = max(a.rounds[i].cpu-batch.rounds[i].cpu, time.Microsecond)
		}
		return a
	}
	r.variant = long.name + ", slide without its reduceByKey"
	row = compare(r, without(long), without(short), cpuOf, floor{})
	row.records, row.note = in.perBatch(), fmt.Sprintf("reduceByKey alone %v", time.Duration(batch.cost(cpuOf)).Round(time.Microsecond))
	s.table.add(row)
	return nil
}

// slidingSums is a window of sums in a dense table, kept by a plain program.
func slidingSums(in windowInput, length, cores, slides int) subject {
	sums := peer.NewSums(in.keys)
	last := -1
	slide := func(context.Context) error {
		last++
		sums.Add(in.pairs[last%len(in.pairs)])
		if last >= length {
			sums.Remove(in.pairs[(last-length)%len(in.pairs)])
		}
		return nil
	}
	for range length {
		_ = slide(context.Background())
	}
	return subject{name: "Sums", procs: cores, passes: slides, work: slide, check: func() error {
		var got windowSum
		for key, c := range sums.Cells() {
			if c.Records > 0 {
				got = got.with(sumPair{Key: int64(key), Value: c.Value})
			}
		}
		if want := in.want(last, length, in.sums, add); got != want {
			return fmt.Errorf("got %+v, want %+v", got, want)
		}
		return nil
	}}
}

// measureRecompute compares windows that keep something with windows that are computed anew.
func measureRecompute(ctx context.Context, s *suite, r row, in windowInput, plan windowPlan) (err error) {
	cores := s.cores[0]
	variants := []struct {
		kind   windowKind
		slides int // a round
	}{{withInverse, 60}, {withoutInverse, 60}, {recomputed, 3}, {recomputedReduced, 10}}
	var subjects []subject
	for _, v := range variants {
		w, err := newWindowed(v.kind, in, mediumWindow, 1, cores, s.dir)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.close()) }()
		if err := w.warm(ctx, mediumWindow); err != nil {
			return err
		}
		subjects = append(subjects, w.subject(cores, v.slides))
	}
	m, err := interleave(ctx, plan.rounds, s.minRound, subjects...)
	if err != nil {
		return err
	}
	r.records = 1
	for _, kept := range m[:2] {
		for j, other := range m[2:] {
			f := floor{}
			if j == 0 {
				f = atLeast(15, 15)
			}
			r.variant = fmt.Sprintf("%s, W=%d, slide", kept.name, mediumWindow)
			row := gain(r, kept, other, cpuOf, f)
			row.records, row.note = in.perBatch(), "cost is of a slide; ratio is peer/row"
			s.table.add(row)
		}
	}
	return nil
}
