package rdd

import "github.com/leat-io/leat/rdd/keyed"

// A subtraction holds the pairs of one input until the keys of the other have struck theirs out.
//
// When memory is refused, all pairs are written to sixteen buckets by the hashes of their keys, with their numbers, and
// so are the keys of the other input. Of each bucket the struck keys are loaded, or divided again one
// level deeper, and the pairs that are left are written out; last the buckets are merged by the numbers of the
// pairs.
type subtraction[K comparable, V any] struct {
	t       *task
	at      *place
	hasher  *keyed.Hasher[K]
	columns *lazyCodec[Pair[K, V]]
	only    *lazyCodec[K]
	keys    *keyIndex[K]
	rows    []Pair[K, V]
	key     []int32 // of each row, its number in keys
	gone    []bool  // of each key
	sample  sampler[Pair[K, V]]
	gauge   gauge[K, struct{}]
	budget  budget
	over    *struckBuckets[K, V] // not nil: memory was refused
}

// struckBuckets are pairs and struck keys by bucket.
type struckBuckets[K comparable, V any] struct {
	spool *spool
	rows  [spillBuckets]*spilled[Pair[K, V]]
	gone  [spillBuckets]*spilled[K]
}

func newSubtraction[K comparable, V any](t *task, at *place, h *keyed.Hasher[K], columns *lazyCodec[Pair[K, V]], only *lazyCodec[K]) *subtraction[K, V] {
	return &subtraction[K, V]{t: t, at: at, hasher: h, columns: columns, only: only, keys: newKeyIndex(h),
		sample: newSampler[Pair[K, V]](), gauge: newGauge[K, struct{}](), budget: newBudget(t)}
}

// close gives back memory and removes the file.
func (s *subtraction[K, V]) close() {
	s.budget.release()
	if s.over != nil {
		s.over.spool.close()
	}
}

// take takes pairs.
func (s *subtraction[K, V]) take(chunk []Pair[K, V]) error {
	if s.hasher.Dynamic() {
		for i := range chunk {
			if err := s.hasher.Check(chunk[i].Key); err != nil {
				return s.at.failed(i, err)
			}
		}
	}
	if s.over != nil {
		err := s.spread(s.over, 0, chunk, nil)
		s.at.seen += int64(len(chunk))
		return err
	}
	for i := range chunk {
		n, _ := s.keys.Upsert(chunk[i].Key)
		s.key = append(s.key, int32(n))
	}
	s.rows = append(s.rows, chunk...)
	s.sample.see(chunk)
	bytes := s.keys.Memory(chunkSize) + s.gauge.memory(s.keys, len(chunk)) + int64(s.keys.Len()) +
		s.sample.memory(len(s.rows), cap(s.rows)) + 4*int64(cap(s.key))
	if !s.budget.fits(bytes) {
		held := s.rows
		s.rows, s.key, s.keys = nil, nil, nil
		s.over = &struckBuckets[K, V]{spool: newSpool(s.t, s.at)}
		s.at.seen += int64(len(chunk) - len(held)) // to the first that is held, for a moment
		if err := s.spread(s.over, 0, held, nil); err != nil {
			return err
		}
		s.at.seen += int64(len(held))
		s.budget.release()
		return nil
	}
	s.at.seen += int64(len(chunk))
	return nil
}

// strike takes keys of the other input.
func (s *subtraction[K, V]) strike(keys []K) error {
	if s.over != nil {
		return s.spreadKeys(s.over, 0, keys)
	}
	if s.gone == nil {
		s.gone = make([]bool, s.keys.Len())
	}
	for _, k := range keys {
		if n, ok := s.keys.Find(k); ok {
			s.gone[n] = true
		}
	}
	return nil
}

// spread writes pairs to their buckets, with these numbers or those from at.seen on.
func (s *subtraction[K, V]) spread(over *struckBuckets[K, V], level int, rows []Pair[K, V], numbers []int64) error {
	for i := range rows {
		number := s.at.seen + int64(i)
		if numbers != nil {
			number = numbers[i]
		}
		b := &over.rows[spillBucket(s.hasher.Hash(rows[i].Key), level)]
		if *b == nil {
			*b = newSpilled(over.spool, s.columns)
		}
		if err := (*b).add(&rows[i], number); err != nil {
			return err
		}
	}
	return nil
}

func (s *subtraction[K, V]) spreadKeys(over *struckBuckets[K, V], level int, keys []K) error {
	for i := range keys {
		b := &over.gone[spillBucket(s.hasher.Hash(keys[i]), level)]
		if *b == nil {
			*b = newSpilled(over.spool, s.only)
		}
		if err := (*b).add(&keys[i], 0); err != nil {
			return err
		}
	}
	return nil
}

// push pushes the pairs that are left.
func (s *subtraction[K, V]) push(out sink[Pair[K, V]]) error {
	if s.over != nil {
		return s.left(s.over, 0, func(rows []Pair[K, V], _ []int64) error {
			for i := range rows {
				rows[i].Key = s.hasher.Canonical(rows[i].Key)
			}
			return out(rows)
		})
	}
	n := 0
	for i, k := range s.key {
		if s.gone == nil || !s.gone[k] {
			s.rows[n] = Pair[K, V]{Key: s.hasher.Canonical(s.rows[i].Key), Value: s.rows[i].Value}
			n++
		}
	}
	return pushOwn(s.t, s.rows[:n], out)
}

// left passes on the pairs of all buckets that are left, in the order of their numbers.
func (s *subtraction[K, V]) left(over *struckBuckets[K, V], level int, out func(rows []Pair[K, V], numbers []int64) error) error {
	defer over.spool.close()
	results := newSpool(s.t, s.at)
	defer results.close()
	var from []*spilled[Pair[K, V]]
	for b := range spillBuckets {
		to := newSpilled(results, s.columns)
		if err := s.bucket(over.rows[b], over.gone[b], level, to.addAll); err != nil {
			return err
		}
		over.rows[b], over.gone[b] = nil, nil
		if err := to.flush(); err != nil {
			return err
		}
		from = append(from, to)
	}
	over.spool.close()
	return mergeSpilled(s.t, from, out)
}

// bucket passes on the pairs of a bucket that are left.
func (s *subtraction[K, V]) bucket(rows *spilled[Pair[K, V]], gone *spilled[K], level int, out func(rows []Pair[K, V], numbers []int64) error) error {
	if err := rows.flush(); err != nil {
		return err
	}
	struck := newKeyIndex(s.hasher)
	gauge, budget := newGauge[K, struct{}](), newBudget(s.t)
	defer budget.release()
	fits := true
	err := gone.drain(func(keys []K, _ []int64) error {
		if !fits {
			return nil // the rest is read again below
		}
		for _, k := range keys {
			struck.Upsert(k)
		}
		fits = level >= spillLevels || budget.fits(struck.Memory(chunkSize)+gauge.memory(struck, len(keys))) || struck.Len() <= 1
		return nil
	})
	if err != nil {
		return err
	}
	if !fits {
		struck = nil
		budget.release()
		over := &struckBuckets[K, V]{spool: newSpool(s.t, s.at)}
		defer over.spool.close()
		if err := gone.each(func(keys []K, _ []int64) error { return s.spreadKeys(over, level+1, keys) }); err != nil {
			return err
		}
		if err := rows.each(func(rows []Pair[K, V], numbers []int64) error { return s.spread(over, level+1, rows, numbers) }); err != nil {
			return err
		}
		return s.left(over, level+1, out)
	}
	return rows.each(func(rows []Pair[K, V], numbers []int64) error {
		n := 0
		for i := range rows {
			if _, ok := struck.Find(rows[i].Key); !ok {
				rows[n], numbers[n] = rows[i], numbers[i]
				n++
			}
		}
		return out(rows[:n], numbers[:n])
	})
}
