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

// A store holds the blocks of one executor, by the scope of their nodes, so that forgetting a batch
// costs what the batch left behind. mu guards all of it and is held for look-ups only.
type store struct {
	mu     sync.Mutex
	scopes map[lineage.Scope]*blocks
}

// A blocks is what is held of one scope.
type blocks struct {
	shuffles  map[lineage.ShuffleID]map[int][][]Held
	persisted map[scheduler.BlockID]*entry
}

// An entry is a persisted partition, or the lock of the task that is making it.
type entry struct {
	ready chan struct{} // closed when the maker is done, with or without success
	held  []Held
	ok    bool // set before ready is closed, under mu
}

func newStore() *store {
	return &store{scopes: map[lineage.Scope]*blocks{}}
}

// of returns what is held of a scope; nothing can be put into what it returns for an unknown one.
func (s *store) of(scope lineage.Scope) *blocks {
	if b := s.scopes[scope]; b != nil {
		return b
	}
	return &blocks{}
}

// open returns what is held of a scope, to put more into.
func (s *store) open(scope lineage.Scope) *blocks {
	b := s.scopes[scope]
	if b == nil {
		b = &blocks{shuffles: map[lineage.ShuffleID]map[int][][]Held{}, persisted: map[scheduler.BlockID]*entry{}}
		s.scopes[scope] = b
	}
	return b
}

// putBuckets keeps the output of a map task, slice and all. Every attempt of it writes the same, so
// the last wins.
func (s *store) putBuckets(id lineage.ShuffleID, mapPart int, b [][]Held) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.open(id.Node.Scope)
	maps := in.shuffles[id]
	if maps == nil {
		maps = map[int][][]Held{}
		in.shuffles[id] = maps
	}
	maps[mapPart] = b
}

func (s *store) bucket(id lineage.ShuffleID, mapPart, reduce int) ([]Held, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.of(id.Node.Scope).shuffles[id][mapPart]
	if !ok || reduce < 0 || reduce >= len(b) {
		return nil, false
	}
	return b[reduce], true
}

// claim returns the entry for id and whether the caller is to make it.
func (s *store) claim(id scheduler.BlockID) (*entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.open(id.Node.Scope)
	if e := in.persisted[id]; e != nil {
		return e, false
	}
	e := &entry{ready: make(chan struct{})}
	in.persisted[id] = e
	return e, true
}

// settle ends a claim: with a block to keep, or without, so that the next one who asks makes it. A
// claim that was dropped meanwhile is given to those who wait for it and not kept.
func (s *store) settle(id scheduler.BlockID, e *entry, held []Held, ok bool) (kept bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.held, e.ok = held, ok
	in := s.of(id.Node.Scope)
	kept = in.persisted[id] == e
	if kept && !ok {
		delete(in.persisted, id)
	}
	close(e.ready)
	return kept && ok
}

func (s *store) peek(id scheduler.BlockID) ([]Held, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.of(id.Node.Scope).persisted[id]; e != nil && e.ok {
		return e.held, true
	}
	return nil, false
}

func (s *store) drop(d lineage.Drop) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, scope := range d.Scopes {
		delete(s.scopes, scope)
	}
	for _, node := range d.Nodes {
		held := s.of(node.Scope).persisted
		for id := range held {
			if id.Node == node {
				delete(held, id)
			}
		}
	}
	for _, id := range d.Shuffles {
		delete(s.of(id.Node.Scope).shuffles, id)
	}
}

func (s *store) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.scopes)
}

func (s *store) count() (mapOutputs, persisted int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, in := range s.scopes {
		for _, maps := range in.shuffles {
			mapOutputs += len(maps)
		}
		for _, e := range in.persisted {
			if e.ok {
				persisted++
			}
		}
	}
	return mapOutputs, persisted
}
