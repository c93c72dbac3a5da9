package rdd

import (
	"fmt"
	"unsafe"

	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd/keyed"
)

// pairBuckets deals what a map task has combined out over the buckets of a shuffle, in blocks. A block is put when it
// is large, and all of them are when memory is refused, so that no more than that is held.
type pairBuckets[K comparable, C any] struct {
	t      *task
	at     *place
	hasher *keyed.Hasher[K]
	p      Partitioner[K]
	hashed bool // p goes by the hash, which is known
	out    lineage.Buckets
	blocks []*keyed.Block[K, C]
	n      int // pairs in them
	sample sampler[Pair[K, C]]
	budget budget
}

func newPairBuckets[K comparable, C any](t *task, at *place, h *keyed.Hasher[K], p Partitioner[K], out lineage.Buckets) *pairBuckets[K, C] {
	b := &pairBuckets[K, C]{t: t, at: at, hasher: h, p: p, out: out, budget: newBudget(t)}
	_, b.hashed = p.(*HashPartitioner[K])
	return b
}

// splitStep is how many entries of a table are copied into blocks at once where there is no memory for all.
const splitStep = 16 << 10

// addTable puts the entries of a table, which nobody changes afterwards: where there is one bucket, they are taken over.
func (b *pairBuckets[K, C]) addTable(table *keyed.Table[K, C]) error {
	n := table.Len()
	if n == 0 {
		return nil
	}
	if b.hashed && b.p.NumPartitions() == 1 {
		b.t.env.Metrics().ShuffleRows += int64(n)
		pairs := table.Packed()
		pairs.Trim()
		return b.out.Put(0, &keyed.Block[K, C]{Packed: pairs, Distinct: true})
	}
	step := n
	if n > splitStep && !b.budget.fits(int64(n)*sizeOfPair[K, C]()) {
		step = splitStep
	}
	for from := 0; from < n; from += step {
		blocks, err := b.split(table, from, min(from+step, n))
		if err != nil {
			return err
		}
		for i, block := range blocks {
			if block != nil {
				b.t.env.Metrics().ShuffleRows += int64(block.Rows())
				if err := b.out.Put(i, block); err != nil {
					return err
				}
			}
		}
	}
	b.budget.release()
	return nil
}

// split cuts entries of a table into the buckets of the partitioner.
func (b *pairBuckets[K, C]) split(table *keyed.Table[K, C], from, to int) (cut []*keyed.Block[K, C], err error) {
	defer func() {
		if v := recover(); v != nil {
			err = b.at.panicked(-1, v)
		}
	}()
	n := b.p.NumPartitions()
	if b.hashed {
		return table.SplitHashRange(n, from, to), nil
	}
	if cut, err = table.SplitRange(n, from, to, b.p.PartitionFor); err != nil {
		return nil, b.at.failed(-1, fmt.Errorf("%w: %s: %w", ErrPartitioner, b.p, err))
	}
	return cut, nil
}

// add puts pairs; keys may repeat.
func (b *pairBuckets[K, C]) add(pairs []Pair[K, C]) error {
	n := b.p.NumPartitions()
	if n == 0 {
		return nil
	}
	if b.blocks == nil {
		b.blocks = make([]*keyed.Block[K, C], n)
		b.sample = newSampler[Pair[K, C]]()
	}
	if err := b.deal(pairs, n); err != nil {
		return err
	}
	b.sample.see(pairs)
	if room := grown(b.n); !b.budget.fits(b.sample.memory(b.n, room) + 8*int64(room)) {
		return b.flush()
	}
	return nil
}

func (b *pairBuckets[K, C]) deal(pairs []Pair[K, C], n int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = b.at.panicked(-1, v)
		}
	}()
	for i := range pairs {
		k := b.hasher.Canonical(pairs[i].Key)
		hash := b.hasher.Hash(k)
		var to int
		if b.hashed {
			to = b.hasher.PartitionHash(k, hash, n)
		} else if to, err = partitionOf(b.p, k); err != nil {
			return b.at.failed(-1, err)
		}
		block := b.blocks[to]
		if block == nil {
			block = &keyed.Block[K, C]{}
			b.blocks[to] = block
		}
		b.n++
		block.Keys = append(block.Keys, k)
		block.Values = append(block.Values, pairs[i].Value)
		block.Hashes = append(block.Hashes, hash)
		if len(block.Keys) == blockRows {
			if err := b.put(to); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *pairBuckets[K, C]) put(to int) error {
	block := b.blocks[to]
	b.blocks[to] = nil
	b.n -= len(block.Keys)
	block.Keys = compact(block.Keys)
	b.t.env.Metrics().ShuffleRows += int64(block.Rows())
	return b.out.Put(to, block)
}

// flush puts all blocks.
func (b *pairBuckets[K, C]) flush() error {
	for i, block := range b.blocks {
		if block != nil {
			if err := b.put(i); err != nil {
				return err
			}
		}
	}
	b.budget.release()
	return nil
}

// sizeOfPair is what an entry takes in a block.
func sizeOfPair[K, C any]() int64 { return int64(unsafe.Sizeof(Pair[K, C]{})) + 8 }
