package rdd

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd/keyed"
)

// rowShuffle returns the dependency that sends each row of parent to the bucket that place
// names, in order. It combines nothing and holds the rows until they are put, or until memory is refused.
func rowShuffle[T any](child *base, dep int, parent *node[T], buckets int, bucketOf func(*T) (int, error)) lineage.Dep {
	return placedShuffle(child, dep, parent, buckets, placeEach(bucketOf))
}

// placedShuffle is rowShuffle with a function for many rows.
func placedShuffle[T any](child *base, dep int, parent *node[T], buckets int, bucketOf placing[T]) lineage.Dep {
	s := &lineage.Shuffle{
		ID:     lineage.ShuffleID{Node: child.id, Dep: int32(dep)},
		Parent: &parent.base, NumReducers: buckets, Codec: &parent.rows,
	}
	s.Write = func(ctx context.Context, env lineage.Env, part int, out lineage.Buckets) error {
		t := newTask(ctx, env)
		rows := newRowBuckets[T](t, out, buckets)
		defer rows.budget.release()
		at := place{node: child, part: part}
		err := parent.read(t, part, func(chunk []T) error { return rows.add(&at, chunk, bucketOf) })
		if err != nil {
			return err
		}
		return rows.put()
	}
	return lineage.Dep{Parent: &parent.base, Shuffle: s}
}

// rowBuckets are the rows of a map task. Where memory is refused they are put, in the order of the reducers, and
// others collected.
type rowBuckets[T any] struct {
	out     lineage.Buckets
	dealing *dealing[T]
	sample  sampler[T]
	budget  budget
}

func newRowBuckets[T any](t *task, out lineage.Buckets, buckets int) *rowBuckets[T] {
	b := &rowBuckets[T]{out: out, dealing: newDealing[T](buckets), sample: newSampler[T](), budget: newBudget(t)}
	b.budget.floor += int64(buckets) << 10 // blocks of a few bytes would cost more than they hold
	return b
}

// add takes in a chunk.
func (b *rowBuckets[T]) add(at *place, chunk []T, place placing[T]) error {
	if err := b.dealing.add(at, chunk, place); err != nil {
		return err
	}
	b.sample.see(chunk)
	// Rows lie in pieces with room to spare, the last one as large as all before it, and beside them for a moment in buckets.
	n := b.dealing.rows.n
	if b.budget.fits(b.sample.memory(n, 2*n+grown(n)) + 5*int64(n)) {
		return nil
	}
	return b.put()
}

func (b *rowBuckets[T]) put() error {
	for i, rows := range b.dealing.take() {
		if len(rows) > 0 {
			b.budget.t.env.Metrics().ShuffleRows += int64(len(rows))
			if err := b.out.Put(i, &rowBlock[T]{rows: rows}); err != nil {
				return err
			}
		}
	}
	b.budget.release()
	return nil
}

// fetchRows pushes bucket part of a row shuffle into out, in the order of the map partitions.
func fetchRows[T any](t *task, s *lineage.Shuffle, part int, clone func(T) T, out sink[T]) error {
	return t.env.Fetch(t.ctx, s, part, func(_ int, b lineage.Block) error {
		rows := b.(*rowBlock[T]).rows
		t.env.Metrics().FetchedRows += int64(len(rows))
		return pushRows(t, rows, clone, out)
	})
}

// bucketOf is the bucket function of a partitioner over a record's key.
func bucketOf[T any, K comparable](h *keyed.Hasher[K], p Partitioner[K], key func(*T) K) func(*T) (int, error) {
	dynamic := h.Dynamic()
	return func(row *T) (int, error) {
		k := key(row)
		if dynamic {
			if err := h.Check(k); err != nil {
				return 0, err
			}
		}
		return partitionOf(p, k)
	}
}

// input is a parent of an operation by key as the child reads it: over a shuffle, or straight
// where the parent lies as the child does.
type input[T any] struct {
	parent *RDD[T]
	dep    lineage.Dep
}

func newInput[T any](child *base, dep int, parent *RDD[T], p AnyPartitioner, bucket func(*T) (int, error)) input[T] {
	if parent.partitioner != nil && parent.partitioner.Equal(p) {
		return input[T]{parent: parent, dep: lineage.OneToOne(parent.Node())}
	}
	return input[T]{parent: parent, dep: rowShuffle(child, dep, parent.node, p.NumPartitions(), bucket)}
}

// newKeyedInput is newInput for pairs.
func newKeyedInput[K comparable, V any](child *base, dep int, parent *RDD[Pair[K, V]], h *keyed.Hasher[K], p Partitioner[K]) input[Pair[K, V]] {
	in := newInput(child, dep, parent, p, bucketOf(h, p, keyOf[K, V]))
	if hashed := placeHashed[K, V](h, p); hashed != nil && in.dep.Shuffle != nil {
		in.dep = placedShuffle(child, dep, parent.node, p.NumPartitions(), hashed)
	}
	return in
}

func (in input[T]) push(t *task, part int, out sink[T]) error {
	if in.dep.Shuffle == nil {
		return in.parent.push(t, part, out)
	}
	return fetchRows(t, in.dep.Shuffle, part, in.parent.clone, out)
}

// combinedCodec encodes what a map-side combine writes: the keys and values of a keyed.Block as
// pairs. Hashes are fixed functions of the keys, so the reader finds them again.
type combinedCodec[K comparable, C any] struct {
	hasher *keyed.Hasher[K]
	pairs  lazyCodec[Pair[K, C]]
}

func (c *combinedCodec[K, C]) Encode(b lineage.Block) ([]byte, error) {
	columns, err := c.pairs.get()
	if err != nil {
		return nil, err
	}
	block := b.(*keyed.Block[K, C])
	return columns.Append(nil, block.Pairs(make([]Pair[K, C], 0, block.Rows()), 0, block.Rows()))
}

func (c *combinedCodec[K, C]) Decode(data []byte) (lineage.Block, error) {
	columns, err := c.pairs.get()
	if err != nil {
		return nil, err
	}
	pairs, err := columns.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("decode pairs of %T: %w", *new(K), err)
	}
	b := &keyed.Block[K, C]{
		Keys: make([]K, len(pairs)), Values: make([]C, len(pairs)), Hashes: make([]uint64, len(pairs)),
	}
	for i, p := range pairs {
		if c.hasher.Dynamic() {
			if err := c.hasher.Check(p.Key); err != nil {
				return nil, err
			}
		}
		b.Keys[i], b.Values[i], b.Hashes[i] = p.Key, p.Value, c.hasher.Hash(p.Key)
	}
	return b, nil
}

func (c *combinedCodec[K, C]) Size(b lineage.Block) int64 {
	block := b.(*keyed.Block[K, C])
	if block.Packed != nil {
		return memoryOfPacked(block.Packed)
	}
	return memoryOf(block.Keys) + memoryOf(block.Values) + 8*int64(len(block.Hashes))
}
