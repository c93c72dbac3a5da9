package rdd

import "context"

// A merger finds the source whose next row comes first, among sources known by their index alone: a
// heap, compiled once for all types of rows.
type merger struct {
	heap []int
	less func(a, b int) bool // of two sources that have a row
}

// newMerger starts with the sources that have a row.
func newMerger(sources []int, less func(a, b int) bool) *merger {
	m := &merger{heap: sources, less: less}
	for i := len(sources)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	return m
}

// first is the source of the next row, false when there is none.
func (m *merger) first() (int, bool) {
	if len(m.heap) == 0 {
		return 0, false
	}
	return m.heap[0], true
}

// moved is told that the first source is at another row, or has none left.
func (m *merger) moved(more bool) {
	if !more {
		last := len(m.heap) - 1
		m.heap[0] = m.heap[last]
		m.heap = m.heap[:last]
	}
	m.down(0)
}

func (m *merger) down(i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(m.heap); c++ {
			if m.less(m.heap[c], m.heap[least]) {
				least = c
			}
		}
		if least == i {
			return
		}
		m.heap[i], m.heap[least] = m.heap[least], m.heap[i]
		i = least
	}
}

// mergeSpilled passes the rows of flushed sequences on in the order of their numbers, which are all different, at
// most chunkSize at a time.
func mergeSpilled[T any](t *task, from []*spilled[T], out func(rows []T, numbers []int64) error) error {
	readers := make([]*spillReader[T], len(from))
	var live []int
	for i, s := range from {
		readers[i] = s.reader()
		ok, err := readers[i].more()
		if err != nil {
			return err
		}
		if ok {
			live = append(live, i)
		}
	}
	m := newMerger(live, func(a, b int) bool { return readers[a].number() < readers[b].number() })
	rows, numbers := make([]T, 0, chunkSize), make([]int64, 0, chunkSize)
	for {
		i, ok := m.first()
		if ok {
			r := readers[i]
			rows, numbers = append(rows, r.rows[r.at]), append(numbers, r.number())
			r.at++
			more, err := r.more()
			if err != nil {
				return err
			}
			m.moved(more)
		}
		if len(rows) > 0 && (!ok || len(rows) == chunkSize) {
			if err := context.Cause(t.ctx); err != nil {
				return err
			}
			if err := out(rows, numbers); err != nil {
				return err
			}
			rows, numbers = rows[:0], numbers[:0]
		}
		if !ok {
			return nil
		}
	}
}

const (
	// spillBuckets is over how many buckets the rows that do not fit are dealt by their keys.
	spillBuckets = 16
	// spillLevels is how often a bucket that does not fit either is dealt again. What still does not
	// then has keys whose hashes agree, or one key with nearly all of the rows.
	spillLevels = 6
)

// spillBucket is the bucket of a key by four bits of its hash, others at each level. The hash is mixed first: it
// has been used before to deal keys over partitions, and is the key itself for integers.
func spillBucket(hash uint64, level int) int {
	x := (hash ^ hash>>32) * 0xd6e8feb86659fd93
	x = (x ^ x>>32) * 0x9e3779b97f4a7c15
	return int(x>>(60-4*level)) & (spillBuckets - 1)
}
