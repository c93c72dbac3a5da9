package dstream

import (
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd"
)

// node is a stream as the graph sees it, without its type.
type node struct {
	graph   *Graph
	id      int32 // from 1, in order of declaration; the stream part of its RDDs' scopes
	op      string
	site    string
	parents []*node
	slide   millis
	err     error
	input   *InputStream // set for inputs
	output  bool         // is an output operation

	// What is compared with an earlier build of the program; see NodeInfo.
	record   reflect.Type       // of a stream's records; nil: none
	holds    []reflect.Type     // of state that records do not show
	keys     rdd.AnyPartitioner // where keys lie; nil: not told
	placed   rdd.AnyPartitioner // the same, where RDDs in files lie so
	sinkName string             // of an output to a sink
	name     string             // that the program gave; empty: none
	uid      string             // the same

	// Retention and persistence; final once the graph has started.
	remember   millis                    // RDDs of the last remember ms are kept
	extra      millis                    // what parents must keep beyond remember: the window
	level      *rdd.StorageLevel         // nil: NONE
	checkpoint millis                    // interval; 0: none
	must       bool                      // is of no use without checkpoints
	lasting    bool                      // what it holds is of all batches so far: the newest stays until there is a newer one
	auto       func(slide millis) millis // the interval where must is set and none was chosen
	levelOf    *node                     // a window persists its parent instead of itself
	levelAlso  *node                     // an inverse window persists what it reduces as well
	// checkpointOf is the stream that is checkpointed in place of this one.
	checkpointOf *node

	newest Time  // the last time RDDs were made for
	gone   Time  // of a lasting stream: RDDs up to here have been dropped, but for the newest of all
	again  int32 // how often RDDs were made for an earlier time

	forget  func(upTo Time) // drops the RDDs of times up to and including
	present func() []Time   // the times whose RDDs are held
	written func() []CheckpointFile
	restore func(f CheckpointFile) error // takes over an RDD that an earlier process has written
}

// scope names what is made for the node in batch t.
func (n *node) scope(t Time) lineage.Scope { return lineage.Scope{Batch: int64(t), Stream: n.id} }

// rddsAt is where the node makes the RDDs of batch t. It is called once each time they are made: when
// a time that was forgotten is asked for again, its RDDs get numbers of their own, since others may
// still read the first ones.
func (n *node) rddsAt(t Time) *rdd.Context {
	var first int32
	if t <= n.newest {
		n.again++
		first = n.again % 2000 << 20
	} else {
		n.newest = t
	}
	return n.graph.rdds.In(n.scope(t), n.site, first)
}

// valid reports whether the stream has a batch at t: its phase is relative to the graph's zero, and t was not left out.
func (n *node) valid(t Time) bool {
	if t <= n.graph.zero || (int64(t)-int64(n.graph.zero))%n.slide != 0 {
		return false
	}
	_, skipped := n.graph.gapAt(t)
	return !skipped
}

// Start sets the time before the first batch, settles checkpoint intervals and retention, and
// checks the graph.
//
// Nothing can be declared afterwards.
//
// Errors: ErrContextActive if it was started before; else all that is wrong, joined, each a *BuildError with
// the file and line of its declaration, and nothing is started.
func (g *Graph) Start(zero Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.start(zero)
}

// start is Start. The graph's lock is held.
func (g *Graph) start(zero Time) error {
	if g.started {
		return ErrContextActive
	}
	errs := append([]error(nil), g.errs...)
	if !slices.ContainsFunc(g.nodes, func(n *node) bool { return n.output }) {
		errs = append(errs, ErrNoOutputOps)
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	g.zero = zero
	// Children are declared after their parents, so this order settles a child before what it reads.
	used := map[*node]bool{}
	for i := len(g.nodes) - 1; i >= 0; i-- {
		n := g.nodes[i]
		if n.output {
			used[n] = true
		}
		if !used[n] {
			continue
		}
		n.settle()
		for _, p := range n.parents {
			used[p] = true
			p.remember = max(p.remember, n.remember+n.extra)
		}
	}
	for _, n := range g.nodes {
		if used[n] && !n.output {
			if err := n.check(); err != nil {
				errs = append(errs, &BuildError{Op: n.op, Site: n.site, Err: err})
			}
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	g.started = true
	if g.sealed == nil {
		g.sealed = ErrContextActive
	}
	return nil
}

// settle chooses the checkpoint interval where one is needed and the least retention.
func (n *node) settle() {
	if n.must && n.checkpoint == 0 {
		n.checkpoint = n.auto(n.slide)
	}
	least := n.slide
	if n.checkpoint >= n.slide {
		least = 2 * n.checkpoint
	}
	if n.output {
		least = n.graph.remember // an output keeps nothing itself
	}
	n.remember = max(n.remember, least, n.graph.remember)
}

// check finds what makes a checkpoint impossible.
func (n *node) check() error {
	switch {
	case n.checkpoint == 0:
		return nil
	case n.graph.rdds.Options().CheckpointDir == "":
		return ErrCheckpointDirNotSet
	case n.checkpoint < n.slide || n.checkpoint%n.slide != 0:
		return &DurationError{What: "checkpoint interval", Value: n.checkpoint, Unit: n.slide, Err: ErrBadCheckpointInterval}
	case n.level == nil:
		return ErrNoStorageLevel
	case n.remember <= n.checkpoint:
		return ErrRememberTooShort
	}
	return nil
}

// tenSeconds is the automatic checkpoint interval: the first multiple of the slide from ten
// seconds up.
func tenSeconds(slide millis) millis { return (10_000 + slide - 1) / slide * slide }

// Forget drops the RDDs that no stream needs once batch t is complete.
func (g *Graph) Forget(t Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range g.nodes {
		if n.forget != nil {
			n.forget(t - Time(n.remember))
		}
	}
	g.forgetGaps(t)
	var oldest millis
	for _, n := range g.nodes {
		if n.input != nil {
			oldest = max(oldest, n.remember)
		}
	}
	for at := range g.infos {
		if at < t-Time(oldest) {
			delete(g.infos, at)
		}
	}
}

// Scopes returns the scopes that the streams hold RDDs in, and those of the outputs for batches that have not ended.
func (g *Graph) Scopes(open []Time) []lineage.Scope {
	g.mu.Lock()
	defer g.mu.Unlock()
	var scopes []lineage.Scope
	for _, n := range g.nodes {
		times := open
		if n.present != nil {
			times = n.present()
		}
		for _, t := range times {
			scopes = append(scopes, n.scope(t))
		}
	}
	return scopes
}

// Info is what is settled about a stream.
type Info struct {
	Slide      time.Duration
	Remember   time.Duration    // how long its RDDs are kept
	Checkpoint time.Duration    // 0: none
	Level      rdd.StorageLevel // the zero level: not persisted
	Zero       Time             // the time before the first batch
}

func (n *node) info() Info {
	n.graph.mu.Lock()
	defer n.graph.mu.Unlock()
	i := Info{Slide: ms(n.slide), Remember: ms(n.remember), Checkpoint: ms(n.checkpoint), Zero: n.graph.zero}
	if n.level != nil {
		i.Level = *n.level
	}
	return i
}

func ms(d millis) time.Duration { return time.Duration(d) * time.Millisecond }
