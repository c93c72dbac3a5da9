package executor

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
)

// Damage damages one thing the executor holds, chosen by rng, as a failing memory or disk would, and says
// nothing to anyone; false if there is nothing. Of a file, or of a block kept as bytes, a byte is flipped, the end is
// cut off, or all of it goes; a block kept as it is goes with all of its partition or output. For tests.
func (e *Executor) Damage(rng *rand.Rand) bool {
	s := e.store
	s.mu.Lock()
	var all []*stored
	for _, in := range s.scopes {
		for _, o := range in.shuffles {
			for _, st := range o.maps {
				all = append(all, st)
			}
		}
		for _, en := range in.persisted {
			if en.kept != nil {
				all = append(all, en.kept)
			}
		}
	}
	name := func(st *stored) string { return fmt.Sprintf("%s %d %09d", st.owner, st.owner.Dep, st.part) }
	sort.Slice(all, func(i, k int) bool { return name(all[i]) < name(all[k]) }) // not in the order of maps
	if len(all) == 0 {
		s.mu.Unlock()
		return false
	}
	st := all[rng.IntN(len(all))]
	f := st.file
	switch {
	case st.busy || f == nil && st.held == nil:
	case f == nil || st.held != nil && rng.IntN(2) == 0:
		if !st.damage(rng) {
			s.unlink(st)
			defer s.discard(st).unref()
		}
		s.mu.Unlock()
		return true
	}
	s.mu.Unlock()
	return f != nil && f.damage(rng)
}

// damage changes the bytes of one block that is kept as bytes, in a copy: readers may have the old ones.
func (st *stored) damage(rng *rand.Rand) bool {
	type at struct{ segment, block int }
	var all []at
	for i, held := range st.held {
		for k, h := range held {
			if len(h.Data) > 0 {
				all = append(all, at{i, k})
			}
		}
	}
	if len(all) == 0 {
		return false
	}
	x := all[rng.IntN(len(all))]
	held := slices.Clone(st.held)
	held[x.segment] = slices.Clone(held[x.segment])
	h := &held[x.segment][x.block]
	h.Data = slices.Clone(h.Data)
	if rng.IntN(2) == 0 {
		h.Data = h.Data[:rng.IntN(len(h.Data))]
	} else {
		h.Data[rng.IntN(len(h.Data))] ^= 1 << rng.IntN(8)
	}
	st.held = held
	return true
}

// damage damages the file, or its index.
func (f *file) damage(rng *rand.Rand) bool {
	path := f.path
	if f.index != "" && rng.IntN(2) == 0 {
		path = f.index
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	how := rng.IntN(3)
	switch {
	case how == 0 || len(data) == 0:
		return os.Remove(path) == nil
	case how == 1:
		return os.Truncate(path, rng.Int64N(int64(len(data)))) == nil
	}
	at := rng.IntN(len(data))
	data[at] ^= 1 << rng.IntN(8)
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	_, err = w.WriteAt(data[at:at+1], int64(at))
	return w.Close() == nil && err == nil
}
