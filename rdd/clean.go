package rdd

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/leat-io/leat/lineage"
)

// cleaning is how far a node is known to leave something with executors.
type cleaning struct {
	touched atomic.Bool // a job that needs it was started
	watched atomic.Bool // what it leaves is dropped when nobody can reach it
}

// remains is what a node that nobody can reach leaves behind. It must not lead back to the node, or the node
// would be reachable for ever.
type remains struct {
	home *shared
	drop lineage.Drop
}

// touch notes the nodes that a job on final is the first to need, and returns them: executors may hold something
// of them from now on. It looks no further up than nodes that a successful job evaluated.
func touch(final lineage.Node) (fresh []*base) {
	lineage.Walk(final, func(n lineage.Node) bool {
		b, ok := baseOf(n)
		if !ok {
			return true
		}
		if b.evaluated.Load() {
			return false
		}
		fresh = append(fresh, b)
		b.touch()
		return true
	})
	return fresh
}

// touch notes that executors may hold something of the node from now on.
func (b *base) touch() {
	if !b.cleaning.touched.Swap(true) {
		b.watch()
	}
}

// watch has what executors hold of the node dropped once neither handles nor nodes nor jobs lead to it: kept
// partitions and the outputs of the shuffles it reads. Nodes of a batch go with their scope. It happens at the first
// action after a collection has found the node; running jobs hold their nodes, so nothing that is in use goes.
func (b *base) watch() {
	if b.home.opts.KeepUnreachable || b.id.Scope != (lineage.Scope{}) || !b.cleaning.touched.Load() {
		return
	}
	left := remains{home: b.home, drop: lineage.Drop{Nodes: []lineage.NodeID{b.id}, Shuffles: b.shuffles()}}
	if b.level.Load() == nil && len(left.drop.Shuffles) == 0 || b.cleaning.watched.Swap(true) {
		return
	}
	runtime.AddCleanup(b, func(left remains) { left.home.unreachable.add(left.drop) }, left)
}

// unreachable is what nobody can reach any more and has not been dropped yet. The runtime tells of it from a
// goroutine of its own, which must not wait for anything and, where a test has put the program into a bubble of
// time, is outside of it: it only takes a note here.
type unreachable struct {
	mu   sync.Mutex
	left lineage.Drop
}

func (u *unreachable) add(d lineage.Drop) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.left.Nodes = append(u.left.Nodes, d.Nodes...)
	u.left.Shuffles = append(u.left.Shuffles, d.Shuffles...)
	u.left.Broadcasts = append(u.left.Broadcasts, d.Broadcasts...)
}

func (u *unreachable) take() lineage.Drop {
	u.mu.Lock()
	defer u.mu.Unlock()
	d := u.left
	u.left = lineage.Drop{}
	return d
}

// Sweep makes executors drop what RDDs and broadcasts have left behind that no handle leads to any more. Every action
// does so before it runs its job; a program that runs none for a long time may call it after a collection.
func (c *Context) Sweep() {
	if d := c.unreachable.take(); !d.Empty() {
		c.runner.Drop(d)
	}
}

// shuffles are the ids of the shuffles that the node reads.
func (b *base) shuffles() (ids []lineage.ShuffleID) {
	for _, d := range b.Deps() {
		if d.Shuffle != nil {
			ids = append(ids, d.Shuffle.ID)
		}
	}
	return ids
}

// watchFiles removes the files of a written checkpoint once nobody can reach the node.
func (b *base) watchFiles(dir string) {
	if b.home.opts.CleanCheckpoints {
		runtime.AddCleanup(b, func(dir string) { _ = os.RemoveAll(dir) }, dir)
	}
}

// CleanShuffleDependencies drops the outputs of the shuffles that the RDD is computed from, as far up as RDDs
// that are persisted or checkpointed. A program calls it when it knows that nothing will be computed from them
// again; what is needed all the same is written again.
//
// Cost: one pass over the lineage; the outputs go some time later, those of a running job when it is over.
func (b *base) CleanShuffleDependencies() {
	var d lineage.Drop
	lineage.Walk(b, func(n lineage.Node) bool {
		p, ok := baseOf(n)
		if !ok {
			return true
		}
		if p != b && (p.level.Load() != nil || p.checkpoint.reader.Load() != nil) {
			return false
		}
		d.Shuffles = append(d.Shuffles, p.shuffles()...)
		return true
	})
	if !d.Empty() {
		b.home.runner.Drop(d)
	}
}
