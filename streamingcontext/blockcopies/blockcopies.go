package blockcopies

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/leat-io/leat/internal/accept"
	"github.com/leat-io/leat/streamingcontext"
)

// Copies is what one driver has of received blocks, its own and those of others. Make it with New.
type Copies struct {
	network Network
	opts    Options
	store   *store

	mu      sync.Mutex // guards what follows
	term    *term      // whose log is open, nil while there is none
	leading bool       // Lead is under way, or term is open
	last    uint64     // the epoch in which this one has led last
	running bool
	closed  bool
	done    chan struct{} // closed when closed
	ended   chan struct{} // closed when Run has returned
}

var _ streamingcontext.Blocks = (*Copies)(nil)

// New returns the copies in a folder, which it makes if it is not there. Run serves other drivers; until then they wait. One process at a time may have
// the folder.
//
// Cost: reads all that is in the folder.
// Errors: Validate's; *receivedlog.VersionError; what the disk answered; a promise that is damaged.
func New(network Network, dir string, opts Options) (*Copies, error) {
	err := opts.Validate()
	if network == nil && opts.Copies != 1 {
		err = errors.Join(err, errors.New("a network is needed: nobody can be reached"))
	}
	opts = opts.filled()
	c := &Copies{network: network, opts: opts, done: make(chan struct{}), ended: make(chan struct{})}
	if err == nil {
		c.store, err = openStore(dir, opts.Logger)
	}
	if err != nil {
		return nil, fmt.Errorf("open copies of received blocks: %w", err)
	}
	return c, nil
}

// Run takes copies from other drivers and tells them what there is, until ctx ends or Close is called. Then it closes the network's
// listener and waits for all connections. A driver that leads needs it too: it is how a newer leader finds out what there is, and ends what
// is acknowledged here. The log of a term stays open.
//
// Errors: nil when ctx has ended or Close was called; ErrClosed where Run was called before, or Close; the listener's.
func (c *Copies) Run(ctx context.Context) error {
	c.mu.Lock()
	if c.running || c.closed {
		c.mu.Unlock()
		return fmt.Errorf("run: %w", ErrClosed)
	}
	c.running = true
	c.mu.Unlock()
	defer close(c.ended)
	ctx, cancel := context.WithCancel(ctx)
	var closed sync.WaitGroup
	defer closed.Wait()
	defer cancel() // before the wait
	closed.Go(func() {
		select {
		case <-c.done:
			cancel()
		case <-ctx.Done():
		}
	})
	if c.network == nil {
		<-ctx.Done()
		return nil
	}
	return accept.All(ctx, c.network, c.opts.MaxConns, c.opts.Logger, c.serve)
}

// Close ends Run, closes the log of a term that is open, and waits for both. It may be called more than once.
func (c *Copies) Close() error {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.done)
	}
	t, running := c.term, c.running
	c.mu.Unlock()
	var err error
	if t != nil {
		err = t.Close()
	}
	if running {
		<-c.ended
	}
	c.store.close()
	return err
}

// others returns the members but this one.
func (c *Copies) others() []Member {
	var all []Member
	for _, m := range c.opts.Members() {
		if m.ID != c.opts.ID {
			all = append(all, m)
		}
	}
	return all
}
