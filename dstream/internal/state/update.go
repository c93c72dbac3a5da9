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

// Update starts an update of v, which may be nil for the empty version, that will change about so
// many keys; 0 where that is not known. Where it is so many that all tables would be merged in the end,
// they are merged now and every change is made in its place.
func (v *Version[K, S]) Update(h *keyed.Hasher[K], changes int) *Update[K, S] {
	if v == nil || len(v.levels) == 0 {
		return &Update[K, S]{delta: keyed.New[K, cell[S]](h, changes)}
	}
	if changes*mergeRatio < v.levels[0].Len() {
		return &Update[K, S]{levels: v.levels, delta: keyed.New[K, cell[S]](h, changes), live: v.live}
	}
	whole := v.levels[0].Clone()
	for _, younger := range v.levels[1:] {
		overlay(whole, younger)
	}
	return &Update[K, S]{delta: whole, live: v.live}
}

// overlay puts the younger table's cells into t; keys that t has keep their places.
func overlay[K comparable, S any](t, younger *table[K, S]) {
	for i := range younger.Len() {
		at, _ := t.Upsert(younger.Key(i))
		*t.Value(at) = *younger.Value(i)
	}
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

// Change calls f with where the state of a key lies, to be changed there, and reports whether the key
// had state. It has none afterwards if f returns false.
func (u *Update[K, S]) Change(k K, f func(s *S) (keep bool)) bool {
	at, found := u.delta.Find(k)
	if !found {
		c := find(u.levels, k)
		if c == nil || c.gone {
			return false
		}
		at, _ = u.delta.Upsert(k)
		*u.delta.Value(at) = *c
	}
	c := u.delta.Value(at)
	if c.gone {
		return false
	}
	if !f(&c.state) {
		*c = cell[S]{gone: true}
		u.live--
	}
	return true
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
	if len(u.levels) == 0 && u.delta.Len() > 2*u.live {
		u.delta = swept(u.delta, u.live)
	}
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
		overlay(out, younger)
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

// swept returns a table with the cells of t that were not removed, in their order.
func swept[K comparable, S any](t *table[K, S], live int) *table[K, S] {
	out := keyed.New[K, cell[S]](t.Hasher(), live)
	for i := range t.Len() {
		if c := t.Value(i); !c.gone {
			at, _ := out.Upsert(t.Key(i))
			*out.Value(at) = *c
		}
	}
	return out
}

// Rebuild starts an update from nothing that replaces a version whole: keys that are not put again
// are gone. It is what an update that looks at every key uses.
func Rebuild[K comparable, S any](h *keyed.Hasher[K], capacity int) *Update[K, S] {
	return &Update[K, S]{delta: keyed.New[K, cell[S]](h, capacity)}
}
