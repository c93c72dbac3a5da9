package rdd

import (
	"fmt"

	"github.com/leat-io/leat/rdd/keyed"
)

// AnyPartitioner is what is known of a partitioner where the key type is not: it is what RDDs
// carry, so that operations by key see whether their parents lie alike.
type AnyPartitioner interface {
	NumPartitions() int
	// Equal reports whether both send every key to the same partition of as many.
	Equal(AnyPartitioner) bool
	String() string
}

// A Partitioner sends each key to one of its partitions. PartitionFor must depend on the key
// alone, in every process; an answer outside [0, NumPartitions) fails the task.
type Partitioner[K any] interface {
	AnyPartitioner
	PartitionFor(key K) int
}

// HashPartitioner sends a key to hash mod n. Integers hash to their own value, so integer key k
// goes to the floor modulus of k by n; other keys go by the fixed hash of package keyed.
type HashPartitioner[K comparable] struct {
	n      int
	hasher *keyed.Hasher[K]
	err    error
}

// Hash returns the hash partitioner with n partitions; 0 is legal and takes no keys. A negative n
// and a key type without value identity are refused by the operation that uses it.
func Hash[K comparable](n int) *HashPartitioner[K] {
	p := &HashPartitioner[K]{n: n}
	if n < 0 {
		p.err = fmt.Errorf("%w: %d partitions", ErrArgument, n)
		return p
	}
	p.hasher, p.err = keyed.HasherFor[K]()
	return p
}

// NumPartitions is the n it was made with.
func (p *HashPartitioner[K]) NumPartitions() int { return p.n }

// PartitionFor returns the partition of a key.
func (p *HashPartitioner[K]) PartitionFor(key K) int { return p.hasher.Partition(key, p.n) }

// Equal reports whether other is a hash partitioner of the same key type and count.
func (p *HashPartitioner[K]) Equal(other AnyPartitioner) bool {
	if s, ok := other.(*savedPartitioner); ok {
		return s.Equal(p)
	}
	o, ok := other.(*HashPartitioner[K])
	return ok && o.n == p.n
}

// String returns "hash:n".
func (p *HashPartitioner[K]) String() string { return fmt.Sprintf("hash:%d", p.n) }

// PartitionBy function partitioners are equal only to themselves.
type funcPartitioner[K any] struct {
	name string
	n    int
	f    func(K) int
}

// PartitionFunc returns a partitioner of n partitions that asks f. It equals only itself, so make
// it once and use it for all RDDs that are to lie alike.
func PartitionFunc[K any](name string, n int, f func(K) int) Partitioner[K] {
	return &funcPartitioner[K]{name: name, n: n, f: f}
}

func (p *funcPartitioner[K]) NumPartitions() int              { return p.n }
func (p *funcPartitioner[K]) PartitionFor(key K) int          { return p.f(key) }
func (p *funcPartitioner[K]) Equal(other AnyPartitioner) bool { return other == AnyPartitioner(p) }
func (p *funcPartitioner[K]) String() string                  { return fmt.Sprintf("%s:%d", p.name, p.n) }

// A KeyOption is an option of the operations by key.
type KeyOption func(*keyOptions)

type keyOptions struct {
	n           int
	hasN        bool
	partitioner AnyPartitioner
	noCombine   bool
	size        *TableSize // nil: not known
}

// NumPartitions asks for n hash partitions of the result.
func NumPartitions(n int) KeyOption { return func(o *keyOptions) { o.n, o.hasN = n, true } }

// PartitionedBy asks for the partitioner of the result; it must be a Partitioner of the key type.
func PartitionedBy(p AnyPartitioner) KeyOption { return func(o *keyOptions) { o.partitioner = p } }

// WithoutMapSideCombine sends every record through the shuffle; combining starts behind it.
func WithoutMapSideCombine() KeyOption { return func(o *keyOptions) { o.noCombine = true } }

func keyOptionsOf(opts []KeyOption) keyOptions {
	var o keyOptions
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// choosePartitioner returns the partitioner the options ask for. Without one: the parents' with
// the most partitions, if it has at least the default count or more than a tenth of the largest
// parent's partitions, else a hash partitioner with the default count, which is the context's
// DefaultParallelism or, where that is unset, the largest parent's partition count.
func choosePartitioner[K comparable](c *Context, o keyOptions, parents ...*base) (Partitioner[K], error) {
	if o.partitioner != nil {
		p, ok := typedPartitioner[K](o.partitioner)
		if !ok {
			return nil, fmt.Errorf("%w: %s does not take keys of type %T", ErrPartitioner, o.partitioner, *new(K))
		}
		return checked(p)
	}
	if o.hasN {
		return checked[K](Hash[K](o.n))
	}
	var best Partitioner[K]
	most := 0
	for _, parent := range parents {
		n, err := parent.NumPartitions()
		if err != nil {
			return nil, err
		}
		most = max(most, n)
		if p, ok := typedPartitioner[K](parent.partitioner); ok && p.NumPartitions() > 0 &&
			(best == nil || p.NumPartitions() > best.NumPartitions()) {
			best = p
		}
	}
	def := most
	if c.opts.DefaultParallelism > 0 {
		def = c.opts.DefaultParallelism
	}
	if best != nil {
		n := best.NumPartitions()
		if n >= def || most < 10*n {
			return best, nil
		}
	}
	return checked[K](Hash[K](def))
}

// checked returns p, or what is wrong with it.
func checked[K comparable](p Partitioner[K]) (Partitioner[K], error) {
	if h, ok := p.(*HashPartitioner[K]); ok && h.err != nil {
		return nil, h.err
	}
	if f, ok := p.(*funcPartitioner[K]); ok && f.f == nil {
		return nil, ErrNilFunction
	}
	if p.NumPartitions() < 0 {
		return nil, fmt.Errorf("%w: %d partitions", ErrArgument, p.NumPartitions())
	}
	return p, nil
}

// partitionOf asks a partitioner and checks its answer.
func partitionOf[K any](p Partitioner[K], key K) (int, error) {
	i := p.PartitionFor(key)
	if i < 0 || i >= p.NumPartitions() {
		return 0, fmt.Errorf("%w: %s sent key %v to partition %d", ErrPartitioner, p, key, i)
	}
	return i, nil
}
