package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"
)

// subject is a program that is measured.
type subject struct {
	name  string
	procs int                             // GOMAXPROCS while it runs
	work  func(ctx context.Context) error // one pass
	check func() error                    // whether the answer of the last pass is right; not timed
	// passes is how many passes a round has; 0: as many as the least time of a round takes.
	passes int
}

// timing is the cost of one pass.
type timing struct{ cpu, wall time.Duration }

// measured is a subject with a timing for each round.
type measured struct {
	subject
	rounds []timing
}

// interleave runs all subjects in every round, one after the other, after one pass each that warms
// up and is checked like the others. The results are in the order of the subjects.
//
// Errors: that of a subject, or of its check, with its name.
func interleave(ctx context.Context, rounds int, minRound time.Duration, subjects ...subject) ([]measured, error) {
	all := make([]measured, len(subjects))
	for i, s := range subjects {
		m := measured{subject: s}
		first, err := m.round(ctx, 1)
		if err != nil {
			return nil, err
		}
		if m.passes == 0 {
			m.passes = 1 + int(minRound/max(first.cpu, time.Microsecond))
		}
		all[i] = m
	}
	for range rounds {
		for i := range all {
			t, err := all[i].round(ctx, all[i].passes)
			if err != nil {
				return nil, err
			}
			all[i].rounds = append(all[i].rounds, t)
		}
	}
	return all, nil
}

// round runs passes passes and checks the last one's answer.
func (m *measured) round(ctx context.Context, passes int) (timing, error) {
	runtime.GOMAXPROCS(m.procs)
	runtime.GC() // the garbage of the subject before is not this one's to collect
	wall, cpu := time.Now(), cpuTime()
	for range passes {
		if err := m.work(ctx); err != nil {
			return timing{}, fmt.Errorf("%s: %w", m.name, err)
		}
	}
	t := timing{cpu: cpuTime() - cpu, wall: time.Since(wall)}
	if err := m.check(); err != nil {
		return timing{}, fmt.Errorf("%s: wrong answer: %w", m.name, err)
	}
	return timing{cpu: t.cpu / time.Duration(passes), wall: t.wall / time.Duration(passes)}, nil
}

// clock picks one of the two times.
type clock func(timing) time.Duration

func cpuOf(t timing) time.Duration  { return t.cpu }
func wallOf(t timing) time.Duration { return t.wall }

// cost is the median cost of a pass.
func (m measured) cost(of clock) float64 {
	all := make([]float64, len(m.rounds))
	for i, t := range m.rounds {
		all[i] = float64(of(t))
	}
	return spreadOf(all).median
}

// spread is the middle of some numbers and their bounds.
type spread struct{ median, least, most float64 }

// spreadOf returns the spread of all, which it sorts; zeros if there are none.
func spreadOf(all []float64) spread {
	if len(all) == 0 {
		return spread{}
	}
	slices.Sort(all)
	mid := len(all) / 2
	median := all[mid]
	if len(all)%2 == 0 {
		median = (all[mid-1] + all[mid]) / 2
	}
	return spread{median: median, least: all[0], most: all[len(all)-1]}
}

// over is the spread of a's cost over b's, round by round. Rounds are compared with nothing but the
// same round, in which the machine was as busy for both.
func over(a, b measured, of clock) spread {
	ratios := make([]float64, len(a.rounds))
	for i := range a.rounds {
		ratios[i] = float64(of(a.rounds[i])) / float64(max(of(b.rounds[i]), 1))
	}
	return spreadOf(ratios)
}

// gain is compare with the peer's cost over that of m, also where no floor asks for it.
func gain(r row, m, peer measured, of clock, f floor) row {
	r = compare(r, m, peer, of, f)
	r.ratio = over(peer, m, of)
	r.note = "ratio is peer/row"
	return r
}

// compare returns a row for m against peer; the ratio is the way round that f wants it.
func compare(r row, m, peer measured, of clock, f floor) row {
	r.floor, r.peer, r.rounds = f, peer.name, len(m.rounds)
	r.cores = m.procs
	r.cost = m.cost(of) / float64(max(r.records, 1))
	if f.kind == gainAtLeast {
		r.ratio = over(peer, m, of)
	} else {
		r.ratio = over(m, peer, of)
	}
	return r
}

// percentile returns the value that p of all, which are sorted, do not exceed; 0 if there are none.
func percentile(all []time.Duration, p float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	return all[min(int(p*float64(len(all))), len(all)-1)]
}
