package dstream

import "github.com/leat-io/leat/rdd"

// panes combines the batches of sliding windows so that a slide costs the same however long the
// window is, for functions that cannot be undone.
//
// Time is cut into panes, the longest stretches that no window cuts, and the panes into blocks of as
// many as a window has. A window that does not fill a block exactly is the end of one block and the
// beginning of the next:
//
//	panes    0   1   2   3 | 4   5   6   7 |
//	window           [suffix | prefix]
//
// Prefixes grow by one pane a slide. Suffixes are made of a binary tree over the block: the suffix
// that begins with pane i is the largest subtree that begins there, combined with the suffix that
// begins where it ends. Each subtree and each suffix is combined once and kept, so a pane takes part
// in about four combinations over its life: one up the tree, one in a suffix, one in a prefix, one in a
// window. No slide makes more than twice the logarithm of the window's panes of them.
//
// All of it is a function of the pane numbers, so a graph built again makes the same RDDs. What is
// kept is the trees of two blocks: about twice the panes of a window, and a few tables more.
//
// Source: van Herk, "A fast algorithm for local minimum and maximum filters", 1992, for blocks with
// prefixes and suffixes; the tree in place of a list of suffixes bounds the work of a single slide.
type panes[T any] struct {
	size int                                        // panes in a window, and in a block
	pane func(i int) (*rdd.RDD[T], error)           // nil where there is nothing
	join func(older, newer *rdd.RDD[T]) *rdd.RDD[T] // combines two neighbours; the result is persisted

	trees    map[stretch]part[T] // subtrees of at least two panes
	suffixes map[int]part[T]     // by first pane, up to the end of its block
	prefixes map[int]part[T]     // by last pane, from the beginning of its block
}

// stretch is the panes [from, to).
type stretch struct{ from, to int }

// part is the combination of a stretch; a nil rdd is one without anything in it.
type part[T any] struct {
	rdd *rdd.RDD[T]
	own bool // joined for this entry: nothing else drops it
}

func newPanes[T any](size int) *panes[T] {
	return &panes[T]{size: size, trees: map[stretch]part[T]{}, suffixes: map[int]part[T]{}, prefixes: map[int]part[T]{}}
}

// window returns what the last panes up to and including last are made of, oldest first: a suffix
// and a prefix, or one of them, or nothing.
func (p *panes[T]) window(last int) ([]*rdd.RDD[T], error) {
	first, block := last-p.size+1, p.block(last)
	var parts []*rdd.RDD[T]
	if first < block && block > 0 {
		suffix, err := p.suffix(max(first, block-p.size), block)
		if err != nil {
			return nil, err
		}
		parts = append(parts, suffix.rdd)
	}
	prefix, err := p.prefix(last)
	if err != nil {
		return nil, err
	}
	parts = append(parts, prefix.rdd)
	n := 0
	for _, r := range parts {
		if r != nil {
			parts[n] = r
			n++
		}
	}
	return parts[:n], nil
}

// block is the first pane of the block that holds pane i.
func (p *panes[T]) block(i int) int { return i / p.size * p.size }

// prefix is the combination from the beginning of i's block to i.
func (p *panes[T]) prefix(i int) (part[T], error) {
	// It goes on from the newest prefix there is: one pane back where windows slide by one.
	start := i
	for start > p.block(i) {
		if _, ok := p.prefixes[start-1]; ok {
			break
		}
		start--
	}
	for j := start; j <= i; j++ {
		if _, ok := p.prefixes[j]; ok {
			continue
		}
		pane, err := p.leaf(j)
		if err != nil {
			return pane, err
		}
		if j > p.block(i) {
			pane = p.both(p.prefixes[j-1], pane)
		}
		p.prefixes[j] = pane
	}
	return p.prefixes[i], nil
}

// suffix is the combination from pane i to the end of its block.
func (p *panes[T]) suffix(i, end int) (part[T], error) {
	if s, ok := p.suffixes[i]; ok {
		return s, nil
	}
	// Down from the block's root to the largest subtree that begins with i.
	at := stretch{end - p.size, end}
	for at.from != i {
		if mid := at.middle(); i >= mid {
			at.from = mid
		} else {
			at.to = mid
		}
	}
	s, err := p.tree(at)
	if err != nil {
		return s, err
	}
	s.own = false // the tree drops it
	if at.to < end {
		rest, err := p.suffix(at.to, end)
		if err != nil {
			return rest, err
		}
		s = p.both(s, rest)
	}
	p.suffixes[i] = s
	return s, nil
}

func (s stretch) middle() int { return (s.from + s.to) / 2 }

// tree is the combination of a subtree's panes.
func (p *panes[T]) tree(at stretch) (part[T], error) {
	if at.to-at.from == 1 {
		return p.leaf(at.from)
	}
	if t, ok := p.trees[at]; ok {
		return t, nil
	}
	left, err := p.tree(stretch{at.from, at.middle()})
	if err != nil {
		return left, err
	}
	right, err := p.tree(stretch{at.middle(), at.to})
	if err != nil {
		return right, err
	}
	t := p.both(left, right)
	p.trees[at] = t
	return t, nil
}

func (p *panes[T]) leaf(i int) (part[T], error) {
	r, err := p.pane(i)
	return part[T]{rdd: r}, err
}

// both combines two neighbours, either of which may be nothing.
func (p *panes[T]) both(older, newer part[T]) part[T] {
	switch {
	case older.rdd == nil:
		return part[T]{rdd: newer.rdd}
	case newer.rdd == nil:
		return part[T]{rdd: older.rdd}
	}
	return part[T]{rdd: p.join(older.rdd, newer.rdd), own: true}
}

// grow returns the largest subtree that pane last completes, nil if it completes none that a
// suffix will use. Whoever computes it while the pane is new spreads the tree's cost over the slides of
// its block; left alone, the first suffix would pay for all of it.
func (p *panes[T]) grow(last int) (*rdd.RDD[T], error) {
	block := p.block(last)
	for at := (stretch{block, block + p.size}); at.to-at.from > 1; {
		if at.to == last+1 && at.from > block { // what begins with the block is its prefix, not a suffix
			t, err := p.tree(at)
			return t.rdd, err
		}
		if mid := at.middle(); last >= mid {
			at.from = mid
		} else {
			at.to = mid
		}
	}
	return nil, nil
}

// forget drops what windows that end with pane last or later do not need.
func (p *panes[T]) forget(last int) {
	first := last - p.size + 1
	for at, t := range p.trees {
		if at.to <= first {
			t.drop()
			delete(p.trees, at)
		}
	}
	for i, s := range p.suffixes {
		if i < first {
			s.drop()
			delete(p.suffixes, i)
		}
	}
	for i, s := range p.prefixes {
		if i < last {
			s.drop()
			delete(p.prefixes, i)
		}
	}
}

func (p part[T]) drop() {
	if p.own {
		p.rdd.Unpersist()
	}
}
