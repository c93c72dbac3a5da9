package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// gridKeys are the numbers of keys of the grid, and gridSlides how many slides a window's length has.
var (
	gridKeys   = []int{100, 10_000, 1_000_000}
	gridSlides = []int{0, 6, 1} // 0: a slide is a batch
)

// measureGrid measures how the cost of a batch grows from short windows to long ones, for every number of keys and every
// slide, and how much worse the worst slide is than the median. Windows run on one core.
func measureGrid(ctx context.Context, s *suite) error {
	long := s.windowPlan().long
	for _, keys := range gridKeys {
		var in windowInput
		for _, g := range []struct {
			kind windowKind
			f    floor
		}{{withInverse, atMost(1.3, 1.1)}, {withoutInverse, atMost(2, 1.5)}} {
			for _, slides := range gridSlides {
				if !s.wants(gridCell(g.kind, keys, long, slideOf(long, slides))) {
					continue
				}
				if in.pairs == nil {
					var err error
					if in, err = newWindowInput(s.size, s.cores[0], keys); err != nil {
						return err
					}
				}
				if err := measureGridCell(ctx, s, in, g.kind, long, slides, g.f); err != nil {
					return fmt.Errorf("%d keys, %s: %w", keys, g.kind.name, err)
				}
			}
		}
	}
	return nil
}

// gridCell is the name of a window of the grid.
func gridCell(kind windowKind, keys, length, slide int) string {
	return fmt.Sprintf("%s, K=%d, W=%d, slide %d", kind.name, keys, length, slide)
}

// slideOf is the slide of a window in batches.
func slideOf(length, slides int) int {
	if slides == 0 {
		return 1
	}
	return length / slides
}

// measureGridCell measures a long window against a short one of as many slides.
func measureGridCell(ctx context.Context, s *suite, in windowInput, kind windowKind, long, slides int, f floor) (err error) {
	cores := s.cores[0]
	var all []*windowed
	for _, length := range []int{long, shortWindow} {
		w, err := newWindowed(kind, in, length, slideOf(length, slides), cores, s.dir)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, w.close()) }()
		w.name = gridCell(kind, in.keys, length, w.slide)
		all = append(all, w)
		if err := w.warm(ctx, 2*length); err != nil {
			return err
		}
	}
	// A round is whole slides and whole checkpoint intervals of both. Without an inverse what a batch costs depends on where
	// in its block it is, so a round is a block at least.
	batches := max(60, all[0].slide)
	if kind.name == withoutInverse.name {
		batches = long
	}
	m, err := interleave(ctx, s.rounds, s.minRound, all[0].subject(cores, batches), all[1].subject(cores, batches))
	if err != nil {
		return err
	}
	r := row{workload: "W2grid", variant: all[0].name, size: s.size, records: 1}
	row := compare(r, m[0], m[1], cpuOf, f)
	row.records, row.note = in.perBatch(), "cost is of a batch"
	s.table.add(row)
	if all[0].slide > 1 {
		return nil // most batches are no slide
	}
	worst, err := worstSlide(ctx, all[0], batches)
	if err != nil {
		return err
	}
	r.variant, r.peer, r.rounds, r.floor, r.cores = all[0].name+", worst slide", "median slide", 1, atMost(5, 3), cores
	r.cost, r.ratio = float64(worst.most), spread{worst.most / worst.median, worst.most / worst.median, worst.most / worst.median}
	r.note = fmt.Sprintf("of %d slides; cost is of the worst", batches)
	r.records = in.perBatch()
	s.table.add(r)
	return nil
}

// worstSlide is the spread of what single batches cost, each with the collection of its own garbage at most.
func worstSlide(ctx context.Context, w *windowed, batches int) (spread, error) {
	costs := make([]float64, batches)
	for i := range costs {
		before := cpuTime()
		if err := w.batch(ctx); err != nil {
			return spread{}, err
		}
		costs[i] = float64(max(cpuTime()-before, time.Microsecond))
	}
	return spreadOf(costs), w.check()
}
