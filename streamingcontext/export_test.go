package streamingcontext

import (
	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/receivers/file"
)

// Inputs returns the inputs of a context's streams, in the order declared.
func Inputs(c *Context) []dstream.InputStream { return c.graph.Inputs() }

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

// RecordParts returns from where to where the parts of a file of size bytes go.
func RecordParts(size, n int64) (parts [][2]int64) {
	for _, p := range recordParts([]file.File{{Size: size}}, n) {
		parts = append(parts, [2]int64{p.From, p.To})
	}
	return parts
}

// SetPace sets how many intervals the next batches of a context cover.
func SetPace(c *Context, intervals int64) {
	c.pace.mu.Lock()
	defer c.pace.mu.Unlock()
	c.pace.now = intervals
}
