package keyed

// merging is a merge of two tables' entries, in the order of their spread hashes, that goes on where it stopped.
type merging[K comparable, V any] struct {
	a, b  *Table[K, V] // the older and the newer
	i, j  int          // the next entry of each
	f     func(V, V) V
	clone func(V) V // nil where assignment copies
}

func (m *merging[K, V]) done() bool { return m.i == m.a.Len() && m.j == m.b.Len() }

// next appends entries until to has so many, for which it has room, or a few more, or there are no more.
func (m *merging[K, V]) next(to *Table[K, V], upTo int) {
	na, nb := m.a.Len(), m.b.Len()
	for m.i < na && m.j < nb {
		switch m.a.hasher.kind {
		case keysString:
			m.words(to, upTo)
		case keysInt:
			m.ints(to, upTo)
		}
		if to.Len() >= upTo {
			return
		}
		if m.i < na && m.j < nb {
			m.step(to)
		}
	}
	if n := min(upTo-to.Len(), na-m.i); n > 0 {
		to.take(m.a, m.i, m.i+n)
		m.i += n
	}
	if n := min(upTo-to.Len(), nb-m.j); n > 0 && m.i == na {
		to.take(m.b, m.j, m.j+n)
		m.j += n
	}
}

// ints is next for integer keys while both have any. It stops where the hashes of different keys agree.
func (m *merging[K, V]) ints(to *Table[K, V], upTo int) {
	a, b, f, clone := m.a.ints, m.b.ints, m.f, m.clone
	i, j, n := m.i, m.j, len(to.ints)
	out := to.ints[:upTo]
	for n < len(out) && i < len(a) && j < len(b) {
		x, y := &a[i], &b[j]
		hx, hy := mixInt(x.key), mixInt(y.key)
		if hx == hy {
			if x.key != y.key {
				break
			}
			v := x.val
			if clone != nil {
				v = clone(v)
			}
			out[n] = intEntry[V]{x.key, f(v, y.val)}
			i, j, n = i+1, j+1, n+1
			continue
		}
		older := 0
		if hx < hy {
			older = 1
		}
		if hx > hy {
			x = y
		}
		out[n] = *x
		i, j, n = i+older, j+1-older, n+1
	}
	m.i, m.j, to.ints = i, j, out[:n]
}

// words is ints for strings.
func (m *merging[K, V]) words(to *Table[K, V], upTo int) {
	a, b, f, clone := m.a.words, m.b.words, m.f, m.clone
	i, j, n := m.i, m.j, len(to.words)
	out := to.words[:upTo]
	for n < len(out) && i < len(a) && j < len(b) {
		x, y := &a[i], &b[j]
		hx, hy := m.a.stringHash(x), m.b.stringHash(y)
		e, from, older, newer := x, m.a, 1, 0
		if hx > hy {
			e, from, older, newer = y, m.b, 0, 1
		}
		v := e.val
		if hx == hy {
			if !m.sameWords(x, y) {
				break
			}
			if clone != nil {
				v = clone(v)
			}
			v, newer = f(v, y.val), 1
		}
		at := e.lo
		if e.hi >= longString {
			at = to.adopt(from, e)
		}
		out[n] = wordEntry[V]{at, e.hi, v}
		i, j, n = i+older, j+newer, n+1
	}
	m.i, m.j, to.words = i, j, out[:n]
}

// sameWords reports whether an older and a newer string, whose hashes agree, are the same.
func (m *merging[K, V]) sameWords(x, y *wordEntry[V]) bool {
	if x.hi < longString {
		return x.lo == y.lo && x.hi == y.hi
	}
	return x.hi == y.hi && string(m.a.arena[x.lo:x.lo+x.hi&^longString]) == string(m.b.arena[y.lo:y.lo+y.hi&^longString])
}

// same reports whether an older and a newer entry, whose hashes agree, have the same key.
func (m *merging[K, V]) same(i, j int) bool {
	switch m.a.hasher.kind {
	case keysString:
		return m.sameWords(&m.a.words[i], &m.b.words[j])
	case keysInt:
		return m.a.ints[i].key == m.b.ints[j].key
	default:
		e := &m.b.whole[j]
		return m.a.isWhole(&m.a.whole[i], &e.key, e.hash)
	}
}

// step takes all entries whose hash is the least: one, two with the same key, or a few whose hashes agree by accident. Of those the
// older come first, then the newer whose keys are others.
func (m *merging[K, V]) step(to *Table[K, V]) {
	hx, hy := m.a.spreadAt(m.i), m.b.spreadAt(m.j)
	switch {
	case hx < hy:
		to.take(m.a, m.i, m.i+1)
		m.i++
		return
	case hx > hy:
		to.take(m.b, m.j, m.j+1)
		m.j++
		return
	}
	i, j := m.i, m.j
	for m.i < m.a.Len() && m.a.spreadAt(m.i) == hx {
		m.i++
	}
	for m.j < m.b.Len() && m.b.spreadAt(m.j) == hx {
		m.j++
	}
	for x := i; x < m.i; x++ {
		to.take(m.a, x, x+1)
		for y := j; y < m.j; y++ {
			if m.same(x, y) {
				v := to.Value(to.Len() - 1)
				if m.clone != nil {
					*v = m.clone(*v)
				}
				*v = m.f(*v, *m.b.Value(y))
				break
			}
		}
	}
	for y := j; y < m.j; y++ {
		fresh := true
		for x := i; x < m.i && fresh; x++ {
			fresh = !m.same(x, y)
		}
		if fresh {
			to.take(m.b, y, y+1)
		}
	}
}

// spreadAt returns the spread hash of the key of entry i.
func (t *Table[K, V]) spreadAt(i int) uint64 { return t.spread(t.HashAt(i)) }

// take appends entries of another table, without slots that find them.
func (t *Table[K, V]) take(from *Table[K, V], begin, end int) {
	switch t.hasher.kind {
	case keysString:
		n := len(t.words)
		t.words = append(t.words, from.words[begin:end]...)
		if len(from.arena) == 0 {
			return
		}
		for i := n; i < len(t.words); i++ {
			if e := &t.words[i]; e.hi >= longString {
				e.lo = t.adopt(from, e)
			}
		}
	case keysInt:
		t.ints = append(t.ints, from.ints[begin:end]...)
	default:
		t.whole = append(t.whole, from.whole[begin:end]...)
	}
}
