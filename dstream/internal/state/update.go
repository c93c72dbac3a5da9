package state

import "github.com/leat-io/leat/rdd/keyed"

// wholeRatio says when an update copies the table and changes the copy: when the changes are expected to be at least
// one in so many of its entries. Beside the table, a change costs about four times what copying an entry does.
const wholeRatio = 4

// An Update makes the next version of one: changes are told to it, then Done. It belongs to one
// goroutine.
type Update[K comparable, S any] struct {
	before *Version[K, S]
	hasher *keyed.Hasher[K]
	live   int
	// One of the two: a table that nobody else sees, changed in its place, or the changes beside that of before, nil while
	// there are none.
	whole *table[K, S]
	delta *changes[K, S]

	expected int     // how many changes
	fresh    []K     // scratch of Touch: the keys that were not touched before
	found    []int32 // and their entries
}

// Update starts an update of v, which may be nil for the empty version, that will change about so
// many keys; 0 where that is not known.
func (v *Version[K, S]) Update(h *keyed.Hasher[K], changes int) *Update[K, S] {
	u := &Update[K, S]{before: v, hasher: h, live: v.Len(), expected: changes}
	switch {
	case v == nil || v.core == nil:
		u.before, u.whole = nil, keyed.New[K, cell[S]](h, changes)
	case changes*wholeRatio >= v.size:
		u.whole = v.copied(h)
	}
	return u
}

// Rebuild starts an update from nothing that replaces a version whole: keys that are not put again
// are gone. It is what an update that looks at every key uses.
func Rebuild[K comparable, S any](h *keyed.Hasher[K], capacity int) *Update[K, S] {
	return &Update[K, S]{hasher: h, whole: keyed.New[K, cell[S]](h, capacity)}
}

// Touch finds or adds the keys of rows, and sets to[i] to the number that At, Set and Unset know the key of
// rows[i] by. To is as long as rows.
//
// Cost: less than that of a Get for each row: keys are looked for many at a time.
func Touch[K comparable, V, S any](u *Update[K, S], rows []keyed.Pair[K, V], to []int32) {
	if u.whole != nil {
		first := u.whole.Len()
		keyed.Enumerate(u.whole, rows, to)
		for i := first; i < u.whole.Len(); i++ {
			u.whole.Value(i).gone = true
		}
		return
	}
	known := u.changes().Len()
	keyed.Enumerate(u.delta, rows, to)
	if u.delta.Len() == known {
		return
	}
	u.fresh = u.fresh[:0]
	next := int32(known)
	for i, at := range to {
		if at == next {
			u.fresh = append(u.fresh, rows[i].Key)
			next++
		}
	}
	if len(u.found) < len(u.fresh) {
		u.found = make([]int32, len(u.fresh))
	}
	u.before.core.mu.RLock()
	defer u.before.core.mu.RUnlock()
	if u.before.next != nil {
		for i, k := range u.fresh {
			*u.delta.Value(known + i) = u.before.find(k)
		}
		return
	}
	t := u.before.core.table
	keyed.FindKeys(t, u.fresh, u.found)
	for i, at := range u.found[:len(u.fresh)] {
		c := u.delta.Value(known + i)
		if at == absent {
			*c = change[S]{at: absent, gone: true}
			continue
		}
		was := t.Value(int(at))
		*c = change[S]{state: was.state, at: at, gone: was.gone}
	}
}

// changes returns the table of the changes. It is made for as many as the update before had.
func (u *Update[K, S]) changes() *changes[K, S] {
	if u.delta == nil {
		u.delta = keyed.New[K, change[S]](u.hasher, max(u.expected, u.before.changed))
	}
	return u.delta
}

// touch is Touch for one key.
func (u *Update[K, S]) touch(k K) int32 {
	if u.whole != nil {
		at, fresh := u.whole.Upsert(k)
		if fresh {
			u.whole.Value(at).gone = true
		}
		return int32(at)
	}
	at, fresh := u.changes().Upsert(k)
	if fresh {
		u.before.core.mu.RLock()
		*u.delta.Value(at) = u.before.find(k)
		u.before.core.mu.RUnlock()
	}
	return int32(at)
}

// place returns where the state of a touched key lies, and the mark that it has none.
func (u *Update[K, S]) place(at int32) (*S, *bool) {
	if u.whole != nil {
		c := u.whole.Value(int(at))
		return &c.state, &c.gone
	}
	c := u.delta.Value(int(at))
	return &c.state, &c.gone
}

// At returns the state of a touched key as changed so far.
func (u *Update[K, S]) At(at int32) (s S, ok bool) {
	state, gone := u.place(at)
	return *state, !*gone
}

// Set sets the state of a touched key.
func (u *Update[K, S]) Set(at int32, s S) {
	state, gone := u.place(at)
	if *gone {
		*gone = false
		u.live++
	}
	*state = s
}

// Unset removes a touched key; one that has no state is left alone.
func (u *Update[K, S]) Unset(at int32) {
	state, gone := u.place(at)
	if !*gone {
		var zero S
		*state, *gone = zero, true
		u.live--
	}
}

// Get returns the state of a key as changed so far.
func (u *Update[K, S]) Get(k K) (s S, ok bool) {
	if u.whole != nil {
		if at, found := u.whole.Find(k); found {
			return u.At(int32(at))
		}
		return s, false
	}
	if u.delta != nil {
		if at, found := u.delta.Find(k); found {
			return u.At(int32(at))
		}
	}
	return u.before.Get(k)
}

// Put sets the state of a key.
func (u *Update[K, S]) Put(k K, s S) { u.Set(u.touch(k), s) }

// Delete removes a key; one that has no state is left alone.
func (u *Update[K, S]) Delete(k K) {
	if _, ok := u.Get(k); ok {
		u.Unset(u.touch(k))
	}
}

// Done returns the version with the changes; without any, the one it started from. The update must not be used
// afterwards.
//
// Cost: the keys changed. The table that versions share is changed in its place, so a second update from one version,
// which a batch that is computed again makes, copies it, and so does, now and then, one that removes keys.
func (u *Update[K, S]) Done() *Version[K, S] {
	if u.whole != nil {
		return u.alone()
	}
	if u.delta == nil || u.delta.Len() == 0 {
		return u.before
	}
	size := u.before.size
	for i := range u.delta.Len() {
		if c := u.delta.Value(i); c.at == absent && !c.gone {
			size++
		}
	}
	if !crowded(size, u.live) {
		if next := u.shared(); next != nil {
			return next
		}
	}
	u.whole = u.before.copied(u.hasher)
	u.apply(u.whole)
	return u.alone()
}

// crowded reports whether a table of so many entries has so many removed keys that it is made anew.
func crowded(size, live int) bool { return size > 2*live+64 }

// alone returns the version of a table that nobody else sees.
func (u *Update[K, S]) alone() *Version[K, S] {
	t := u.whole
	if crowded(t.Len(), u.live) {
		t = swept(t, u.live)
	}
	if t.Len() == 0 {
		return new(Version[K, S])
	}
	return &Version[K, S]{core: &core[K, S]{table: t}, size: t.Len(), live: u.live}
}

// shared makes the changes in the table of before and leaves there what they replaced. It returns nil if another update
// has gone on from before already.
func (u *Update[K, S]) shared() *Version[K, S] {
	v, c := u.before, u.before.core
	c.mu.Lock()
	defer c.mu.Unlock()
	if v.next != nil {
		return nil
	}
	u.apply(c.table)
	v.next = &Version[K, S]{core: c, size: c.table.Len(), live: u.live, changed: u.delta.Len()}
	v.undo = u.delta
	return v.next
}

// apply swaps the changes with what t holds.
func (u *Update[K, S]) apply(t *table[K, S]) {
	for i := range u.delta.Len() {
		c := u.delta.Value(i)
		if c.at == absent {
			if !c.gone {
				at, _ := t.Upsert(u.delta.Key(i))
				t.Value(at).state = c.state
				var zero S
				c.state, c.gone = zero, true // there was none before; the key has no entry in older versions
			}
			continue
		}
		was := t.Value(int(c.at))
		was.state, c.state = c.state, was.state
		was.gone, c.gone = c.gone, was.gone
	}
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
