package rdd

import (
	"sync"
	"sync/atomic"
)

// computing is how a node makes the records of one partition.
type computing[T any] func(t *task, part int, out sink[T]) error

// sealed is a node's compute from its first use on. It holds the parents, and through them all that
// came before, so it is dropped when the node's checkpoint has been written: without that, a stream
// in which each batch derives from the one before would keep every batch in memory.
type sealed[T any] struct {
	once sync.Once // takes compute over from whoever built the node
	f    atomic.Pointer[computing[T]]
}

// computed calls the node's compute, or reads the checkpoint that has taken its place.
func (n *node[T]) computed(t *task, part int, out sink[T]) error {
	n.seal()
	f := n.sealed.f.Load()
	if f == nil {
		return n.pushCheckpoint(t, *n.checkpoint.reader.Load(), part, tallied(&t.env.Metrics().InputRows, out))
	}
	if len(n.Deps()) == 0 { // a source
		out = tallied(&t.env.Metrics().InputRows, out)
	}
	return (*f)(t, part, out)
}

func (n *node[T]) seal() {
	n.sealed.once.Do(func() {
		f := n.compute
		n.sealed.f.Store(&f)
		n.compute = nil
	})
}

// release drops compute. The checkpoint's files must be set before.
func (n *node[T]) release() {
	n.seal()
	n.sealed.f.Store(nil)
}
