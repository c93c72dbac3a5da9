package rdd

import (
	"context"
	"unsafe"
)

// sortRuns sorts the rows of a partition. When memory is refused, what is held is sorted and written as a run; at
// the end the runs are merged. Of rows with equal keys those of the earlier run come first, which are
// the earlier rows: the order is the same as without files.
type sortRuns[T, K any] struct {
	t       *task
	at      *place
	columns *lazyCodec[T]
	key     func(T) K
	compare func(a, b K) int
	desc    bool
	natural bool // compare is Compare: keys may be sorted by their bits
	rows    []T
	sample  sampler[T]
	budget  budget
	spool   *spool
	runs    []*spilled[T]
}

// mergeRuns is how many runs are merged at once; each has a frame in memory.
const mergeRuns = 64

func newSortRuns[T, K any](t *task, at *place, columns *lazyCodec[T], key func(T) K, compare func(a, b K) int, desc bool) *sortRuns[T, K] {
	return &sortRuns[T, K]{t: t, at: at, columns: columns, key: key, compare: compare, desc: desc, sample: newSampler[T](), budget: newBudget(t)}
}

// close gives back memory and removes the file.
func (s *sortRuns[T, K]) close() {
	s.budget.release()
	s.spool.close()
}

// take takes rows.
func (s *sortRuns[T, K]) take(chunk []T) error {
	s.rows = append(doubled(s.rows, len(chunk)), chunk...)
	s.sample.see(chunk)
	var k sortKey[K]
	keys := int64(len(s.rows)) * int64(unsafe.Sizeof(k))
	if s.natural {
		var row T
		keys = int64(len(s.rows)) * int64(2*unsafe.Sizeof(ranked{})+8+unsafe.Sizeof(row))
	}
	if s.budget.fits(s.sample.memory(len(s.rows), cap(s.rows)) + keys) {
		return nil
	}
	return s.write()
}

// write writes what is held as a run.
func (s *sortRuns[T, K]) write() error {
	if s.spool == nil {
		s.spool = newSpool(s.t, s.at)
	}
	run := newSpilled(s.spool, s.columns)
	err := s.sorted(func(rows []T) error {
		for i := range rows {
			if err := run.add(&rows[i], 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := run.flush(); err != nil {
		return err
	}
	s.runs = append(s.runs, run)
	s.at.seen += int64(len(s.rows))
	s.rows = nil
	s.sample = sampler[T]{deep: s.sample.deep}
	s.budget.release()
	return nil
}

// sorted pushes what is held in order.
func (s *sortRuns[T, K]) sorted(out sink[T]) error {
	if s.natural {
		if rows, ok, err := sortNatural(s.at, s.rows, s.key, s.desc); ok {
			if err != nil {
				return err
			}
			return pushOwn(s.t, rows, out)
		}
	}
	keys, err := sortedKeys(s.at, s.rows, s.key, s.compare, s.desc)
	if err != nil {
		return err
	}
	return pushSorted(s.t, s.rows, keys, out)
}

// push pushes all rows in order.
func (s *sortRuns[T, K]) push(out sink[T]) error {
	if len(s.runs) == 0 {
		return s.sorted(out)
	}
	if len(s.rows) > 0 {
		if err := s.write(); err != nil {
			return err
		}
	}
	// Neighbours are merged with neighbours, so that the order of the runs stays that of their rows.
	for len(s.runs) > mergeRuns {
		if err := s.pass(); err != nil {
			return err
		}
	}
	return s.merge(s.runs, out)
}

// pass merges every mergeRuns runs into one.
func (s *sortRuns[T, K]) pass() error {
	next := newSpool(s.t, s.at)
	var merged []*spilled[T]
	for from := 0; from < len(s.runs); from += mergeRuns {
		run := newSpilled(next, s.columns)
		err := s.merge(s.runs[from:min(from+mergeRuns, len(s.runs))], func(rows []T) error {
			for i := range rows {
				if err := run.add(&rows[i], 0); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			err = run.flush()
		}
		if err != nil {
			next.close()
			return err
		}
		merged = append(merged, run)
	}
	s.spool.close()
	s.spool, s.runs = next, merged
	return nil
}

// merge pushes the rows of several runs in order.
func (s *sortRuns[T, K]) merge(runs []*spilled[T], out sink[T]) error {
	m := &runMerge[T, K]{sortRuns: s, readers: make([]*spillReader[T], len(runs)), keys: make([]K, len(runs))}
	for i, r := range runs {
		m.readers[i] = r.reader()
	}
	buf := make([]T, 0, chunkSize)
	for {
		if err := context.Cause(s.t.ctx); err != nil {
			return err
		}
		var err error
		if buf, err = m.fill(buf[:0]); err != nil || len(buf) == 0 {
			return err
		}
		if err := out(buf); err != nil {
			return err
		}
	}
}

// runMerge is a merge of runs under way: the key of each run's next row is at hand.
type runMerge[T, K any] struct {
	*sortRuns[T, K]
	readers []*spillReader[T]
	keys    []K
	merger  *merger
}

// fill appends the next rows, a chunk of them at most. Keys and their order are functions of the program: their
// panics are caught here.
func (m *runMerge[T, K]) fill(buf []T) (rows []T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = m.at.panicked(-1, v)
		}
	}()
	if m.merger == nil {
		var live []int
		for i := range m.readers {
			ok, err := m.load(i)
			if err != nil {
				return nil, err
			}
			if ok {
				live = append(live, i)
			}
		}
		m.merger = newMerger(live, m.less)
	}
	for len(buf) < chunkSize {
		i, ok := m.merger.first()
		if !ok {
			break
		}
		r := m.readers[i]
		buf = append(buf, r.rows[r.at])
		r.at++
		more, err := m.load(i)
		if err != nil {
			return nil, err
		}
		m.merger.moved(more)
	}
	return buf, nil
}

// load gets the key of the next row of a run, false at its end.
func (m *runMerge[T, K]) load(i int) (bool, error) {
	r := m.readers[i]
	ok, err := r.more()
	if ok {
		m.keys[i] = m.key(r.rows[r.at])
	}
	return ok, err
}

func (m *runMerge[T, K]) less(a, b int) bool {
	x, y := m.keys[a], m.keys[b]
	if m.desc {
		x, y = y, x
	}
	if order := m.compare(x, y); order != 0 {
		return order < 0
	}
	return a < b
}
