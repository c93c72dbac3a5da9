package rdd

// PartitionerFor returns the partitioner that operations by key use with the options, which must name a partitioner or a
// count, or the context a default parallelism: then no RDD has a say in it.
//
// Errors: as those of the operations: ErrPartitioner for one of other keys, ErrArgument for a negative count.
func PartitionerFor[K comparable](c *Context, opts ...KeyOption) (Partitioner[K], error) {
	return choosePartitioner[K](c, keyOptionsOf(opts))
}
