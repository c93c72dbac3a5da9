package executor

import (
	"sync"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

// Held is a block as an executor holds it: as bytes if Data is not nil, else as it is.
type Held struct {
	Block lineage.Block
	Data  []byte
}

// A store holds the blocks of one executor. mu guards all of it and is held for look-ups only.
type store struct {
	mu        sync.Mutex
	shuffles  map[lineage.ShuffleID]map[int]buckets
	persisted map[scheduler.BlockID]*entry
}

// A buckets is the output of one map task by reducer, in one of the two forms.
type buckets struct {
	blocks []lineage.Block
	data   [][]byte
}

// An entry is a persisted partition, or the lock of the task that is making it.
type entry struct {
	ready chan struct{} // closed when the maker is done, with or without success
	held  Held
	ok    bool // set before ready is closed, under mu
}

func newStore() *store {
	return &store{shuffles: map[lineage.ShuffleID]map[int]buckets{}, persisted: map[scheduler.BlockID]*entry{}}
}

// putBuckets keeps the output of a map task, slice and all. Every attempt of it writes the same, so
// the last wins.
func (s *store) putBuckets(id lineage.ShuffleID, mapPart int, b buckets) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps := s.shuffles[id]
	if maps == nil {
		maps = map[int]buckets{}
		s.shuffles[id] = maps
	}
	maps[mapPart] = b
}

func (s *store) bucket(id lineage.ShuffleID, mapPart, reduce int) (Held, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.shuffles[id][mapPart]
	switch {
	case !ok || reduce < 0:
		return Held{}, false
	case reduce < len(b.blocks):
		return Held{Block: b.blocks[reduce]}, true
	case reduce < len(b.data):
		return Held{Data: b.data[reduce]}, true
	}
	return Held{}, false
}

// claim returns the entry for id and whether the caller is to make it.
func (s *store) claim(id scheduler.BlockID) (*entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.persisted[id]; e != nil {
		return e, false
	}
	e := &entry{ready: make(chan struct{})}
	s.persisted[id] = e
	return e, true
}

// settle ends a claim: with a block to keep, or without, so that the next one who asks makes it. A
// claim that was dropped meanwhile is given to those who wait for it and not kept.
func (s *store) settle(id scheduler.BlockID, e *entry, held Held, ok bool) (kept bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.held, e.ok = held, ok
	kept = s.persisted[id] == e
	if kept && !ok {
		delete(s.persisted, id)
	}
	close(e.ready)
	return kept && ok
}

func (s *store) peek(id scheduler.BlockID) (Held, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.persisted[id]; e != nil && e.ok {
		return e.held, true
	}
	return Held{}, false
}

func (s *store) drop(d scheduler.Drop) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.persisted {
		if d.Covers(id.Node) {
			delete(s.persisted, id)
		}
	}
	if len(d.Scopes) == 0 {
		return
	}
	for id := range s.shuffles {
		if d.CoversScope(id.Node.Scope) {
			delete(s.shuffles, id)
		}
	}
}

func (s *store) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.shuffles)
	clear(s.persisted)
}

func (s *store) count() (mapOutputs, persisted int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, maps := range s.shuffles {
		mapOutputs += len(maps)
	}
	for _, e := range s.persisted {
		if e.ok {
			persisted++
		}
	}
	return mapOutputs, persisted
}
