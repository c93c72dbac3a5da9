package state

import "github.com/leat-io/leat/rdd/keyed"

// mergeRatio is how many times larger an older table must be to be left alone: a larger ratio
// means fewer tables to probe and more copying.
const mergeRatio = 4

// An Update makes the next version of one: changes are told to it, then Done. It belongs to one
// goroutine.
type Update[K comparable, S any] struct {
	levels []*table[K, S] // those of the version it started from
	delta  *table[K, S]
	live   int
}

// Update starts an update of v, which may be nil for the empty version.
func (v *Version[K, S]) Update(h *keyed.Hasher[K]) *Update[K, S] {
	u := &Update[K, S]{delta: keyed.New[K, cell[S]](h, 0)}
	if v != nil {
		u.levels, u.live = v.levels, v.live
	}
	return u
}

// Get returns the state of a key as changed so far.
func (u *Update[K, S]) Get(k K) (s S, ok bool) {
	var c *cell[S]
	if at, found := u.delta.Find(k); found {
		c = u.delta.Value(at)
	} else {
		c = find(u.levels, k)
	}
	if c == nil || c.gone {
		return s, false
	}
	return c.state, true
}

// Put sets the state of a key.
func (u *Update[K, S]) Put(k K, s S) { u.set(k, cell[S]{state: s}) }

// Delete removes a key; one that has no state is left alone.
func (u *Update[K, S]) Delete(k K) {
	if _, ok := u.Get(k); ok {
		u.set(k, cell[S]{gone: true})
	}
}

func (u *Update[K, S]) set(k K, c cell[S]) {
	at, fresh := u.delta.Upsert(k)
	was := u.delta.Value(at)
	had := !fresh && !was.gone
	if fresh {
		older := find(u.levels, k)
		had = older != nil && !older.gone
	}
	*was = c
	switch {
	case had && c.gone:
		u.live--
	case !had && !c.gone:
		u.live++
	}
}

// Done returns the version with the changes. The update must not be used afterwards.
//
// Cost: the keys changed, and over many batches a few times as much again for merging.
func (u *Update[K, S]) Done() *Version[K, S] {
	levels := append([]*table[K, S](nil), u.levels...)
	if u.delta.Len() > 0 {
		levels = append(levels, u.delta)
	}
	for n := len(levels); n > 1 && levels[n-1].Len()*mergeRatio >= levels[n-2].Len(); n = len(levels) {
		merged := merge(levels[n-2], levels[n-1], n == 2)
		levels = append(levels[:n-2], merged)
	}
	return &Version[K, S]{levels: levels, live: u.live}
}

// merge returns a table with both tables' keys, the younger's cells before the older's. In the last
// table nothing lies below, so removed keys are left out.
func merge[K comparable, S any](older, younger *table[K, S], last bool) *table[K, S] {
	gone := false
	var out *table[K, S]
	if last {
		for i := 0; i < younger.Len() && !gone; i++ {
			gone = younger.Value(i).gone
		}
	}
	if !gone {
		// The older table's columns are copied as they are and its keys keep their places.
		out = older.Clone()
		for i := range younger.Len() {
			at, _ := out.Upsert(younger.Key(i))
			*out.Value(at) = *younger.Value(i)
		}
		return out
	}
	out = keyed.New[K, cell[S]](older.Hasher(), older.Len()+younger.Len())
	put := func(k K, c *cell[S]) {
		if !c.gone {
			at, _ := out.Upsert(k)
			*out.Value(at) = *c
		}
	}
	for i := range older.Len() {
		k := older.Key(i)
		c := older.Value(i)
		if at, ok := younger.Find(k); ok {
			c = younger.Value(at)
		}
		put(k, c)
	}
	for i := range younger.Len() {
		put(younger.Key(i), younger.Value(i)) // those with a place have it already, with this cell
	}
	return out
}

// Rebuild starts an update from nothing that replaces a version whole: keys that are not put again
// are gone. It is what an update that looks at every key uses.
func Rebuild[K comparable, S any](h *keyed.Hasher[K], capacity int) *Update[K, S] {
	return &Update[K, S]{delta: keyed.New[K, cell[S]](h, capacity)}
}
