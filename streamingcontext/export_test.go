package streamingcontext

// HeldBatches returns, for each receiver, how many batches its part of the block log holds.
func HeldBatches(c *Context) []int {
	c.blocks.mu.Lock()
	defer c.blocks.mu.Unlock()
	var held []int
	for _, s := range c.blocks.streams {
		held = append(held, len(s.(*received[int]).batches))
	}
	return held
}
