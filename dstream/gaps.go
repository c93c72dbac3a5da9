package dstream

import "slices"

// A Gap is batch times that were left out: those between two batches, neither of them included. No stream has a batch in it.
//
//	batch      1     2     -     -     5     6
//	input      a     b                 cde   f      what would have come in 3 and 4 comes in 5
//	window 3   a     ab                cde   cdef
//	state      s1    s2                s5    s6     s5 is made from s2 and cde
type Gap struct{ After, Before Time }

// LeaveOut leaves out the batch times between two batches. It is called before anything is asked for a batch in between, or for
// before. A window has no batch then; a state follows the one before the gap; a checkpoint that was due in between is due
// with the next batch.
func (g *Graph) LeaveOut(gap Gap) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.skip(gap)
}

// skip is LeaveOut. The graph's lock is held.
func (g *Graph) skip(gap Gap) {
	if gap.Before-gap.After > Time(g.interval) {
		g.gaps = append(g.gaps, gap)
	}
}

// gapAt returns the gap that t lies in. The graph's lock is held.
func (g *Graph) gapAt(t Time) (Gap, bool) {
	if len(g.gaps) == 0 || t >= g.gaps[len(g.gaps)-1].Before {
		return Gap{}, false
	}
	i, _ := slices.BinarySearchFunc(g.gaps, t, func(gap Gap, t Time) int {
		if gap.Before <= t {
			return -1
		}
		return 1
	})
	return g.gaps[i], t > g.gaps[i].After
}

// forgetGaps drops gaps that nothing reaches back to once batch t is complete. The graph's lock is held.
func (g *Graph) forgetGaps(t Time) {
	if len(g.gaps) == 0 {
		return
	}
	var reach millis
	for _, n := range g.nodes {
		reach = max(reach, n.remember+n.extra)
	}
	g.gaps = slices.DeleteFunc(g.gaps, func(gap Gap) bool { return gap.Before < t-2*Time(reach) })
}

// before returns the time of the stream's batch before the one at t.
func (n *node) before(t Time) Time {
	at := t - Time(n.slide)
	for {
		gap, in := n.graph.gapAt(at)
		if !in {
			return at
		}
		at = n.graph.zero + Time(floorTo(int64(gap.After-n.graph.zero), n.slide))
	}
}

// due reports whether a checkpoint of the stream is due in its batch at t.
func (n *node) due(t Time) bool {
	if n.checkpoint <= 0 {
		return false
	}
	since := func(at Time) int64 { return floorTo(int64(at-n.graph.zero), n.checkpoint) }
	return since(t) > since(n.before(t))
}

// floorTo returns the greatest multiple of unit that is not above x.
func floorTo(x, unit int64) int64 {
	m := x % unit
	if m < 0 {
		m += unit
	}
	return x - m
}
