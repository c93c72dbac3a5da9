package streamingcontext

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/streamingcontext/internal/receivedlog"
)

// Blocks keeps what receivers have received where it outlives this machine: see package blockcopies. Without it a context keeps it in its
// folder.
type Blocks interface {
	// Lead returns the log of a driver's term, once all is found that was acknowledged in earlier ones. Called by Start, once in each
	// term, after the driver log has begun it; ctx ends with the term. The context closes what it returns.
	Lead(ctx context.Context, epoch uint64) (BlockLog, error)
}

// A BlockLog keeps received blocks until the batches that need them are done. All methods are called from any goroutine.
type BlockLog interface {
	// Append makes a block durable, as it is to be when the receiver is told that it is: what is needed to lose it is what the log promises
	// to survive. It waits until it is, or ctx ends. block and meta are the caller's again afterwards.
	Append(ctx context.Context, stream int32, block, meta []byte) (BlockAddress, error)
	// Read returns the block at an address, which Append or Scan has returned in this term or an earlier one.
	Read(at BlockAddress) ([]byte, error)
	// Scan visits the blocks of earlier terms in order. It may visit some that were not acknowledged. It is called before the first
	// Append. An error of visit ends it and is returned.
	Scan(ctx context.Context, visit func(BlockEntry) error) error
	// Clean removes blocks that lie before an address, as far as it can, and returns how many files went.
	Clean(lowest BlockAddress) (removed int, err error)
	// End returns an address behind all blocks.
	End() BlockAddress
	// Close ends the term's log. Appends that wait return an error. It may be called twice.
	Close() error
}

// BlockAddress is where a block lies.
type BlockAddress = receivedlog.Address

// BlockEntry is a block as Scan finds it.
type BlockEntry = receivedlog.Entry

var _ BlockLog = (*receivedlog.Log)(nil)

// leadBlocks finds the blocks of earlier terms, where Options.Blocks has them. ctx ends with the term.
func (c *Context) leadBlocks(ctx context.Context, term driverlog.Term) error {
	if c.durable == nil || !c.durable.copied || len(c.blocks.all()) == 0 {
		return nil
	}
	log, err := c.opts.Blocks.Lead(ctx, term.Epoch)
	if err != nil {
		return err
	}
	if before := c.durable.blocks; before != nil {
		log = &movedBlocks{log, before}
	}
	c.durable.blocks = log
	return nil
}

// movedBlocks is a log whose first blocks are in the folder of a context that had no Options.Blocks. They lie before all others.
type movedBlocks struct {
	BlockLog
	before BlockLog
}

// Read returns a block of either.
func (m *movedBlocks) Read(at BlockAddress) ([]byte, error) {
	if at.Epoch == 0 {
		return m.before.Read(at)
	}
	return m.BlockLog.Read(at)
}

// Scan visits those of the folder first.
func (m *movedBlocks) Scan(ctx context.Context, visit func(BlockEntry) error) error {
	if err := m.before.Scan(ctx, visit); err != nil {
		return err
	}
	return m.BlockLog.Scan(ctx, visit)
}

// Clean removes blocks of both.
func (m *movedBlocks) Clean(lowest BlockAddress) (removed int, err error) {
	if lowest.Epoch == 0 {
		return m.before.Clean(lowest)
	}
	n, err := m.before.Clean(m.before.End())
	removed, cleaned := m.BlockLog.Clean(lowest)
	return n + removed, errors.Join(err, cleaned)
}

// Close closes both.
func (m *movedBlocks) Close() error { return errors.Join(m.BlockLog.Close(), m.before.Close()) }

// has reports whether the folder has one of a name.
func (d *durable) has(name string) bool {
	if d.dir == "" {
		return false
	}
	info, err := os.Stat(filepath.Join(d.dir, name))
	return err == nil && info.IsDir()
}
