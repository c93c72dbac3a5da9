package scheduler

import (
	"fmt"
	"slices"
)

// pools are the pools of a FAIR scheduler.
type pools struct {
	root   *pool
	byName map[string]*pool
}

// A pool is one of them at work.
type pool struct {
	Pool
	parent   *pool
	listed   bool // in the options: it stays while nothing is in it
	children []*pool
	sets     []*taskSet // live ones, by priority
	running  int        // attempts of its sets and of those below, also of zombies
}

func newPools(listed []Pool) *pools {
	ps := &pools{root: &pool{Pool: Pool{Mode: FAIR, Weight: 1}}, byName: map[string]*pool{}}
	for _, p := range listed {
		parent := ps.byName[p.Parent]
		if parent == nil {
			parent = ps.root
		}
		ps.open(p.withDefaults(), parent).listed = true
	}
	return ps
}

func (ps *pools) open(p Pool, parent *pool) *pool {
	made := &pool{Pool: p, parent: parent}
	parent.children = append(parent.children, made)
	ps.byName[p.Name] = made
	return made
}

// of returns the pool of a name, a new one below the root if there is none.
func (ps *pools) of(name string) *pool {
	if name == "" {
		name = DefaultPool
	}
	if p := ps.byName[name]; p != nil {
		return p
	}
	return ps.open(Pool{Name: name}.withDefaults(), ps.root)
}

// add puts a live set into the pool its stage's job named when it was submitted.
func (ps *pools) add(set *taskSet) {
	set.pool = ps.of(set.properties.Pool)
	set.name = fmt.Sprintf("TaskSet_%d.%d", set.stage.id, set.attempt)
	i, _ := slices.BinarySearchFunc(set.pool.sets, set, setByPriority)
	set.pool.sets = slices.Insert(set.pool.sets, i, set)
}

// remove takes a set out. What still runs of it goes on counting.
func (ps *pools) remove(set *taskSet) {
	p := set.pool
	if i := slices.Index(p.sets, set); i >= 0 {
		p.sets = slices.Delete(p.sets, i, i+1)
	}
	ps.close(p)
}

// close forgets a pool that nobody listed and nothing is in.
func (ps *pools) close(p *pool) {
	if p.listed || len(p.sets) > 0 || p.running > 0 || ps.byName[p.Name] != p {
		return
	}
	delete(ps.byName, p.Name)
	if i := slices.Index(p.parent.children, p); i >= 0 {
		p.parent.children = slices.Delete(p.parent.children, i, i+1)
	}
}

// count adds to what a pool runs, and to what those around it do.
func (ps *pools) count(p *pool, n int) {
	for up := p; up != nil; up = up.parent {
		up.running += n
	}
	if p.running == 0 {
		ps.close(p)
	}
}

// sort orders the sets anew: a job that ended may have given its stages to later ones.
func (ps *pools) sort() {
	for _, p := range ps.byName {
		slices.SortStableFunc(p.sets, setByPriority)
	}
}

// first returns the set of p that comes first among those that have something to launch and have not
// passed in the round.
func (p *pool) first(round int) *taskSet {
	if p.Mode == FIFO {
		for _, c := range p.children {
			if set := c.first(round); set != nil {
				return set
			}
		}
		for _, set := range p.sets {
			if set.offers(round) {
				return set
			}
		}
		return nil
	}
	var best *taskSet
	var least share
	for _, set := range p.sets {
		if s := (share{running: set.running, weight: 1, name: set.name}); set.offers(round) && (best == nil || s.before(least)) {
			best, least = set, s
		}
	}
	for _, c := range p.children {
		s := share{running: c.running, minimum: c.MinShare, weight: c.Weight, name: c.Name}
		if best != nil && !s.before(least) {
			continue
		}
		if set := c.first(round); set != nil {
			best, least = set, s
		}
	}
	return best
}

// A share is what fairness looks at.
type share struct {
	running, minimum, weight int
	name                     string
}

// before reports whether a comes before b. Quotients are compared by their products.
func (a share) before(b share) bool {
	belowA, belowB := a.running < a.minimum, b.running < b.minimum
	if belowA != belowB {
		return belowA
	}
	left, right := a.running*b.weight, b.running*a.weight
	if belowA {
		left, right = a.running*max(b.minimum, 1), b.running*max(a.minimum, 1)
	}
	if left != right {
		return left < right
	}
	return a.name < b.name
}
