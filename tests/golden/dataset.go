package golden

import (
	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd"
)

// A Pair is a record as the operations by key take it.
type Pair = rdd.Pair[Value, Value]

// A Dataset is an RDD of a case: of values, or of pairs where an operation by key made it. The
// other view is made when it is asked for; it keeps the partitioner, so that what is narrow stays
// so whichever view an operation takes.
type Dataset struct {
	rows  *rdd.RDD[Value]
	pairs *rdd.RDD[Pair]
	// made is the RDD the operation returned, asked the node whose dependencies a case asks for.
	made, asked lineage.Node
}

// RowsOf returns the dataset of an RDD of values.
func RowsOf(r *rdd.RDD[Value]) *Dataset {
	return &Dataset{rows: r, made: r.Node(), asked: r.Node()}
}

// PairsOf returns the dataset of an RDD of pairs.
func PairsOf(r *rdd.RDD[Pair]) *Dataset {
	return &Dataset{pairs: r, made: r.Node(), asked: r.Node()}
}

// asking makes a case's question about dependencies be about node.
func (d *Dataset) asking(node lineage.Node) *Dataset {
	d.asked = node
	return d
}

// Rows returns the dataset as values; a pair is a tuple of two.
func (d *Dataset) Rows() *rdd.RDD[Value] {
	if d.rows == nil {
		d.rows = mapKeeping(d.pairs, func(p Pair) Value { return Tuple(p.Key, p.Value) })
	}
	return d.rows
}

// Pairs returns the dataset as pairs; a job on records that are no tuples of two fails.
func (d *Dataset) Pairs() *rdd.RDD[Pair] {
	if d.pairs == nil {
		d.pairs = mapKeeping(d.rows, func(x Value) Pair {
			k, v := pair(x)
			return Pair{Key: k, Value: v}
		})
	}
	return d.pairs
}

// Partitioner returns the partitioner, nil if there is none.
func (d *Dataset) Partitioner() rdd.AnyPartitioner {
	if d.rows != nil {
		return d.rows.Partitioner()
	}
	return d.pairs.Partitioner()
}

// Err returns why the dataset can never be computed.
func (d *Dataset) Err() error {
	if d.rows != nil {
		return d.rows.Err()
	}
	return d.pairs.Err()
}

// cache keeps the RDD the operation made.
func (d *Dataset) cache() *Dataset {
	if d.rows != nil && d.rows.Node() == d.made {
		d.rows.Cache()
	} else {
		d.pairs.Cache()
	}
	return d
}

// mapKeeping is a map that keeps the partitioner.
func mapKeeping[T, U any](r *rdd.RDD[T], f func(T) U) *rdd.RDD[U] {
	if r.Partitioner() == nil {
		return rdd.Map(r, f)
	}
	return rdd.MapPartitions(r, each(f), rdd.PreservePartitioning())
}
