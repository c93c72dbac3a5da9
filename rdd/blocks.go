package rdd

// FromBlocks returns the RDD whose partition i is blocks[i], in order. It takes the blocks over: they must
// not be changed afterwards. Received input is made into RDDs with it.
//
// Shape: one partition a block; no partitioner.
// Cost: nothing is copied until a task reads.
func FromBlocks[T any](c *Context, blocks [][]T) *RDD[T] {
	r := newNode[T](c, "blocks")
	r.count = fixed(len(blocks))
	r.compute = func(t *task, part int, out sink[T]) error { return pushRows(t, blocks[part], r.clone, out) }
	r.held = func(part int) []T { return blocks[part] }
	return r
}

// FromBlocksAt is FromBlocks with the names of the hosts or executors where each block is at hand, best first. at is
// called often, also for the same partition and from any goroutine, and must not block; what it returns must not change.
//
// Shape: as FromBlocks; partition i prefers at(i).
// Cost: as FromBlocks.
func FromBlocksAt[T any](c *Context, blocks [][]T, at func(part int) []string) *RDD[T] {
	r := FromBlocks(c, blocks)
	r.near = at
	return r
}
