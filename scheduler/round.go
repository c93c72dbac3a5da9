package scheduler

// A round is one round of offers: it says which task set comes next.
//
//	r := l.beginRound()
//	for set := r.next(); set != nil && l.free > 0; set = r.next() {
//		... launch: one task if r.fair, else as many as there are
//		... r.pass(set) if it can launch nothing more for now
//	}
type round struct {
	l    *loop
	fair bool // whether next has to be asked after each launch, since the order depends on what runs
	at   int  // in l.sets, unless fair
}

// beginRound begins a round.
func (l *loop) beginRound() round {
	l.rounds++
	return round{l: l, fair: l.pools != nil}
}

// next returns the set that comes first of those that have something to launch and have not passed,
// nil if there is none. It is the same one until it passes or another has a better claim.
func (r *round) next() *taskSet {
	if r.fair {
		return r.l.pools.root.first(r.l.rounds)
	}
	for ; r.at < len(r.l.sets); r.at++ {
		if set := r.l.sets[r.at]; set.offers(r.l.rounds) {
			return set
		}
	}
	return nil
}

// pass says that a set can launch nothing more in this round.
func (r *round) pass(set *taskSet) { set.passed = r.l.rounds }

// offers reports whether a set has something to launch and has not passed in the round.
func (set *taskSet) offers(round int) bool {
	return set.passed != round && (set.pending() > 0 || len(set.copies) > 0)
}
