package rdd

import (
	"context"

	"github.com/leat-io/leat/rdd/keyed"
)

// A grouping holds the rows of the inputs of an operation by key until all of a key's are there.
//
// When memory is refused, all rows held are written to sixteen buckets by the hashes of their keys, those of each
// input in a sequence of its own and with their numbers, which count on from input to input; further rows go
// there directly. Then each bucket is loaded, or divided again one level deeper, and its groups are written
// one behind the other under the number of the key's first row. Last the buckets are merged by those
// numbers, so that one group at a time is in memory: groups come in the order of their first rows, and the
// values of each in the order of theirs, as without files.
type grouping[K comparable] struct {
	t      *task
	at     *place
	hasher *keyed.Hasher[K]
	level  int
	keys   *keyIndex[K]
	firsts []int64 // of each key the number of its first row; not at level 0
	sides  []groupSide[K]
	rows   int64 // taken
	budget budget
	gauge  gauge[K, struct{}]
	spool  *spool // not nil: memory was refused, and all rows are there
}

// A groupSide is an input of a grouping without the type of its values. It is called once a chunk or once
// a group.
type groupSide[K comparable] interface {
	// memory estimates what is held, and what arranging it takes.
	memory(keys int) int64
	// scatter writes what is held to buckets; place has the bucket of each key.
	scatter(keys []K, place []uint8) error
	// fresh makes the same side for a grouping one level deeper.
	fresh(g *grouping[K]) groupSide[K]
	// reload moves bucket b to a side that fresh made.
	reload(b int, to groupSide[K]) error
	// arrange makes groups of what is held.
	arrange(keys int)
	// result starts the groups of bucket b.
	result(b int, p *spool)
	// append writes group i of what is held to result b of a side one level up.
	append(i int, key K, first int64, to groupSide[K], b int) error
	// open flushes the results and goes to the first group of each.
	open() error
	// head is the number of the next group of result b, false at its end.
	head(b int) (int64, bool, error)
	// move passes the rows of group number of result b to result r of a side one level up.
	move(b int, number int64, to groupSide[K], r int) error
	// collect gathers the values of group number of result b and returns its key, false if there are none.
	collect(b int, number int64) (K, bool, error)
	// values is how many collect gathered.
	values() int
}

func newGrouping[K comparable](t *task, at *place, h *keyed.Hasher[K]) *grouping[K] {
	return &grouping[K]{t: t, at: at, hasher: h, keys: newKeyIndex(h), budget: newBudget(t), gauge: newGauge[K, struct{}]()}
}

// close gives back memory and removes the file.
func (g *grouping[K]) close() {
	g.budget.release()
	g.spool.close()
}

// check asks for the memory that is needed after so many rows, and writes all that is held to the buckets when
// there is none.
func (g *grouping[K]) check(rows int) error {
	if g.level >= spillLevels {
		return nil
	}
	bytes := g.keys.Memory(chunkSize) + g.gauge.memory(g.keys, rows) + 8*int64(cap(g.firsts))
	for _, s := range g.sides {
		bytes += s.memory(g.keys.Len())
	}
	if g.budget.fits(bytes) {
		return nil
	}
	if g.keys.Len() <= 1 { // cannot be divided
		g.budget.insist(2 * bytes)
		return nil
	}
	g.spool = newSpool(g.t, g.at)
	place := make([]uint8, g.keys.Len())
	for i := range place {
		place[i] = uint8(spillBucket(g.keys.HashAt(i), g.level))
	}
	keys := g.keys.Keys(nil, 0, g.keys.Len())
	for _, s := range g.sides {
		if err := s.scatter(keys, place); err != nil {
			return err
		}
	}
	g.keys, g.firsts = nil, nil
	g.budget.release()
	return nil
}

// merge calls group for every group in order: rows of group number are next in result b of each side.
func (g *grouping[K]) merge(group func(b int, number int64) error) error {
	results := newSpool(g.t, g.at)
	defer results.close()
	for b := range spillBuckets {
		if err := g.bucket(b, results); err != nil {
			return err
		}
	}
	g.spool.close()
	var next [spillBuckets]int64
	var live []int
	advance := func(b int) (bool, error) {
		found := false
		for _, s := range g.sides {
			number, ok, err := s.head(b)
			if err != nil {
				return false, err
			}
			if ok && (!found || number < next[b]) {
				next[b], found = number, true
			}
		}
		return found, nil
	}
	for _, s := range g.sides {
		if err := s.open(); err != nil {
			return err
		}
	}
	for b := range spillBuckets {
		ok, err := advance(b)
		if err != nil {
			return err
		}
		if ok {
			live = append(live, b)
		}
	}
	m := newMerger(live, func(a, b int) bool { return next[a] < next[b] })
	for {
		b, ok := m.first()
		if !ok {
			return nil
		}
		if err := group(b, next[b]); err != nil {
			return err
		}
		more, err := advance(b)
		if err != nil {
			return err
		}
		m.moved(more)
	}
}

// bucket writes the groups of bucket b to result b of each side.
func (g *grouping[K]) bucket(b int, results *spool) error {
	sub := newGrouping(g.t, g.at, g.hasher)
	sub.level = g.level + 1
	defer sub.close()
	for _, s := range g.sides {
		sub.sides = append(sub.sides, s.fresh(sub))
	}
	for i, s := range g.sides {
		s.result(b, results)
		if err := s.reload(b, sub.sides[i]); err != nil {
			return err
		}
	}
	if sub.spool != nil {
		return sub.merge(func(from int, number int64) error {
			for i, s := range sub.sides {
				if err := s.move(from, number, g.sides[i], b); err != nil {
					return err
				}
			}
			return nil
		})
	}
	n := sub.keys.Len()
	for _, s := range sub.sides {
		s.arrange(n)
	}
	var keys []K
	for from := 0; from < n; from += chunkSize {
		if err := context.Cause(g.t.ctx); err != nil {
			return err
		}
		keys = sub.keys.Keys(keys[:0], from, min(from+chunkSize, n))
		for j, k := range keys {
			for i, s := range sub.sides {
				if err := s.append(from+j, k, sub.firsts[from+j], g.sides[i], b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// groupValues bounds the values of the groups that are merged from files and pushed as one chunk.
const groupValues = 1 << 12

// pushGroups pushes a pair for every key, in the order of the keys' first rows. value makes what group i
// is of the sides' groups.
func pushGroups[K comparable, U any](g *grouping[K], out sink[Pair[K, U]], value func(i int) U) error {
	if g.spool == nil {
		for _, s := range g.sides {
			s.arrange(g.keys.Len())
		}
		return pushKeys(g.t, g.keys, out, value)
	}
	var buf []Pair[K, U]
	held := 0
	push := func() error {
		if err := context.Cause(g.t.ctx); err != nil || len(buf) == 0 {
			return err
		}
		err := out(buf)
		clear(buf)
		buf, held = buf[:0], 0
		return err
	}
	err := g.merge(func(b int, number int64) error {
		var key K
		for _, s := range g.sides {
			k, ok, err := s.collect(b, number)
			if err != nil {
				return err
			}
			if ok {
				key = k
			}
			held += s.values()
		}
		buf = append(buf, Pair[K, U]{Key: key, Value: value(-1)})
		if len(buf) < chunkSize && held < groupValues {
			return nil
		}
		return push()
	})
	if err != nil {
		return err
	}
	return push()
}
