package rdd

import "github.com/leat-io/leat/rdd/keyed"

// A distinction passes each record on the first time it comes.
//
// When memory is refused the table of the records seen freezes: others go, with their numbers, to one of sixteen
// buckets by hash. At the end each bucket is made distinct, one level deeper, and the results are merged by
// the numbers: each record comes where it came first.
type distinction[T comparable] struct {
	t       *task
	at      *place
	hasher  *keyed.Hasher[T]
	columns *lazyCodec[T]
	level   int
	seen    *keyIndex[T]
	gauge   gauge[T, struct{}]
	budget  budget
	emit    func(rows []T, numbers []int64) error
	fresh   []int64 // scratch
	spool   *spool  // not nil: the table is frozen
	buckets [spillBuckets]*spilled[T]
}

func newDistinction[T comparable](t *task, at *place, h *keyed.Hasher[T], columns *lazyCodec[T], emit func(rows []T, numbers []int64) error) *distinction[T] {
	return &distinction[T]{t: t, at: at, hasher: h, columns: columns, seen: newKeyIndex(h),
		gauge: newGauge[T, struct{}](), budget: newBudget(t), emit: emit}
}

// close gives back memory and removes the file.
func (d *distinction[T]) close() {
	d.budget.release()
	d.spool.close()
}

// take takes records that have these numbers, or, where numbers is nil, those from at.seen on.
func (d *distinction[T]) take(chunk []T, numbers []int64) error {
	n := 0
	d.fresh = d.fresh[:0]
	for i, x := range chunk {
		if d.hasher.Dynamic() {
			if err := d.hasher.Check(x); err != nil {
				return d.at.failed(i, err)
			}
		}
		number := d.at.seen + int64(i)
		if numbers != nil {
			number = numbers[i]
		}
		if d.spool == nil {
			if _, fresh := d.seen.Upsert(x); fresh {
				chunk[n] = x
				n++
				d.fresh = append(d.fresh, number)
			}
			continue
		}
		hash := d.hasher.Hash(x)
		if _, ok := d.seen.FindHash(x, hash); ok {
			continue
		}
		b := &d.buckets[spillBucket(hash, d.level)]
		if *b == nil {
			*b = newSpilled(d.spool, d.columns)
		}
		if err := (*b).add(&x, number); err != nil {
			return err
		}
	}
	if numbers == nil {
		d.at.seen += int64(len(chunk))
	}
	if d.spool == nil && d.level < spillLevels {
		if bytes := d.seen.Memory(chunkSize) + d.gauge.memory(d.seen, len(chunk)); !d.budget.fits(bytes) {
			d.spool = newSpool(d.t, d.at)
		}
	}
	if n == 0 {
		return nil
	}
	return d.emit(chunk[:n], d.fresh)
}

// finish passes on what was not seen before the table froze.
func (d *distinction[T]) finish() error {
	defer d.close()
	d.seen = nil
	d.budget.release()
	if d.spool == nil {
		return nil
	}
	results := newSpool(d.t, d.at)
	defer results.close()
	var from []*spilled[T]
	for b, rows := range d.buckets {
		if rows.empty() {
			continue
		}
		to := newSpilled(results, d.columns)
		sub := newDistinction(d.t, d.at, d.hasher, d.columns, to.addAll)
		sub.level = d.level + 1
		err := rows.drain(sub.take)
		if err == nil {
			err = sub.finish()
		}
		sub.close()
		if err == nil {
			err = to.flush()
		}
		if err != nil {
			return err
		}
		d.buckets[b] = nil
		from = append(from, to)
	}
	d.spool.close()
	return mergeSpilled(d.t, from, d.emit)
}
