package state

import (
	"slices"

	"github.com/leat-io/leat/rdd/keyed"
)

// An Update makes the next version of one: changes are told to it, then Done. It belongs to one
// goroutine.
//
// It has either a table that nobody else sees, changed in its place, or a list of changes beside the table of the version
// it started from, which stays as it is until Done. To find a key's change again, the key's entry in that table is marked with the
// change's number; keys without an entry have a table of their own.
type Update[K comparable, S any] struct {
	before *Version[K, S]
	hasher *keyed.Hasher[K]
	live   int

	whole *table[K, S] // nil where there are changes beside a table

	list     []change[S]
	fresh    *keyed.Table[K, int32] // of keys that the table has no entry for the change
	expected int                    // how many changes
}

// Update starts an update of v, which may be nil for the empty version, that will change about so
// many keys; 0 where that is not known.
func (v *Version[K, S]) Update(h *keyed.Hasher[K], changes int) *Update[K, S] {
	if v == nil || v.core == nil {
		return Rebuild[K, S](h, changes)
	}
	return &Update[K, S]{before: v, hasher: h, live: v.live, expected: max(changes, v.changed)}
}

// Rebuild starts an update from nothing that replaces a version whole: keys that are not put again
// are gone. It is what an update that looks at every key uses.
func Rebuild[K comparable, S any](h *keyed.Hasher[K], capacity int) *Update[K, S] {
	return &Update[K, S]{hasher: h, whole: keyed.New[K, cell[S]](h, capacity)}
}

// acquire takes the marks of the table for the update, and the lock, which the caller gives back. Where the version was left
// behind in the meantime, or another update has the marks by now, the update goes on beside a copy of the table.
func (u *Update[K, S]) acquire() *core[K, S] {
	c := u.before.core
	c.mu.Lock()
	if u.before.next == nil && (c.owner == u || len(u.list) == 0) {
		c.owner = u
		return c
	}
	c.mu.Unlock()
	u.part()
	c = u.before.core
	c.mu.Lock()
	return c
}

// part makes the update go on beside a table of its own.
func (u *Update[K, S]) part() {
	v := u.before
	t := v.copied(u.hasher)
	for i := range u.list {
		if at := u.list[i].at; at != absent {
			t.Value(int(at)).mark = uint32(i + 1)
		}
	}
	u.before = &Version[K, S]{core: &core[K, S]{table: t, owner: u}, size: v.size, live: v.live}
}

// note returns the number of the change of an entry, which it begins where there is none yet. The update has the lock and
// the marks.
func (u *Update[K, S]) note(at int32, c *cell[S]) int32 {
	if i := c.mark - 1; uint(i) < uint(len(u.list)) && u.list[i].at == at {
		return int32(i)
	}
	if u.list == nil {
		u.list = make([]change[S], 0, u.expected)
	}
	u.list = append(u.list, change[S]{state: c.state, at: at, gone: c.gone})
	c.mark = uint32(len(u.list))
	return int32(len(u.list) - 1)
}

// noteAll is note for entries many at a time: it turns the entries in to into numbers and leaves those that are absent, which
// it counts.
func (u *Update[K, S]) noteAll(t *table[K, S], to []int32) (missing int) {
	values := t.Values()
	for i, at := range to {
		if at == absent {
			missing++
			continue
		}
		to[i] = u.note(at, values.At(int(at)))
	}
	return missing
}

// noteFresh returns the number of the change of entry i of fresh, which was perhaps added just now.
func (u *Update[K, S]) noteFresh(i int, added bool) int32 {
	number := u.fresh.Value(i)
	if added {
		u.list = append(u.list, change[S]{at: absent, gone: true})
		*number = int32(len(u.list) - 1)
	}
	return *number
}

func (u *Update[K, S]) freshKeys() *keyed.Table[K, int32] {
	if u.fresh == nil {
		u.fresh = keyed.New[K, int32](u.hasher, 0)
	}
	return u.fresh
}

// addedGone marks the entries from first on, which were added to a table of the update's own, as without state.
func (u *Update[K, S]) addedGone(first int) {
	for i := first; i < u.whole.Len(); i++ {
		u.whole.Value(i).gone = true
	}
}

// Touch finds or adds the keys of rows, and sets to[i] to the number that At, Set and Unset know the key of
// rows[i] by. To is as long as rows.
//
// Cost: less than that of a Get for each row: keys are looked for many at a time.
func Touch[K comparable, V, S any](u *Update[K, S], rows []keyed.Pair[K, V], to []int32) {
	if u.whole != nil {
		first := u.whole.Len()
		keyed.Enumerate(u.whole, rows, to)
		u.addedGone(first)
		return
	}
	c := u.acquire()
	keyed.FindPairs(c.table, rows, to)
	missing := u.noteAll(c.table, to[:len(rows)])
	c.mu.Unlock()
	for i := 0; missing > 0; i++ {
		if to[i] == absent {
			to[i] = u.noteFresh(u.freshKeys().Upsert(rows[i].Key))
			missing--
		}
	}
}

// TouchPacked is Touch for the rows from up to to of rows whose keys are packed. At is at least as long as those.
//
// Cost: as Touch, without making keys ready.
func TouchPacked[K comparable, V, S any](u *Update[K, S], rows *keyed.Packed[K, V], from, to int, at []int32) {
	if u.whole != nil {
		first := u.whole.Len()
		keyed.EnumeratePacked(u.whole, rows, from, to, at)
		u.addedGone(first)
		return
	}
	c := u.acquire()
	keyed.FindPacked(c.table, rows, from, to, at)
	touchFound(u, c, rows, from, at[:to-from])
}

// TouchPackedNear is TouchPacked for rows that were touched before, when Places gave near, of which near[i] is of row from+i.
//
// Cost: less than TouchPacked where the keys still have the entries that they had.
func TouchPackedNear[K comparable, V, S any](u *Update[K, S], rows *keyed.Packed[K, V], from, to int, near, at []int32) {
	if u.whole != nil {
		TouchPacked(u, rows, from, to, at)
		return
	}
	c := u.acquire()
	keyed.FindPackedNear(c.table, rows, from, to, near, at)
	touchFound(u, c, rows, from, at[:to-from])
}

// touchFound turns the entries of the rows from from on into the numbers of their changes, and gives back the lock.
func touchFound[K comparable, V, S any](u *Update[K, S], c *core[K, S], rows *keyed.Packed[K, V], from int, at []int32) {
	missing := u.noteAll(c.table, at)
	c.mu.Unlock()
	for i := 0; missing > 0; i++ {
		if at[i] == absent {
			at[i] = u.noteFresh(keyed.UpsertPacked(u.freshKeys(), rows, from+i))
			missing--
		}
	}
}

// Places sets to[i] to the entry of the key that is known by at[i], absent where it has none yet. It is as long as at.
func (u *Update[K, S]) Places(at, to []int32) {
	if u.whole != nil {
		copy(to, at)
		return
	}
	for i, number := range at {
		to[i] = u.list[number].at
	}
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
	c := u.acquire()
	if at, ok := c.table.Find(k); ok {
		defer c.mu.Unlock()
		return u.note(int32(at), c.table.Value(at))
	}
	c.mu.Unlock()
	return u.noteFresh(u.freshKeys().Upsert(k))
}

// place returns where the state of a touched key lies, and the mark that it has none.
func (u *Update[K, S]) place(at int32) (*S, *bool) {
	if u.whole != nil {
		c := u.whole.Value(int(at))
		return &c.state, &c.gone
	}
	c := &u.list[at]
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
	switch {
	case u.whole != nil:
		if at, found := u.whole.Find(k); found {
			return u.At(int32(at))
		}
		return s, false
	case len(u.list) == 0:
		return u.before.Get(k)
	}
	if u.fresh != nil {
		if at, found := u.fresh.Find(k); found {
			return u.At(*u.fresh.Value(at))
		}
	}
	c := u.acquire()
	defer c.mu.Unlock()
	at, found := c.table.Find(k)
	if !found {
		return s, false
	}
	was := c.table.Value(at)
	if i := was.mark - 1; uint(i) < uint(len(u.list)) && u.list[i].at == int32(at) {
		return u.At(int32(i))
	}
	return was.state, !was.gone
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
	if len(u.list) == 0 {
		return u.before
	}
	size := u.before.size
	if u.fresh != nil {
		for i := range u.fresh.Len() {
			if !u.list[*u.fresh.Value(i)].gone {
				size++
			}
		}
	}
	if !crowded(size, u.live) {
		if next := u.shared(); next != nil {
			return next
		}
		u.part()
		return u.shared()
	}
	u.part()
	u.whole = u.before.core.table
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
	changed := len(u.list)
	c.mu.Lock()
	defer c.mu.Unlock()
	if v.next != nil {
		return nil
	}
	c.owner = nil
	u.apply(c.table)
	v.undo = u.list
	if cap(v.undo) > 2*len(v.undo)+64 {
		v.undo = slices.Clone(v.undo)
	}
	v.next = &Version[K, S]{core: c, size: c.table.Len(), live: u.live, changed: changed}
	return v.next
}

// apply swaps the changes with what t holds. Of keys that had no entry nothing stays in the list: older versions do not look
// so far.
func (u *Update[K, S]) apply(t *table[K, S]) {
	values := t.Values()
	for i := range u.list {
		c := &u.list[i]
		if c.at == absent {
			continue
		}
		was := values.At(int(c.at))
		was.state, c.state = c.state, was.state
		was.gone, c.gone = c.gone, was.gone
	}
	if u.fresh == nil {
		return
	}
	keys := u.fresh.Packed()
	for i := range keys.Len() {
		if c := &u.list[*u.fresh.Value(i)]; !c.gone {
			at, _ := keyed.UpsertPacked(t, keys, i)
			t.Value(at).state = c.state
		}
	}
	u.list = slices.DeleteFunc(u.list, func(c change[S]) bool { return c.at == absent })
}

// swept returns a table with the cells of t that were not removed, in their order.
func swept[K comparable, S any](t *table[K, S], live int) *table[K, S] {
	out := keyed.New[K, cell[S]](t.Hasher(), live)
	keys := t.Packed()
	for i := range t.Len() {
		if c := t.Value(i); !c.gone {
			at, _ := keyed.UpsertPacked(out, keys, i)
			*out.Value(at) = *c
		}
	}
	return out
}
