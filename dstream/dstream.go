package dstream

import (
	"errors"
	"slices"
	"time"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd"
)

// A DStream is a stream as a sequence of RDDs: one for each batch time of its slide. It is a rule
// from batch time to RDD, made once, before the context starts. A stream may have no RDD for a batch
// (it is absent then, which is not the same as an RDD without records).
type DStream[T any] struct {
	*node
	rdds map[Time]*rdd.RDD[T] // nil value: absent, known to be
	// compute makes the RDD of a valid time; nil means absent.
	compute func(t Time) (*rdd.RDD[T], error)
	// keep persists, and marks for a checkpoint where that is due, what compute made.
	keep func(t Time, r *rdd.RDD[T], level *rdd.StorageLevel, checkpoint bool) error
	// dropped, if set, is called when the batches up to and including upTo have been forgotten.
	dropped func(upTo Time)
	retired retired
}

// retired is the newest forgotten RDD with a checkpoint: what is still remembered may be computed
// from it, so its files stay until a newer one has been forgotten.
type retired struct{ last checkpointed }

// checkpointed is what retiring needs of an RDD, whatever its records: its node has it.
type checkpointed interface {
	IsCheckpointed() bool
	RemoveCheckpoint() error
	Unpersist()
}

// retire lets go of an RDD of a forgotten batch. One that is computed once more, because what was
// derived from it got lost, must not be kept by executors again: nobody would tell them to drop it. An RDD
// that was not made for the batch belongs to the program and is left alone. With keep, what executors hold stays,
// with files, what is in files.
func retire(last *retired, n lineage.Node, scope lineage.Scope, keep, files bool) {
	if r, ok := n.(checkpointed); ok && n.ID().Scope == scope {
		if !files {
			last.add(r)
		}
		if !keep {
			r.Unpersist()
		}
	}
}

// add takes over from the last one, whose files go.
func (r *retired) add(c checkpointed) {
	if !c.IsCheckpointed() {
		return
	}
	if r.last != nil {
		_ = r.last.RemoveCheckpoint() // a file that cannot be removed is in nobody's way
	}
	r.last = c
}

// newStream declares a stream with the slide of its first parent.
func newStream[T any](g *Graph, op string, err error, parents ...*node) *DStream[T] {
	return newStreamAt[T](g, op, "", err, parents...)
}

// newStreamAt is newStream for a declaration at site, which is looked for where it is empty.
func newStreamAt[T any](g *Graph, op, site string, err error, parents ...*node) *DStream[T] {
	s := &DStream[T]{node: &node{op: op, site: site, parents: parents, record: typeOf[T]()}, rdds: map[Time]*rdd.RDD[T]{}}
	s.slide = g.interval
	if len(parents) > 0 {
		s.slide = parents[0].slide
	}
	s.node.forget, s.node.present = s.forgetUpTo, s.times
	s.node.written = func() []CheckpointFile {
		return inFiles(s.graph, s.times(), func(t Time) *rdd.RDD[T] { return s.rdds[t] })
	}
	s.node.restore = func(f CheckpointFile) (err error) {
		s.rdds[f.Time], err = restored[T](s.node, s.rddsAt(f.Time), f)
		return err
	}
	s.keep = func(t Time, r *rdd.RDD[T], level *rdd.StorageLevel, due bool) error {
		if level != nil && r.Level() == (rdd.StorageLevel{}) {
			if err := r.Persist(*level); err != nil {
				return err
			}
		}
		if due {
			return checkpoint(s.node, t, r, s.rdds)
		}
		return nil
	}
	g.declare(s.node, err)
	return s
}

// rddAt returns the RDD of t, made at the first call for t: nil where the stream is absent or
// has no batch then. The graph's lock is held.
func (s *DStream[T]) rddAt(t Time) (*rdd.RDD[T], error) {
	if r, ok := s.rdds[t]; ok {
		return r, nil
	}
	if !s.valid(t) {
		return nil, nil
	}
	r, err := s.compute(t)
	if err != nil {
		return nil, s.generation(t, err)
	}
	if r != nil {
		if err := s.keep(t, r, s.level, s.due(t)); err != nil {
			return nil, s.generation(t, err)
		}
	}
	s.rdds[t] = r
	return r, nil
}

// previous returns the RDD of the batch before t. Where it is forgotten and the stream is lasting, it is the newest that is
// older: batches could not be generated for longer than the stream remembers, and what their inputs gave is forgotten as well.
func (s *DStream[T]) previous(t Time) (*rdd.RDD[T], error) {
	at := s.before(t)
	if r := s.rdds[at]; r == nil && s.lasting && at <= s.gone {
		if newest, ok := newestUpTo(s.rdds, at); ok {
			return s.rdds[newest], nil
		}
	}
	return s.rddAt(at)
}

// newestUpTo returns the latest time of an RDD that is not after t.
func newestUpTo[T any](rdds map[Time]*rdd.RDD[T], t Time) (newest Time, ok bool) {
	for at, r := range rdds {
		if r != nil && at <= t && (!ok || at > newest) {
			newest, ok = at, true
		}
	}
	return newest, ok
}

// generation wraps an error with the operator at fault, once.
func (n *node) generation(t Time, err error) error {
	var g *GenerationError
	if errors.As(err, &g) {
		return err
	}
	return &GenerationError{Batch: t, Op: n.op, Site: n.site, Err: err}
}

// forgetUpTo drops the RDDs of times up to and including t, and what executors keep of them.
func (s *DStream[T]) forgetUpTo(t Time) {
	if s.lasting {
		s.gone = max(s.gone, t)
		if newest, ok := newestUpTo(s.rdds, s.newest); ok {
			t = min(t, newest-1)
		}
	}
	var gone []Time
	var scopes []lineage.Scope
	for at, r := range s.rdds {
		if at <= t {
			gone = append(gone, at)
			if r != nil {
				scopes = append(scopes, s.scope(at))
			}
		}
	}
	if len(gone) == 0 {
		return
	}
	slices.Sort(gone)
	keep := s.graph.keep && s.level != nil
	for _, at := range gone {
		if r := s.rdds[at]; r != nil {
			retire(&s.retired, r.Node(), s.scope(at), keep, s.graph.keepFiles)
		}
		delete(s.rdds, at)
	}
	if s.dropped != nil {
		s.dropped(gone[len(gone)-1])
	}
	if !keep {
		s.graph.rdds.Forget(scopes...)
	}
}

func (s *DStream[T]) times() []Time {
	var times []Time
	for at, r := range s.rdds {
		if r != nil {
			times = append(times, at)
		}
	}
	slices.Sort(times)
	return times
}

// between returns the RDDs of the parent-side times from, from+slide, ..., to, absent ones and those
// at or before zero left out.
func (s *DStream[T]) between(from, to Time) ([]*rdd.RDD[T], error) {
	var out []*rdd.RDD[T]
	for t := from; t <= to; t += Time(s.slide) {
		r, err := s.rddAt(t)
		if err != nil {
			return nil, err
		}
		if r != nil {
			out = append(out, r)
		}
	}
	return out, nil
}

// Slide returns how far apart the stream's batches are.
func (s *DStream[T]) Slide() time.Duration { return ms(s.slide) }

// Err returns what is wrong with the stream's declaration, nil if nothing is.
func (s *DStream[T]) Err() error { return s.node.err }

// Remembered returns the batch times whose RDDs the stream holds, ascending.
func (s *DStream[T]) Remembered() []Time {
	s.graph.mu.Lock()
	defer s.graph.mu.Unlock()
	return s.times()
}

// Info returns the stream's settings. Retention, checkpoint interval and zero are final once the
// context has started.
func (s *DStream[T]) Info() Info { return s.info() }

// Graph returns the graph the stream is declared on.
func (s *DStream[T]) Graph() *Graph { return s.graph }

// Persist keeps the stream's RDDs at level while they are remembered. A window persists its parent
// instead; an inverse window what it reduces as well.
//
// Errors: ErrContextActive once the context has started.
func (s *DStream[T]) Persist(level rdd.StorageLevel) error { return s.setLevel(level) }

// Cache persists at rdd.MemoryOnlySer, if the context has not started, and returns the stream.
func (s *DStream[T]) Cache() *DStream[T] {
	_ = s.setLevel(rdd.MemoryOnlySer()) // refused only once started, where it changes nothing
	return s
}

func (n *node) setLevel(level rdd.StorageLevel) error {
	n.graph.mu.Lock()
	defer n.graph.mu.Unlock()
	if n.graph.started {
		return ErrContextActive
	}
	for n.levelOf != nil {
		n = n.levelOf
	}
	n.level = &level
	if n.levelAlso != nil {
		n.levelAlso.level = &level
	}
	return nil
}

// Checkpoint writes the stream's RDD to the checkpoint directory every interval, which cuts the
// lineage of streams that each batch derives from the batch before. It persists the stream at
// rdd.MemoryOnlySer, whatever level was set before. Of a MapWithState it is the states that are written and persisted.
//
// Errors: ErrContextActive once the context has started; ErrBadDuration. Start reports an interval
// that is not a multiple of the slide, and a directory that is not set.
func (s *DStream[T]) Checkpoint(interval time.Duration) error {
	ms, err := toMillis(interval)
	if err != nil {
		return err
	}
	n := s.node
	if n.checkpointOf != nil {
		n = n.checkpointOf
	}
	if n.levelOf == nil { // a plain window cannot be persisted itself: Start says so
		if err := n.setLevel(rdd.MemoryOnlySer()); err != nil {
			return err
		}
	}
	n.graph.mu.Lock()
	defer n.graph.mu.Unlock()
	if n.graph.started {
		return ErrContextActive
	}
	n.checkpoint = ms
	return nil
}
