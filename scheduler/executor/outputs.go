package executor

import "github.com/leat-io/leat/lineage"

// putOutput keeps the output of a map task. Every attempt of it writes the same, so the last wins.
func (s *store) putOutput(st *stored) {
	s.mu.Lock()
	old := st
	if !s.closed {
		in := s.open(st.owner.Node.Scope)
		o := in.shuffles[st.owner]
		if o == nil {
			o = &outputs{map[int]*stored{}}
			in.shuffles[st.owner] = o
		}
		old = o.maps[st.part]
		o.maps[st.part] = st
		s.use(st)
	}
	file := s.discard(old)
	s.mu.Unlock()
	file.unref()
}

// outputs returns the outputs of a shuffle, nil if there are none.
func (s *store) outputs(id lineage.ShuffleID) *outputs {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of(id.Node.Scope).shuffles[id]
}

// output returns the output of a map task.
func (s *store) output(o *outputs, mapPart int) (view, bool) {
	if o == nil {
		return view{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := o.maps[mapPart]
	if st == nil {
		return view{}, false
	}
	return s.pin(st), true
}

// swapPin pins an output that is in memory, in place of the one that pinned has, and returns its blocks; nil if it is
// not.
func (s *store) swapPin(o *outputs, mapPart int, pinned **stored) (held [][]Held) {
	s.mu.Lock()
	st := o.maps[mapPart]
	if st != nil && st.held != nil {
		held = st.held
		st.pins.Add(1)
		s.use(st)
	} else {
		st = nil
	}
	s.mu.Unlock()
	if *pinned != nil {
		(*pinned).pins.Add(-1)
	}
	*pinned = st
	return held
}

// bucket yields the blocks of a bucket from number first on. Of a damaged output nothing is kept.
func (s *store) bucket(o *outputs, mapPart, reduce, first int, yield func(Held) error) error {
	v, ok := s.output(o, mapPart)
	if !ok {
		return errNoBucket
	}
	defer v.close()
	if v.held != nil && (reduce < 0 || reduce >= len(v.held)) || v.file != nil && (reduce < 0 || reduce >= v.file.segments) {
		return errNoBucket
	}
	damage, stop := v.read(reduce, first, yield)
	if damage != nil {
		s.drop(v.st)
		return damage
	}
	return stop
}
