package codec

import (
	"bytes"
	"reflect"
	"slices"
	"unsafe"
)

// mapColumn encodes maps as a column of lengths plus one, with 0 for nil, then a column of all keys and a column of all values.
// The entries of one map are sorted by the bytes of their encoded key.
type mapColumn struct {
	typ        reflect.Type
	path       string
	key, value column
	keys, vals elements
}

func (c *mapColumn) minBits() int { return 8 }

func (c *mapColumn) append(e *encoder, v view) error {
	total := 0
	for i := range v.n {
		m := c.mapAt(v.at(i))
		n := m.Len() + 1
		if m.IsNil() {
			n = 0
		}
		if m.Len() > maxRows-total {
			return limitError(m.Len())
		}
		total += m.Len()
		e.dst = appendLength(e.dst, n)
	}
	if total == 0 {
		return nil
	}
	keys, keyView := c.keys.make(total)
	vals, valView := c.vals.make(total)
	s := entrySorter{column: c, depth: e.depth}
	pos := 0
	for i := range v.n {
		m := c.mapAt(v.at(i))
		n := m.Len()
		if n == 0 {
			continue
		}
		if err := s.sort(m, keys, vals, pos); err != nil {
			return err
		}
		pos += n
	}
	if err := c.key.append(e, keyView); err != nil {
		return err
	}
	return c.value.append(e, valView)
}

func (c *mapColumn) mapAt(p unsafe.Pointer) reflect.Value { return reflect.NewAt(c.typ, p).Elem() }

func (c *mapColumn) decode(r *reader, v view) error {
	l, total, err := r.lengths(v.n, 1)
	if err != nil {
		return err
	}
	if err := r.need(total, c.key.minBits()+c.value.minBits()); err != nil {
		return err
	}
	// Keys without content take no bytes, and one map has at most one of them.
	if c.key.minBits() == 0 && total > v.n {
		return r.corrupt("map holds a key twice")
	}
	keys, keyView := c.keys.make(total)
	vals, valView := c.vals.make(total)
	if total > 0 {
		if err := c.key.decode(r, keyView); err != nil {
			return err
		}
		if err := c.value.decode(r, valView); err != nil {
			return err
		}
	}
	pos := 0
	for i := range v.n {
		n := l.next() - 1
		if n < 0 {
			continue
		}
		m := reflect.MakeMapWithSize(c.typ, n)
		for j := pos; j < pos+n; j++ {
			k := keys.Index(j)
			if !k.Comparable() {
				return r.corrupt("map holds a key that has no equality")
			}
			m.SetMapIndex(k, vals.Index(j))
		}
		if m.Len() != n {
			return r.corrupt("map holds a key twice")
		}
		c.mapAt(v.at(i)).Set(m)
		pos += n
	}
	return nil
}

// entrySorter puts the entries of one map in order. Its buffers are reused for the maps of a column.
type entrySorter struct {
	column           *mapColumn
	depth            int
	iter             reflect.MapIter
	text             []byte
	order            []entry
	rawKeys, rawVals reflect.Value // the entries as the map gives them
	keyView, valView view
}

// entry is one key as encoded, text[start:end], and where its key and value are.
type entry struct{ start, end, index int }

// sort fills keys and vals with the entries of m, from index pos.
func (s *entrySorter) sort(m, keys, vals reflect.Value, pos int) error {
	c, n := s.column, m.Len()
	s.iter.Reset(m)
	if n == 1 {
		s.iter.Next()
		keys.Index(pos).SetIterKey(&s.iter)
		vals.Index(pos).SetIterValue(&s.iter)
		return nil
	}
	if s.keyView.n < n {
		s.rawKeys, s.keyView = c.keys.make(n)
		s.rawVals, s.valView = c.vals.make(n)
	}
	for i := 0; s.iter.Next(); i++ {
		s.rawKeys.Index(i).SetIterKey(&s.iter)
		s.rawVals.Index(i).SetIterValue(&s.iter)
	}
	e := encoder{dst: s.text[:0], depth: s.depth}
	s.order = s.order[:0]
	for i := range n {
		start := len(e.dst)
		if err := c.key.append(&e, view{base: s.keyView.at(i), n: 1}); err != nil {
			return err
		}
		s.order = append(s.order, entry{start, len(e.dst), i})
	}
	s.text = e.dst
	slices.SortFunc(s.order, s.compare)
	if err := s.sortTies(); err != nil {
		return err
	}
	for i, o := range s.order {
		keys.Index(pos + i).Set(s.rawKeys.Index(o.index))
		vals.Index(pos + i).Set(s.rawVals.Index(o.index))
	}
	return nil
}

func (s *entrySorter) compare(a, b entry) int {
	return bytes.Compare(s.text[a.start:a.end], s.text[b.start:b.end])
}

// sortTies orders entries whose encoded keys are equal by their encoded values. Only keys with a NaN are allowed that: other
// keys that differ in memory but not in bytes could not be told apart after decoding.
func (s *entrySorter) sortTies() error {
	c := s.column
	for i := 0; i < len(s.order); {
		end := i + 1
		for end < len(s.order) && s.compare(s.order[i], s.order[end]) == 0 {
			end++
		}
		if tied := s.order[i:end]; len(tied) > 1 {
			if k := s.rawKeys.Index(tied[0].index); k.Equal(k) {
				return &TypeError{Type: c.typ, Path: c.path, Reason: "two keys of one map have the same encoding"}
			}
			e := encoder{depth: s.depth}
			values := make([][]byte, s.valView.n)
			for _, o := range tied {
				e.dst = nil
				if err := c.value.append(&e, view{base: s.valView.at(o.index), n: 1}); err != nil {
					return err
				}
				values[o.index] = e.dst
			}
			slices.SortFunc(tied, func(a, b entry) int { return bytes.Compare(values[a.index], values[b.index]) })
		}
		i = end
	}
	return nil
}
