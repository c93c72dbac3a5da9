package rdd

import (
	"context"

	"github.com/leat-io/leat/rdd/keyed"
)

// foldingOf is how rows are folded by key, the same for the levels of one folding: rows of a partition into
// combiners, or combiners into combiners.
type foldingOf[I any, K comparable, C any] struct {
	t      *task
	at     *place
	hasher *keyed.Hasher[K]
	key    func(*I) K
	add    func(table *keyed.Table[K, C], rows []I) // adds keys in row order and calls the program's functions
	rows   *lazyCodec[I]
	pairs  *lazyCodec[Pair[K, C]]
	size   *TableSize // nil: not known
}

// A folding is a table that rows are folded into, and what happens to rows for which there is no memory.
//
// When memory is refused the table freezes: rows of the keys that it has are folded into it as
// before, rows of other keys go, unchanged and with their numbers, to one of sixteen sequences by the hash
// of the key. So a key's functions are called for its rows in their order, from the first to the last, as
// without files, and the keys that come most often, which tend to come early, need no file. At the end the table's
// keys, all first seen before any other, are emitted; then each bucket is folded in the same way, one
// level deeper, and the results are merged by the numbers of their keys' first rows.
//
//	rows --+--> table (frozen) ------------------------------> emitted first
//	       +--> bucket 0 --> folded, perhaps over buckets --+
//	       +--> ...                                         +--> merged by first row
//	       +--> bucket 15 --> folded -----------------------+
//
// Combiners that grow may not fit even in a frozen table. Its entries are then written to the buckets too, and every
// row after them; the folding of a bucket begins with those entries, as if it had never stopped.
type folding[I any, K comparable, C any] struct {
	*foldingOf[I, K, C]
	level    int
	sized    bool               // room was made as size says
	table    *keyed.Table[K, C] // nil once it has been written to the buckets
	firsts   []int64            // of each entry the number of its key's first row; not at level 0
	budget   budget
	gauge    gauge[K, C]
	over     *overflow[I, K, C] // nil until memory is refused
	counting bool               // keys is asked for
	counted  *keyIndex[K]       // while counting: the keys that are not in the table
	inside   []I                // scratch: rows of a chunk whose keys the table has
	numbers  []int64            // scratch: theirs
}

// overflow is what did not fit: the rows and entries of each bucket, in one file. Entries come before rows: their
// keys' first rows do.
type overflow[I any, K comparable, C any] struct {
	spool  *spool
	dumped [spillBuckets]*spilled[Pair[K, C]] // entries of the table
	passed [spillBuckets]*spilled[Pair[K, C]] // entries that came from the level above and did not fit; after the table's
	rows   [spillBuckets]*spilled[I]
}

func newFolding[I any, K comparable, C any](of *foldingOf[I, K, C], level int) *folding[I, K, C] {
	return &folding[I, K, C]{foldingOf: of, level: level, table: keyed.New[K, C](of.hasher, 0),
		budget: newBudget(of.t), gauge: newGauge[K, C]()}
}

// close gives back memory and removes the file.
func (f *folding[I, K, C]) close() {
	f.budget.release()
	if f.over != nil {
		f.over.spool.close()
	}
}

// take folds rows that have these numbers, or, where numbers is nil, those from at.seen on.
func (f *folding[I, K, C]) take(rows []I, numbers []int64) error {
	if f.over != nil {
		return f.divide(rows, numbers)
	}
	before := f.table.Len()
	if f.level == 0 && !f.sized {
		f.makeRoom()
	}
	if err := f.fold(rows, numbers); err != nil {
		return err
	}
	if f.level > 0 {
		f.note(before, rows, numbers)
	}
	if numbers == nil {
		f.at.seen += int64(len(rows))
	}
	return f.check(len(rows))
}

// note keeps the numbers of the rows that added the entries from next on.
func (f *folding[I, K, C]) note(next int, rows []I, numbers []int64) {
	for i := range rows {
		if next == f.table.Len() {
			return
		}
		if j, _ := f.table.Find(f.key(&rows[i])); j == next {
			f.firsts = append(f.firsts, numbers[i])
			next++
		}
	}
}

func (f *folding[I, K, C]) fold(rows []I, numbers []int64) (err error) {
	defer func() {
		if v := recover(); v != nil {
			at, i := *f.at, f.table.Row()
			if i < len(numbers) {
				at.seen, i = numbers[i], 0
			}
			err = at.panicked(i, v)
		}
	}()
	f.add(f.table, rows)
	return nil
}

// check asks for the memory that the table needs after so many rows, and freezes it when there is none.
func (f *folding[I, K, C]) check(rows int) error {
	if f.level >= spillLevels {
		return nil
	}
	bytes := f.table.Memory(chunkSize) + f.gauge.memory(f.table, rows) + 8*int64(cap(f.firsts))
	switch {
	case f.budget.fits(bytes):
		return nil
	case f.table.Len() <= 1: // cannot be divided
		f.budget.insist(2 * bytes)
		return nil
	case f.over == nil:
		f.over = &overflow[I, K, C]{spool: newSpool(f.t, f.at)}
		f.budget.insist(bytes + bytes/4) // combiners that grow more are written
		if f.counting {
			f.counted = newKeyIndex(f.hasher)
		}
		return nil
	}
	return f.dump()
}

// divide folds the rows whose keys the frozen table has and writes the others to their buckets.
func (f *folding[I, K, C]) divide(rows []I, numbers []int64) error {
	f.inside, f.numbers = f.inside[:0], f.numbers[:0]
	for i := range rows {
		number := f.at.seen + int64(i)
		if numbers != nil {
			number = numbers[i]
		}
		k := f.key(&rows[i])
		hash := f.hasher.Hash(k)
		if f.table != nil {
			if _, ok := f.table.FindHash(k, hash); ok {
				f.inside, f.numbers = append(f.inside, rows[i]), append(f.numbers, number)
				continue
			}
		}
		if f.counted != nil {
			f.counted.Upsert(k)
		}
		b := &f.over.rows[spillBucket(hash, f.level)]
		if *b == nil {
			*b = newSpilled(f.over.spool, f.rows)
		}
		if err := (*b).add(&rows[i], number); err != nil {
			return err
		}
	}
	if numbers == nil {
		f.at.seen += int64(len(rows))
	}
	if len(f.inside) == 0 {
		return nil
	}
	if err := f.fold(f.inside, f.numbers); err != nil {
		return err
	}
	return f.check(len(f.inside))
}

// dump writes the entries of the frozen table to their buckets.
func (f *folding[I, K, C]) dump() error {
	var buf []Pair[K, C]
	for from := 0; from < f.table.Len(); from += chunkSize {
		buf = f.table.Pairs(buf[:0], from, min(from+chunkSize, f.table.Len()))
		for i := range buf {
			if f.counted != nil {
				f.counted.Upsert(buf[i].Key)
			}
			// At level 0 the number of an entry does for that of its first row, which is no smaller: it is in
			// the same order, and smaller than that of any row in a bucket.
			number := int64(from + i)
			if f.level > 0 {
				number = f.firsts[from+i]
			}
			if err := f.put(&f.over.dumped, &buf[i], f.table.HashAt(from+i), number); err != nil {
				return err
			}
		}
	}
	f.table, f.firsts = nil, nil
	f.budget.release()
	return nil
}

func (f *folding[I, K, C]) put(to *[spillBuckets]*spilled[Pair[K, C]], p *Pair[K, C], hash uint64, number int64) error {
	b := &to[spillBucket(hash, f.level)]
	if *b == nil {
		*b = newSpilled(f.over.spool, f.pairs)
	}
	return (*b).add(p, number)
}

// resume takes entries that a table of the level above had. Each key comes once, before its rows.
func (f *folding[I, K, C]) resume(entries []Pair[K, C], numbers []int64) error {
	if f.over == nil {
		keyed.Reduce(f.table, entries, func(a, _ C) C { return a }, nil)
		f.firsts = append(f.firsts, numbers...)
		return f.check(len(entries))
	}
	for i := range entries {
		if err := f.put(&f.over.passed, &entries[i], f.hasher.Hash(entries[i].Key), numbers[i]); err != nil {
			return err
		}
	}
	return nil
}

// keys returns how many different keys there were, and ends the counting.
func (f *folding[I, K, C]) keys() int {
	n := 0
	if f.table != nil {
		n = f.table.Len()
	}
	if f.counted != nil {
		n += f.counted.Len()
	}
	f.counting, f.counted = false, nil
	return n
}

// finish emits the result: the table, unless it was written to the buckets, then what was folded from files, in the
// order of the keys' first rows. Pairs are the callee's until it returns.
func (f *folding[I, K, C]) finish(whole func(table *keyed.Table[K, C]) error, more func(pairs []Pair[K, C], numbers []int64) error) error {
	defer f.close()
	if f.table != nil {
		if f.level == 0 && f.over == nil {
			f.size.note(f.table.Len())
		}
		if err := whole(f.table); err != nil {
			return err
		}
	}
	f.table = nil
	f.budget.release()
	if f.over == nil {
		return nil
	}
	f.inside, f.numbers = nil, nil
	results := newSpool(f.t, f.at)
	defer results.close()
	var from []*spilled[Pair[K, C]]
	for b := range spillBuckets {
		folded, err := f.refold(b, results)
		if err != nil {
			return err
		}
		if !folded.empty() {
			from = append(from, folded)
		}
	}
	f.over.spool.close()
	return mergeSpilled(f.t, from, more)
}

// refold folds a bucket one level deeper and returns its pairs.
func (f *folding[I, K, C]) refold(b int, results *spool) (*spilled[Pair[K, C]], error) {
	dumped, passed, rows := f.over.dumped[b], f.over.passed[b], f.over.rows[b]
	if dumped.empty() && passed.empty() && rows.empty() {
		return nil, nil
	}
	sub := newFolding(f.foldingOf, f.level+1)
	defer sub.close()
	if err := dumped.drain(sub.resume); err != nil {
		return nil, err
	}
	if err := passed.drain(sub.resume); err != nil {
		return nil, err
	}
	if err := rows.drain(sub.take); err != nil {
		return nil, err
	}
	f.over.dumped[b], f.over.passed[b], f.over.rows[b] = nil, nil, nil
	to := newSpilled(results, f.pairs)
	var buf []Pair[K, C]
	err := sub.finish(func(table *keyed.Table[K, C]) error {
		for from := 0; from < table.Len(); from += chunkSize {
			if err := context.Cause(f.t.ctx); err != nil {
				return err
			}
			buf = table.Pairs(buf[:0], from, min(from+chunkSize, table.Len()))
			if err := to.addAll(buf, sub.firsts[from:]); err != nil {
				return err
			}
		}
		return nil
	}, to.addAll)
	if err == nil {
		err = to.flush()
	}
	return to, err
}
