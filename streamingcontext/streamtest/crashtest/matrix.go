package crashtest

import (
	"context"
	"maps"
	"slices"

	"github.com/leat-io/leat/dstream/sink/sinktest/disk"
)

// A rehearsal is what deaths lead to: the operations of the recovery that follows.
type rehearsal struct {
	deaths []shot
	loss   disk.Loss
	seed   uint64
	ops    []operation
}

// Bounds of rehearsals where not all cases are run.
const (
	sampleRehearsals = 24
	againRehearsals  = 24
)

// cases returns the cases to run, those of fewer deaths first, and others for points that these do not come to.
func (e *explorer) cases(ctx context.Context, ops []operation) (chosen, others []trial, err error) {
	first := e.firstRun(ops)
	once, err := e.rehearse(ctx, e.deaths(ops))
	if err != nil {
		return nil, nil, err
	}
	twice, err := e.rehearse(ctx, e.secondDeaths(once))
	if err != nil {
		return nil, nil, err
	}
	depth := [][]trial{first, e.recoveries(once), e.recoveries(twice)}
	if e.p.All {
		return slices.Concat(depth...), nil, nil
	}
	chosen = e.sample(depth)
	for _, c := range slices.Concat(depth...) {
		if c.tried().nth == 1 { // the most likely to be met
			others = append(others, c)
		}
	}
	return chosen, others, nil
}

// firstRun returns the cases of the first run: each operation with each fault, and of each point all losses.
func (e *explorer) firstRun(ops []operation) (all []trial) {
	for i, op := range ops {
		for k, f := range faults {
			all = append(all, trial{[]shot{{op.spot, f}}, losses[(i+k)%len(losses)], e.rng.Uint64()})
			if op.nth == 1 { // a point may come only once
				for _, more := range [...]int{1, 2} {
					all = append(all, trial{[]shot{{op.spot, f}}, losses[(i+k+more)%len(losses)], e.rng.Uint64()})
				}
			}
		}
	}
	return all
}

// deaths returns where first processes die, to see what their recovery does.
func (e *explorer) deaths(ops []operation) (all [][]shot) {
	n := len(ops)
	if !e.p.All {
		n = min(n, sampleRehearsals)
	}
	for i := range n {
		at := i * len(ops) / n
		all = append(all, []shot{{ops[at].spot, faults[i%2]}})
	}
	return all
}

// secondDeaths returns where processes die in recovery.
func (e *explorer) secondDeaths(once []rehearsal) (all [][]shot) {
	n := againRehearsals
	if e.p.All {
		n = 3 * len(once)
	}
	for i := range n {
		r := once[i%len(once)]
		if len(r.ops) == 0 {
			continue
		}
		op := r.ops[e.rng.IntN(len(r.ops))]
		all = append(all, append(slices.Clone(r.deaths), shot{op.spot, faults[e.rng.IntN(2)]}))
	}
	return all
}

// rehearse runs deaths and takes note of the recoveries.
func (e *explorer) rehearse(ctx context.Context, deaths [][]shot) (all []rehearsal, err error) {
	for i, shots := range deaths {
		c := trial{shots, losses[i%len(losses)], e.rng.Uint64()}
		r, err := e.lives(ctx, c)
		if err != nil {
			return nil, err
		}
		if n := len(shots); len(r.lives) > n && r.lives[n-1].fired {
			all = append(all, rehearsal{shots, c.loss, c.seed, r.lives[n].recovery()})
		}
	}
	return all, nil
}

// recoveries returns the cases of recoveries: each point with each fault and each loss, in a recovery of those that come to it.
func (e *explorer) recoveries(all []rehearsal) (cases []trial) {
	type place struct {
		r  rehearsal
		at spot
	}
	places := map[string][]place{}
	for _, r := range all {
		for _, op := range r.ops {
			places[op.point] = append(places[op.point], place{r, op.spot})
		}
	}
	for _, point := range slices.Sorted(maps.Keys(places)) {
		e.point(point)
		for _, f := range faults {
			for _, loss := range losses {
				from := places[point]
				if same := slices.DeleteFunc(slices.Clone(from), func(p place) bool { return p.r.loss != loss }); len(same) > 0 {
					from = same // the recovery is that of the rehearsal
				}
				at := from[e.rng.IntN(len(from))]
				cases = append(cases, trial{append(slices.Clone(at.r.deaths), shot{at.at, f}), loss, at.r.seed})
			}
		}
	}
	return cases
}

// sample chooses from the cases of each depth: of all points in turn.
func (e *explorer) sample(depth [][]trial) (chosen []trial) {
	share, met := e.p.Sample, map[string]bool{}
	for d, all := range depth {
		n := share / (len(depth) - d)
		byPoint := map[string][]trial{}
		e.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, c := range all {
			point := c.tried().point
			byPoint[point] = append(byPoint[point], c)
		}
		// Those without a case yet come first, and have one at least.
		var points, known []string
		for _, point := range slices.Sorted(maps.Keys(byPoint)) {
			if met[point] {
				known = append(known, point)
			} else {
				points = append(points, point)
			}
			met[point] = true
		}
		n = max(n, len(points))
		points = append(points, known...)
		before := len(chosen)
		for round := 0; len(chosen)-before < min(n, len(all)); round++ {
			for _, point := range points {
				if round < len(byPoint[point]) && len(chosen)-before < n {
					chosen = append(chosen, byPoint[point][round])
				}
			}
		}
		share -= len(chosen) - before
	}
	return chosen
}
