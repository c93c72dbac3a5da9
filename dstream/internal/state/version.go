package state

import (
	"sync"

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
	undo *changes[K, S] // what the update replaced
}

// core is a table that versions share. It holds the state of the last of them.
type core[K comparable, S any] struct {
	mu    sync.RWMutex
	table *table[K, S]
}

// table holds the keys in the order in which they first came. A key that was removed keeps its entry until the table is
// made anew.
type table[K comparable, S any] = keyed.Table[K, cell[S]]

// cell is a key's state, or that it was removed.
type cell[S any] struct {
	state S
	gone  bool
}

// changes are cells beside a table: those of an update that is under way, or those that it replaced.
type changes[K comparable, S any] = keyed.Table[K, change[S]]

// change is one of changes.
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
	if v.undo != nil {
		sum += v.undo.Memory(0)
	}
	return sum
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
	for u := v; u.next != nil; u = u.next {
		if at, ok := u.undo.Find(k); ok {
			return *u.undo.Value(at)
		}
	}
	if at, ok := v.core.table.Find(k); ok && at < v.size {
		c := v.core.table.Value(at)
		return change[S]{state: c.state, at: int32(at), gone: c.gone}
	}
	return change[S]{at: absent, gone: true}
}

// Each calls yield with every key that has state until it returns false. The state must not be changed.
//
// Order: as the keys were first put.
// Cost: one step a key; for a version that is not the newest of its table also one for each change since.
func (v *Version[K, S]) Each(yield func(k K, s *S) bool) {
	v.entries(func(rows []keyed.Pair[K, cell[S]]) bool {
		for i := range rows {
			if c := &rows[i].Value; !c.gone && !yield(rows[i].Key, &c.state) {
				return false
			}
		}
		return true
	})
}

// entriesAtATime is how many entries are copied under the lock before they are handed on without it.
const entriesAtATime = 512

// entries calls f with the version's entries in order, removed keys too, until it returns false. What it is given is
// overwritten by the next call.
func (v *Version[K, S]) entries(f func(rows []keyed.Pair[K, cell[S]]) bool) {
	if v == nil || v.core == nil {
		return
	}
	r := reader[K, S]{last: v, rows: make([]keyed.Pair[K, cell[S]], 0, min(entriesAtATime, v.size))}
	for from := 0; from < v.size; from += entriesAtATime {
		if !f(r.read(v, from, min(from+entriesAtATime, v.size))) {
			return
		}
	}
}

// reader reads a version piece by piece. In between, updates may go on from it.
type reader[K comparable, S any] struct {
	last *Version[K, S] // up to here what changed since the version is known
	was  []*change[S]   // by entry, what changed since; nil where nothing did
	rows []keyed.Pair[K, cell[S]]
}

// read returns some entries as they were in v.
func (r *reader[K, S]) read(v *Version[K, S], from, to int) []keyed.Pair[K, cell[S]] {
	v.core.mu.RLock()
	defer v.core.mu.RUnlock()
	for ; r.last.next != nil; r.last = r.last.next {
		if r.was == nil {
			r.was = make([]*change[S], v.size)
		}
		undo := r.last.undo
		for i := range undo.Len() {
			// The oldest change has what v had.
			if c := undo.Value(i); c.at != absent && int(c.at) < v.size && r.was[c.at] == nil {
				r.was[c.at] = c
			}
		}
	}
	r.rows = v.core.table.Pairs(r.rows[:0], from, to)
	if r.was != nil {
		for i, c := range r.was[from:to] {
			if c != nil {
				r.rows[i].Value = cell[S]{state: c.state, gone: c.gone}
			}
		}
	}
	return r.rows
}

// copied returns a table of the version's own: the same entries in the same order. Nobody else sees it.
func (v *Version[K, S]) copied(h *keyed.Hasher[K]) *table[K, S] {
	if v == nil || v.core == nil {
		return keyed.New[K, cell[S]](h, 0)
	}
	v.core.mu.RLock()
	if v.next == nil {
		defer v.core.mu.RUnlock()
		return v.core.table.Clone()
	}
	v.core.mu.RUnlock()
	t := keyed.New[K, cell[S]](h, v.size)
	v.entries(func(rows []keyed.Pair[K, cell[S]]) bool {
		for i := range rows {
			at, _ := t.Upsert(rows[i].Key)
			*t.Value(at) = rows[i].Value
		}
		return true
	})
	return t
}
