package rdd

// side is an input of a grouping.
type side[K comparable, V any] struct {
	g       *grouping[K]
	columns *lazyCodec[Pair[K, V]]
	sample  sampler[V]
	groups[V]
	arranged [][]V
	numbers  []int64 // of the rows held; not at level 0
	first    int64   // number of the first row, at level 0
	buckets  [spillBuckets]*spilled[Pair[K, V]]
	results  [spillBuckets]*spilled[Pair[K, V]]
	readers  [spillBuckets]*spillReader[Pair[K, V]]
	group    []V // what collect gathered
}

// newSide adds an input to a grouping. Rows of one side come before those of the next.
func newSide[K comparable, V any](g *grouping[K], in input[Pair[K, V]]) *side[K, V] {
	s := &side[K, V]{g: g, columns: &in.parent.node.rows.columns, sample: newSampler[V]()}
	g.sides = append(g.sides, s)
	return s
}

// gatherGroup notes the rows of one input of a partition under their keys.
func gatherGroup[K comparable, V any](g *grouping[K], in input[Pair[K, V]], part int) (*side[K, V], error) {
	s := newSide(g, in)
	s.first = g.rows
	g.at.seen = 0
	return s, in.push(g.t, part, func(chunk []Pair[K, V]) error { return s.take(chunk, nil) })
}

// take takes rows that have these numbers, or, where numbers is nil, the next ones.
func (s *side[K, V]) take(chunk []Pair[K, V], numbers []int64) error {
	g := s.g
	if g.spool != nil {
		return s.pass(chunk, numbers)
	}
	next := g.keys.Len()
	if err := addGroup(g.at, g.keys, &s.groups, chunk); err != nil {
		return err
	}
	if s.sample.deep != nil {
		s.sample.see(s.groups.values[len(s.groups.values)-len(chunk):])
	}
	if numbers != nil {
		s.numbers = append(s.numbers, numbers...)
		for i, k := range s.key[len(s.key)-len(chunk):] {
			if int(k) == next {
				g.firsts = append(g.firsts, numbers[i])
				next++
			}
		}
	}
	g.rows += int64(len(chunk))
	return g.check(len(chunk))
}

// pass writes rows to their buckets.
func (s *side[K, V]) pass(chunk []Pair[K, V], numbers []int64) error {
	g := s.g
	for i := range chunk {
		k := chunk[i].Key
		if g.hasher.Dynamic() {
			if err := g.hasher.Check(k); err != nil {
				return g.at.failed(i, err)
			}
		}
		number := g.rows + int64(i)
		if numbers != nil {
			number = numbers[i]
		}
		if err := s.put(spillBucket(g.hasher.Hash(k), g.level), &chunk[i], number); err != nil {
			return err
		}
	}
	g.rows += int64(len(chunk))
	g.at.seen += int64(len(chunk))
	return nil
}

func (s *side[K, V]) put(b int, row *Pair[K, V], number int64) error {
	if s.buckets[b] == nil {
		s.buckets[b] = newSpilled(s.g.spool, s.columns)
	}
	return s.buckets[b].add(row, number)
}

func (s *side[K, V]) memory(keys int) int64 {
	n := len(s.groups.values)
	if n == 0 {
		return 0
	}
	// Arranged they are there once more, with a slice for each key.
	return s.sample.memory(n, cap(s.groups.values)+n) + 4*int64(cap(s.key)) + 8*int64(cap(s.numbers)) + 40*int64(keys)
}

func (s *side[K, V]) scatter(keys []K, place []uint8) error {
	for i, k := range s.key {
		number := s.first + int64(i)
		if s.numbers != nil {
			number = s.numbers[i]
		}
		if err := s.put(int(place[k]), &Pair[K, V]{Key: keys[k], Value: s.groups.values[i]}, number); err != nil {
			return err
		}
	}
	s.groups, s.numbers = groups[V]{}, nil
	return nil
}

func (s *side[K, V]) fresh(g *grouping[K]) groupSide[K] {
	return &side[K, V]{g: g, columns: s.columns, sample: newSampler[V]()}
}

func (s *side[K, V]) reload(b int, to groupSide[K]) error {
	defer func() { s.buckets[b] = nil }()
	return s.buckets[b].drain(to.(*side[K, V]).take)
}

func (s *side[K, V]) arrange(keys int) {
	s.arranged = s.groups.arrange(keys)
	s.groups, s.numbers = groups[V]{}, nil
}

// at is group i of what is held, or what collect gathered.
func (s *side[K, V]) at(i int) []V {
	if i >= 0 {
		return s.arranged[i]
	}
	return s.group
}

func (s *side[K, V]) result(b int, p *spool) { s.results[b] = newSpilled(p, s.columns) }

func (s *side[K, V]) append(i int, key K, first int64, to groupSide[K], b int) error {
	result := to.(*side[K, V]).results[b]
	for _, v := range s.arranged[i] {
		if err := result.add(&Pair[K, V]{Key: key, Value: v}, first); err != nil {
			return err
		}
	}
	return nil
}

func (s *side[K, V]) open() error {
	for b, r := range s.results {
		if err := r.flush(); err != nil {
			return err
		}
		s.readers[b] = r.reader()
	}
	return nil
}

func (s *side[K, V]) head(b int) (int64, bool, error) {
	ok, err := s.readers[b].more()
	if !ok {
		return 0, false, err
	}
	return s.readers[b].number(), true, nil
}

// each calls f for the rows of group number of result b.
func (s *side[K, V]) each(b int, number int64, f func(row *Pair[K, V]) error) error {
	r := s.readers[b]
	for {
		ok, err := r.more()
		if !ok || r.number() != number {
			return err
		}
		if err := f(&r.rows[r.at]); err != nil {
			return err
		}
		r.at++
	}
}

func (s *side[K, V]) move(b int, number int64, to groupSide[K], r int) error {
	result := to.(*side[K, V]).results[r]
	return s.each(b, number, func(row *Pair[K, V]) error { return result.add(row, number) })
}

func (s *side[K, V]) collect(b int, number int64) (key K, ok bool, err error) {
	s.group = []V{} // one that nobody else holds
	err = s.each(b, number, func(row *Pair[K, V]) error {
		key, ok = row.Key, true
		s.group = append(s.group, row.Value)
		return nil
	})
	return key, ok, err
}

func (s *side[K, V]) values() int { return len(s.group) }
