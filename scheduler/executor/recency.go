package executor

// A recency is a list of what lies in memory, least recently used first. The store's lock guards it.
type recency struct{ oldest, newest *stored }

// use puts st at the end of the list.
func (r *recency) use(st *stored) {
	if r.newest == st {
		return
	}
	r.remove(st)
	st.older = r.newest
	if r.newest != nil {
		r.newest.newer = st
	} else {
		r.oldest = st
	}
	r.newest = st
}

// remove takes st out of the list, if it is in it.
func (r *recency) remove(st *stored) {
	switch {
	case st.older != nil:
		st.older.newer = st.newer
	case r.oldest == st:
		r.oldest = st.newer
	default:
		return
	}
	if st.newer != nil {
		st.newer.older = st.older
	} else {
		r.newest = st.older
	}
	st.newer, st.older = nil, nil
}
