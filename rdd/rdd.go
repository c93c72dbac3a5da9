package rdd

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd/codec"
)

// An RDD is an immutable, partitioned collection of records of type T that knows how to compute
// each of its partitions from its parents. It is a handle: making one costs nothing, the records
// exist while a task computes them or where Persist keeps them. Handles may be copied and used from
// any goroutine.
//
// Operators that keep T are methods, those that change it are functions of this package. A call
// that can never work (a nil function, a negative partition count) makes an RDD whose actions all
// return a *BuildError with the call's file and line.
type RDD[T any] struct {
	*node[T]
	ctx *Context
}

// node is an RDD as all its handles share it: the untyped base and how records are made.
type node[T any] struct {
	base
	// compute pushes the records of one partition into out, in order, in chunks. It is set while the
	// node is built; tasks call it through computed.
	compute computing[T]
	sealed  sealed[T]
	rows    rowCodec[T]
	kept    *rowCodec[T] // of kept partitions: executors hold on to it, and must not hold on to the node
	clone   func(T) T    // deep copy of a record; nil where assignment is one
	own     func(T) T    // of a record that was lent, see asking; nil for nodes that lend none
	// held returns the rows of a partition of a source that has them in memory; nil for other nodes.
	held func(part int) []T
}

// base is the part of a node that needs no type; it is the lineage.Node.
type base struct {
	home *shared // what all views of the RDD's context share
	id   lineage.NodeID
	op   string
	site string
	err  error                   // why the node can never be computed
	name atomic.Pointer[string]  // what SetName called it
	near func(part int) []string // hosts that have a partition's records at hand; nil: none known

	count       func() (int, error)
	countOnce   sync.Once
	parts       int
	partsErr    error
	partitioner AnyPartitioner // nil: none
	deps        atomic.Pointer[[]lineage.Dep]

	level      atomic.Pointer[StorageLevel] // nil: not persisted
	checkpoint checkpointState
	evaluated  atomic.Bool // a job has run on it
	cleaning   cleaning
	class      class
}

// baseOf returns the base of a node of this package: dependencies name it, or the node around it.
func baseOf(n lineage.Node) (*base, bool) {
	s, ok := n.(interface{ self() *base })
	if !ok {
		return nil, false
	}
	return s.self(), true
}

func (b *base) self() *base { return b }

// ID is the node's number, unique in its context.
func (b *base) ID() lineage.NodeID { return b.id }

// Op is the operator's name.
func (b *base) Op() string { return b.op }

// Site is the file and line of the call that made the RDD.
func (b *base) Site() string { return b.site }

// NumPartitions is the number of partitions, found at the first call and kept. More than MaxPartitions is a
// *BuildError with ErrArgument.
func (b *base) NumPartitions() (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	b.countOnce.Do(func() {
		b.parts, b.partsErr = b.count()
		b.count = nil // it may hold on to the parents
		if b.partsErr == nil && (b.parts < 0 || b.parts > MaxPartitions) {
			b.partsErr = &BuildError{Op: b.op, Site: b.site,
				Err: fmt.Errorf("%w: %d partitions, at most %d", ErrArgument, b.parts, MaxPartitions)}
		}
	})
	return b.parts, b.partsErr
}

// Deps are the dependencies, in argument order.
func (b *base) Deps() []lineage.Dep { return *b.deps.Load() }

// Partitioner returns what places the keys of the RDD's pairs, nil if nothing is known of it.
func (b *base) Partitioner() AnyPartitioner { return b.partitioner }

// sink takes the records of a partition, a chunk at a time. The chunk is the callee's to read and
// change until it returns, and is used again afterwards: what is kept must be copied. A non-nil
// error stops the flow and comes back unchanged from the push that started it.
type sink[T any] func(chunk []T) error

// MaxPartitions is how many partitions an RDD may have. Each costs the scheduler some hundred bytes in every job,
// and sums and products of counts below it do not overflow.
const MaxPartitions = 1 << 24

// chunkSize is how many records a chunk holds, about: one record's outputs are never split.
// From 256 to 1,024 the speed differs by a twentieth, in favour of what leaves the buffers of a chain of
// four operators, pairs among them, inside the first cache.
const chunkSize = 512

// newNode returns a node made by the calling operator. deps may be set later with setDeps, count
// and compute by the caller.
func newNode[T any](c *Context, op string, deps ...lineage.Dep) *RDD[T] {
	n := &node[T]{clone: codec.CloneFunc[T](), kept: new(rowCodec[T])}
	n.home, n.id, n.op, n.site = c.shared, c.newID(), op, c.callSite()
	n.setDeps(deps)
	return &RDD[T]{node: n, ctx: c}
}

// setDeps sets what the node is made of. Nodes of another runner's context are refused: their numbers mean other
// shuffles and partitions here. The map tasks of shuffles get hooks.
func (b *base) setDeps(deps []lineage.Dep) {
	b.deps.Store(&deps)
	for _, d := range deps {
		if d.Shuffle != nil {
			hookedWrite(d.Shuffle, b.home)
		}
		if p, ok := baseOf(d.Parent); ok && p.home != b.home && b.err == nil {
			b.err = &BuildError{Op: b.op, Site: b.site, Err: fmt.Errorf("%w: %s", ErrDifferentContexts, p.op)}
		}
	}
}

// fixed makes a partition count that is known.
func fixed(n int) func() (int, error) { return func() (int, error) { return n, nil } }

// broken returns an RDD of which every action returns err, wrapped with the operator's place.
func broken[T any](c *Context, op string, err error) *RDD[T] {
	r := newNode[T](c, op)
	r.err = &BuildError{Op: op, Site: r.site, Err: err}
	return r
}

// inherit makes r return err, if it is not nil, from every action.
func (r *RDD[T]) inherit(errs ...error) *RDD[T] {
	for _, err := range errs {
		if err != nil && r.err == nil {
			r.err = err
		}
	}
	return r
}

// Context returns the context the RDD was made in.
func (r *RDD[T]) Context() *Context { return r.ctx }

// In returns another handle of the same RDD. What is derived from it is made through c.
func (r *RDD[T]) In(c *Context) *RDD[T] { return &RDD[T]{node: r.node, ctx: c} }

// Node returns the RDD as lineage sees it.
func (r *RDD[T]) Node() lineage.Node { return &r.base }

// Same reports whether both handles are of one and the same RDD.
func (r *RDD[T]) Same(other *RDD[T]) bool { return r.node == other.node }

// Err returns why the RDD can never be computed, nil if nothing is known against it.
func (b *base) Err() error { return b.err }

// DebugString prints the lineage: indented per shuffle, with partition counts.
func (b *base) DebugString() string { return lineage.Text(b) }

// String returns the operator and id, as in "map[3]".
func (b *base) String() string { return fmt.Sprintf("%s[%s]", b.op, b.id) }

// push pushes the records of one partition into out: from where they are kept, if they are, else from the
// checkpoint's files, else computed from the parents.
func (n *node[T]) push(t *task, part int, out sink[T]) error {
	if err := context.Cause(t.ctx); err != nil {
		return err
	}
	level := n.level.Load()
	if level == nil {
		return n.computed(t, part, out)
	}
	return t.env.Persisted(t.ctx, n.id, part, lineage.Persistence{Level: *level, Codec: n.kept},
		func(put func(lineage.Block) error) error { return n.blocks(t, part, put) },
		func(b lineage.Block) error {
			rows := b.(*rowBlock[T]).rows
			t.env.Metrics().InputRows += int64(len(rows))
			return pushRows(t, rows, n.clone, out)
		})
}

// tallied adds up the records that go to out.
func tallied[T any](sum *int64, out sink[T]) sink[T] {
	return func(chunk []T) error {
		*sum += int64(len(chunk))
		return out(chunk)
	}
}

// blockRows is about how many rows a block of a kept partition holds. A partition of fewer is one block; a larger
// one can be stored, and written to disk, piece by piece.
const blockRows = 32 << 10

// blocks computes a partition and puts its rows in blocks.
func (n *node[T]) blocks(t *task, part int, put func(lineage.Block) error) error {
	b := &rowBlock[T]{}
	err := n.computed(t, part, func(chunk []T) error {
		b.add(chunk)
		if len(b.rows) < blockRows {
			return nil
		}
		full := b
		b = &rowBlock[T]{}
		return put(full)
	})
	if err != nil || len(b.rows) == 0 {
		return err
	}
	return put(b)
}

// pushRows pushes kept rows in chunks. Each chunk is a copy, deep where records hold references,
// so that whatever the functions downstream do to it, what is kept stays as it was.
func pushRows[T any](t *task, rows []T, clone func(T) T, out sink[T]) error {
	buf := make([]T, min(len(rows), chunkSize))
	for len(rows) > 0 {
		if err := context.Cause(t.ctx); err != nil {
			return err
		}
		n := copy(buf, rows)
		rows = rows[n:]
		if clone != nil {
			for i := range buf[:n] {
				buf[i] = clone(buf[i])
			}
		}
		if err := out(buf[:n]); err != nil {
			return err
		}
	}
	return nil
}
