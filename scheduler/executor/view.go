package executor

import "fmt"

// A view is a stored as its reader found it. It is pinned until it is closed.
type view struct {
	st   *stored
	held [][]Held
	file *file
}

// pin returns a view. mu is held.
func (s *store) pin(st *stored) view {
	st.pins.Add(1)
	v := view{st: st, held: st.held}
	if v.held != nil {
		s.use(st)
	} else if v.file = st.file; v.file != nil {
		v.file.ref()
	}
	return v
}

func (v view) close() {
	v.st.pins.Add(-1)
	v.file.unref()
}

// read yields the blocks of a segment from number first on. damage is what is wrong with what is held.
func (v view) read(segment, first int, yield func(Held) error) (damage, stop error) {
	if v.file != nil {
		return v.file.read(segment, first, yield)
	}
	held := v.held[segment]
	for i, h := range held[min(first, len(held)):] {
		if h.Data != nil && sumOf(h.Data) != h.sum() {
			return fmt.Errorf("block %d of segment %d in memory: %w", first+i, segment, errDamaged), nil
		}
		if err := yield(h); err != nil {
			return nil, err
		}
	}
	return nil, nil
}
