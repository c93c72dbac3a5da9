package executor

import (
	"sync"
	"sync/atomic"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/scheduler"
)

// A store holds the blocks of one executor, by the scope of their nodes, so that forgetting a batch
// costs what the batch left behind. mu guards all of it and is held for look-ups only; the locks of the
// pool and the disk may be taken under it.
type store struct {
	pool *pool
	disk *disk

	mu     sync.Mutex
	closed bool
	scopes map[lineage.Scope]*blocks
	recent recency // what lies in memory
}

// A blocks is what is held of one scope.
type blocks struct {
	shuffles  map[lineage.ShuffleID]*outputs
	persisted map[scheduler.BlockID]*entry
}

// An outputs is the outputs of one shuffle, by map partition. A reader of many buckets looks it up once.
type outputs struct{ maps map[int]*stored }

// An entry is a persisted partition, or the lock of the task that is making it.
type entry struct {
	ready chan struct{} // closed when the maker is done, with or without success
	kept  *stored       // set with success, under mu
}

// A stored is the output of a map task or a persisted partition, whole: what is evicted, or damaged, at
// once. It is in memory, or on disk, or both. The store's mu guards what follows pins.
type stored struct {
	owner lineage.ShuffleID // for a persisted partition its node, and -1
	part  int
	task  int64 // that wrote an output
	level lineage.StorageLevel
	codec lineage.Codec
	pins  atomic.Int32 // readers

	held [][]Held // blocks by segment; nil if not in memory
	size int64    // of held, as the pool counts it
	file *file    // nil if not on disk
	gone bool     // the store has forgotten it
	busy bool     // it is being evicted

	newer, older *stored // in the list of recent use, if it is in memory and not busy
}

// ofNode is the owner of a node's persisted partitions.
func ofNode(id lineage.NodeID) lineage.ShuffleID { return lineage.ShuffleID{Node: id, Dep: -1} }

func (st *stored) output() bool { return st.owner.Dep >= 0 }
func (st *stored) block() scheduler.BlockID {
	return scheduler.BlockID{Node: st.owner.Node, Part: st.part}
}

func newStore(pool *pool, disk *disk) *store {
	s := &store{pool: pool, disk: disk, scopes: map[lineage.Scope]*blocks{}}
	return s
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
		b = &blocks{shuffles: map[lineage.ShuffleID]*outputs{}, persisted: map[scheduler.BlockID]*entry{}}
		s.scopes[scope] = b
	}
	return b
}

// use notes that something in memory was used. mu is held.
func (s *store) use(st *stored) {
	if st.held != nil && !st.busy && !st.gone {
		s.recent.use(st)
	}
}

// discard ends a stored that the caller has taken out of the tables: its memory is given back, and the
// returned file, which may be nil, is to be unreferenced once mu, which is held, is not.
func (s *store) discard(st *stored) *file {
	if st == nil || st.gone {
		return nil
	}
	st.gone = true
	f := st.file
	st.file = nil
	if !st.busy { // else whoever evicts it gives its memory to another
		s.recent.remove(st)
		s.pool.forget(st.size)
		st.held, st.size = nil, 0
	}
	return f
}

// drop takes something out of the store, because it is damaged or was never in it, and reports whether
// it was there.
func (s *store) drop(st *stored) bool {
	s.mu.Lock()
	there := s.unlink(st)
	file := s.discard(st)
	s.mu.Unlock()
	file.unref()
	return there
}

// unlink takes something out of the tables. mu is held.
func (s *store) unlink(st *stored) bool {
	in := s.of(st.owner.Node.Scope)
	if st.output() {
		o := in.shuffles[st.owner]
		if o == nil || o.maps[st.part] != st {
			return false
		}
		delete(o.maps, st.part)
		return true
	}
	if en := in.persisted[st.block()]; en == nil || en.kept != st {
		return false
	}
	delete(in.persisted, st.block())
	return true
}

// claim returns the partition id, if it is kept, or its entry and whether the caller is to make it.
func (s *store) claim(id scheduler.BlockID) (v view, en *entry, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.open(id.Node.Scope)
	if en := in.persisted[id]; en != nil {
		if en.kept != nil {
			return s.pin(en.kept), nil, false
		}
		return view{}, en, false
	}
	en = &entry{ready: make(chan struct{})}
	in.persisted[id] = en
	return view{}, en, true
}

// settle ends a claim: with something to keep, which is pinned, or without, so that the next one who
// asks makes it. What is not kept, because it was dropped meanwhile, the caller drops after reading it.
func (s *store) settle(id scheduler.BlockID, en *entry, st *stored) (v view, kept bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.of(id.Node.Scope)
	claimed := in.persisted[id] == en
	if st != nil {
		v = s.pin(st)
		if kept = claimed && !s.closed; kept {
			en.kept = st
			s.use(st)
		}
	}
	if claimed && !kept {
		delete(in.persisted, id)
	}
	close(en.ready)
	return v, kept
}

// look returns the partition id if it is kept. One that is being computed is not there yet.
func (s *store) look(id scheduler.BlockID) (view, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if en := s.of(id.Node.Scope).persisted[id]; en != nil && en.kept != nil {
		return s.pin(en.kept), true
	}
	return view{}, false
}

func (s *store) holds(id scheduler.BlockID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	en := s.of(id.Node.Scope).persisted[id]
	return en != nil && en.kept != nil
}

// promote puts into memory what was read from disk. The caller has found room for it; it is given back if
// it is not needed.
func (s *store) promote(st *stored, held []Held, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.gone || st.busy || st.held != nil {
		s.pool.forget(size)
		return
	}
	st.held, st.size = [][]Held{held}, size
	s.use(st)
}

// forget drops what d covers.
func (s *store) forget(d lineage.Drop) {
	var files []*file
	s.mu.Lock()
	for _, scope := range d.Scopes {
		if in := s.scopes[scope]; in != nil {
			files = s.discardAll(in, files)
			delete(s.scopes, scope)
		}
	}
	for _, node := range d.Nodes {
		held := s.of(node.Scope).persisted
		for id, en := range held {
			if id.Node == node {
				files = append(files, s.discard(en.kept))
				delete(held, id)
			}
		}
	}
	for _, id := range d.Shuffles {
		if o := s.of(id.Node.Scope).shuffles[id]; o != nil {
			files = s.discardOutputs(o, files)
			delete(s.of(id.Node.Scope).shuffles, id)
		}
	}
	s.mu.Unlock()
	for _, f := range files {
		f.unref()
	}
}

func (s *store) discardOutputs(o *outputs, files []*file) []*file {
	for _, st := range o.maps {
		files = append(files, s.discard(st))
	}
	clear(o.maps) // readers may still look there
	return files
}

func (s *store) discardAll(in *blocks, files []*file) []*file {
	for _, o := range in.shuffles {
		files = s.discardOutputs(o, files)
	}
	for _, en := range in.persisted {
		files = append(files, s.discard(en.kept))
	}
	return files
}

// clear forgets everything; closed, it keeps nothing from then on.
func (s *store) clear(closed bool) {
	s.mu.Lock()
	var files []*file
	for _, in := range s.scopes {
		files = s.discardAll(in, files)
	}
	clear(s.scopes)
	s.closed = s.closed || closed
	s.mu.Unlock()
	for _, f := range files {
		f.unref()
	}
}

func (s *store) count() (mapOutputs, persisted int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, in := range s.scopes {
		for _, o := range in.shuffles {
			mapOutputs += len(o.maps)
		}
		for _, en := range in.persisted {
			if en.kept != nil {
				persisted++
			}
		}
	}
	return mapOutputs, persisted
}
