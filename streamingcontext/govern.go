package streamingcontext

// govern lets what follows the load follow a batch that is over: rates of receivers, the number of executors. It is called
// once a batch, by whoever ended it, before the batch counts as settled.
func (c *Context) govern(info BatchInfo, held []heldUp) {
	if c.opts.Backpressure.Enabled {
		c.receivers.batchEnded(info, held)
		for _, r := range c.fileRates {
			if r.control != nil {
				r.control.batchEnded(info, nil)
			}
		}
	}
	if took, ok := info.ProcessingDelay(); ok && !info.Failed() {
		c.batchTook(took)
	}
	if c.allocator != nil {
		c.allocator.batchEnded(info)
	}
}

// unwatched reports whether nobody asks how batches go, so that times need not be taken.
func (c *Context) unwatched() bool {
	return c.bus.idle() && !c.opts.Backpressure.Enabled && !c.opts.DynamicAllocation.Enabled && c.pace == nil && len(c.fileRates) == 0
}
