package executor

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

// evict makes room: least recently used first, nothing that is being read or written, nothing of owner.
// All set, it evicts nothing unless it finds all of need. It returns the bytes it has found, which the
// pool still counts as stored. What the level, or a shuffle, wants on disk is written there first. lost are
// the persisted partitions that are gone.
func (s *store) evict(need int64, owner *lineage.ShuffleID, all bool, m *lineage.Metrics) (freed int64, lost []scheduler.BlockID) {
	for _, st := range s.victims(need, owner, all) {
		n, gone := s.evictOne(st)
		if n > 0 && m != nil {
			m.EvictedBlocks++
			m.EvictedBytes += n
		}
		freed += n
		if gone {
			lost = append(lost, st.block())
		}
	}
	return freed, lost
}

// victims takes out of the list of recent use what is to be evicted.
func (s *store) victims(need int64, owner *lineage.ShuffleID, all bool) []*stored {
	s.mu.Lock()
	defer s.mu.Unlock()
	var victims []*stored
	found := int64(0)
	for st := s.recent.oldest; st != nil && found < need; st = st.newer {
		if st.size > 0 && st.pins.Load() == 0 && (owner == nil || st.owner != *owner) {
			victims = append(victims, st)
			found += st.size
		}
	}
	if found < need && all {
		return nil
	}
	for _, st := range victims {
		st.busy = true
		s.recent.remove(st)
	}
	return victims
}

// evictOne takes a victim out of memory and returns what that frees, and whether nothing is left of it. An
// output that cannot be written stays.
func (s *store) evictOne(st *stored) (freed int64, gone bool) {
	s.mu.Lock()
	write := !st.gone && st.file == nil && (st.output() || st.level.Disk)
	held := st.held // of a busy one nobody else changes it
	s.mu.Unlock()
	var f *file
	var err error
	if write {
		f, err = s.write(st, held)
	}
	s.mu.Lock()
	st.busy = false
	switch {
	case err != nil && st.output() && !st.gone:
		s.use(st)
		s.mu.Unlock()
		return 0, false
	case f != nil && !st.gone:
		st.file, f = f, nil
	}
	freed = st.size
	if st.file == nil && !st.gone {
		// In the same step, so that nobody finds it with nothing in it.
		gone = s.unlink(st)
		st.gone = true
	}
	st.size, st.held = 0, nil
	s.mu.Unlock()
	f.unref() // it was dropped meanwhile
	return freed, gone
}

// write puts what is in memory on disk. The codec may call the program's methods, for a task that has nothing to
// do with them: their panics end here, and one that ends its goroutine ends none but that of the writing.
func (s *store) write(st *stored, held [][]Held) (f *file, err error) {
	err = errGoexit
	var wg sync.WaitGroup
	wg.Go(func() { f, err = s.encode(st, held) })
	wg.Wait()
	return f, err
}

var errGoexit = errors.New("the encoder ended its goroutine")

func (s *store) encode(st *stored, held [][]Held) (f *file, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &scheduler.PanicError{Value: fmt.Sprint(v), Stack: string(debug.Stack())}
		}
	}()
	if st.output() {
		f, _, err = s.disk.writeOutput(st, held)
		return f, err
	}
	return s.disk.writePartition(st, held[0])
}
