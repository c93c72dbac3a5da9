package state

import (
	"sync"
	"unsafe"

	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/rdd/keyed"
)

// A Version is the state of one partition after one batch. It may be read from any goroutine.
type Version[K comparable, S any] struct {
	core *core[K, S] // nil where there are no keys
	size int         // the first so many entries of the core's table were there in this version
	live int         // how many of them have state
	// changed is how many keys the update had that made it, 0 where that is not known.
	changed int

	// Set once, when an update has gone on from this version in the same table; guarded by core.mu.
	next *Version[K, S]
	undo []change[S] // what the update replaced

	indexing sync.Once
	index    map[int32]int32 // of an entry where undo has it; made when it is first asked for
}

// core is a table that versions share. It holds the state of the last of them.
type core[K comparable, S any] struct {
	mu    sync.RWMutex
	table *table[K, S]
	owner *Update[K, S] // whose the marks of the cells are
}

// table holds the keys in the order in which they first came. A key that was removed keeps its entry until the table is
// made anew.
type table[K comparable, S any] = keyed.Table[K, cell[S]]

// cell is a key's state, or that it was removed.
type cell[S any] struct {
	state S
	// mark says which change of the core's owner is that of this key: one less, if that change is one of this entry.
	// Otherwise it is left from an earlier update and says nothing, so that no update need wipe the marks of the one before.
	mark uint32
	gone bool
}

// change is what an update makes of an entry, and afterwards what it replaced there.
type change[S any] struct {
	state S
	at    int32 // the key's entry in the table, absent if it has none
	gone  bool
}

const absent = -1

// Len is the number of keys that have state.
func (v *Version[K, S]) Len() int {
	if v == nil {
		return 0
	}
	return v.live
}

// Immutable tells package codec that a version never changes, so that readers may share it.
func (v *Version[K, S]) Immutable() {}

// sharing is about how many versions of one table are held at a time: a stream remembers two checkpoint intervals,
// and those are ten batches by default.
const sharing = 16

// sizeSample is how many states are looked at to tell what all of them take.
const sizeSample = 16

// Footprint tells package codec what holding the version takes: what changed, and a share of the table.
//
// Cost: constant.
func (v *Version[K, S]) Footprint() int64 {
	if v == nil || v.core == nil {
		return 0
	}
	v.core.mu.RLock()
	defer v.core.mu.RUnlock()
	t := v.core.table
	sum := t.Memory(0)
	if deep := codec.SizeFunc[S](); deep != nil && t.Len() > 0 {
		var sample int64
		step := max(t.Len()/sizeSample, 1)
		n := 0
		for i := 0; i < t.Len(); i += step {
			sample += deep(&t.Value(i).state)
			n++
		}
		sum += sample / int64(n) * int64(t.Len())
	}
	sum /= sharing
	return sum + int64(cap(v.undo))*int64(unsafe.Sizeof(change[S]{}))
}

// Get returns the state of a key.
//
// Cost: constant for the newest version of a table; older ones look through what changed since.
func (v *Version[K, S]) Get(k K) (s S, ok bool) {
	if v == nil || v.core == nil {
		return s, false
	}
	v.core.mu.RLock()
	defer v.core.mu.RUnlock()
	c := v.find(k)
	if c.gone {
		return s, false
	}
	return c.state, true
}

// find returns what the version holds of a key and where. The caller holds the lock.
func (v *Version[K, S]) find(k K) change[S] {
	at, ok := v.core.table.Find(k)
	if !ok || at >= v.size {
		return change[S]{at: absent, gone: true}
	}
	for u := v; u.next != nil; u = u.next {
		u.indexing.Do(func() {
			u.index = make(map[int32]int32, len(u.undo))
			for i := range u.undo {
				u.index[u.undo[i].at] = int32(i)
			}
		})
		if i, ok := u.index[int32(at)]; ok {
			return u.undo[i]
		}
	}
	c := v.core.table.Value(at)
	return change[S]{state: c.state, at: int32(at), gone: c.gone}
}

// Each calls yield with every key that has state until it returns false. The state must not be changed.
//
// Order: as the keys were first put.
// Cost: one step a key; for a version that is not the newest of its table also one for each change since.
func (v *Version[K, S]) Each(yield func(k K, s *S) bool) {
	v.Rows(func(rows []keyed.Pair[K, S]) bool {
		for i := range rows {
			if !yield(rows[i].Key, &rows[i].Value) {
				return false
			}
		}
		return true
	})
}

// Rows calls yield with every key that has state, many at a time, until it returns false. The rows are yield's until it
// returns; what states refer to must not be changed.
//
// Order and Cost: as Each, without a call for each key.
func (v *Version[K, S]) Rows(yield func(rows []keyed.Pair[K, S]) bool) {
	Project(v, func(s *S) S { return *s }, yield)
}

// Project is Rows with what pick takes from each state. Pick is called under the lock: it must be no function of the program.
func Project[K comparable, S, T any](v *Version[K, S], pick func(s *S) T, yield func(rows []keyed.Pair[K, T]) bool) {
	project(v, false, pick, yield)
}

// ProjectLent is Project with keys that are lent, as keyed.SelectLent does it: the tables of states are never Reset.
func ProjectLent[K comparable, S, T any](v *Version[K, S], pick func(s *S) T, yield func(rows []keyed.Pair[K, T]) bool) {
	project(v, true, pick, yield)
}

func project[K comparable, S, T any](v *Version[K, S], lend bool, pick func(s *S) T, yield func(rows []keyed.Pair[K, T]) bool) {
	read(v, false, lend, pick, func(rows []keyed.Pair[K, T], _ []bool) bool { return len(rows) == 0 || yield(rows) })
}

// entriesAtATime is how many entries are copied under the lock before they are handed on without it.
const entriesAtATime = 512

// entries calls f with what pick takes from the version's entries in order until it returns false: those that have state, or,
// with all, removed keys as well, and of each whether it is one. What f is given is overwritten by the next call.
func entries[K comparable, S, T any](v *Version[K, S], all bool, pick func(s *S) T, f func(rows []keyed.Pair[K, T], gone []bool) bool) {
	read(v, all, false, pick, f)
}

// read is entries, with keys that are lent where lend is set.
func read[K comparable, S, T any](v *Version[K, S], all, lend bool, pick func(s *S) T, f func(rows []keyed.Pair[K, T], gone []bool) bool) {
	if v == nil || v.core == nil {
		return
	}
	r := reader[S]{all: all}
	last := v // up to here what changed since the version is known
	rows := make([]keyed.Pair[K, T], 0, min(entriesAtATime, v.size))
	choose := func(i int, c *cell[S]) (t T, ok bool) {
		state, ok := r.see(i, c)
		if ok {
			t = pick(state)
		}
		return t, ok
	}
	// Of the newest version most readers want what has state, and nothing has to be looked up for that.
	newest := func(_ int, c *cell[S]) (t T, ok bool) {
		if c.gone {
			return t, false
		}
		return pick(&c.state), true
	}
	for from := 0; from < v.size; from += entriesAtATime {
		r.gone = r.gone[:0]
		v.core.mu.RLock()
		for ; last.next != nil; last = last.next {
			r.catchUp(v.size, last.undo)
		}
		selected, which := keyed.Select[K, cell[S], T], choose
		if lend {
			selected = keyed.SelectLent[K, cell[S], T]
		}
		if !all && r.was == nil {
			which = newest
		}
		rows = selected(v.core.table, rows[:0], from, min(from+entriesAtATime, v.size), which)
		v.core.mu.RUnlock()
		if !f(rows, r.gone) {
			return
		}
	}
}

// reader reads a version piece by piece. In between, updates may go on from it.
type reader[S any] struct {
	was  []*change[S] // by entry, what changed since; nil where nothing did
	all  bool         // removed keys as well
	gone []bool       // of what was seen, with all
}

// see returns the state of an entry as it was, and whether it is to be shown.
func (r *reader[S]) see(i int, c *cell[S]) (*S, bool) {
	state, gone := &c.state, c.gone
	if r.was != nil {
		if was := r.was[i]; was != nil {
			state, gone = &was.state, was.gone
		}
	}
	if r.all {
		r.gone = append(r.gone, gone)
		return state, true
	}
	return state, !gone
}

// catchUp notes what the next change replaced. The oldest one has what the version had.
func (r *reader[S]) catchUp(size int, undo []change[S]) {
	if r.was == nil {
		r.was = make([]*change[S], size)
	}
	for i := range undo {
		if c := &undo[i]; int(c.at) < size && r.was[c.at] == nil {
			r.was[c.at] = c
		}
	}
}

// copied returns a table of the version's own: the same entries under the same numbers. Nobody else sees it.
func (v *Version[K, S]) copied(h *keyed.Hasher[K]) *table[K, S] {
	v.core.mu.RLock()
	if v.next == nil {
		defer v.core.mu.RUnlock()
		return v.core.table.Clone()
	}
	v.core.mu.RUnlock()
	t := keyed.New[K, cell[S]](h, v.size)
	entries(v, true, func(s *S) S { return *s }, func(rows []keyed.Pair[K, S], gone []bool) bool {
		for i := range rows {
			at, _ := t.Upsert(rows[i].Key)
			*t.Value(at) = cell[S]{state: rows[i].Value, gone: gone[i]}
		}
		return true
	})
	return t
}
