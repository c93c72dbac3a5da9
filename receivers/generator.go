package receivers

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// State is a stage in the life of a [Generator]. It only ever grows.
type State int32

// The states of a generator, in order.
const (
	Initialized             State = iota // made; takes no records yet
	Active                               // takes records and cuts a block per block interval
	StoppedAddingData                    // takes no more records; the last block is not cut yet
	StoppedGeneratingBlocks              // the last block is cut; blocks are still being stored
	StoppedAll                           // every block is stored or given up
)

var stateNames = [...]string{"initialized", "active", "stopped adding data", "stopped generating blocks", "stopped"}

// String returns the state in words.
func (s State) String() string {
	if s < 0 || int(s) >= len(stateNames) {
		return fmt.Sprintf("state %d", int32(s))
	}
	return stateNames[s]
}

// Generator gathers single records into blocks and gives the blocks to a [Blocks].
//
//	Store --> buffer --(each block interval)--> queue --(one at a time)--> Blocks.Put
//
// Start it once, stop it once. Its methods may be called from any goroutine.
type Generator[T any] struct {
	stream int32
	blocks Blocks[T]
	opts   GeneratorOptions
	limit  *limiter
	ids    *blockIDs

	mu        sync.Mutex // guards the fields below, down to err
	state     State
	buffer    []T
	lastCount int           // size of the last block, the best guess for the next
	room      chan struct{} // closed when the buffer is taken or adding stops
	stopTicks context.CancelFunc
	giveUp    context.CancelFunc
	err       error // what Stop returns, once done is closed

	queue chan Block[T] // bounded by BlockQueue, closed after the last block
	done  chan struct{} // closed when both loops have ended
	loops sync.WaitGroup
}

// NewGenerator returns a block generator for the stream. It starts nothing.
//
// Errors: a joined [*OptionError] for each option that cannot be used.
func NewGenerator[T any](stream int32, blocks Blocks[T], opts GeneratorOptions) (*Generator[T], error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	return newGenerator(stream, blocks, opts, &blockIDs{last: opts.LastID}), nil
}

func newGenerator[T any](stream int32, blocks Blocks[T], opts GeneratorOptions, ids *blockIDs) *Generator[T] {
	opts = opts.withDefaults()
	return &Generator[T]{
		stream: stream,
		blocks: blocks,
		opts:   opts,
		limit:  newLimiter(opts.Clock, opts.InitialRate, opts.MaxRate),
		ids:    ids,
		room:   make(chan struct{}),
		queue:  make(chan Block[T], opts.BlockQueue),
		done:   make(chan struct{}),
	}
}

// Start begins to take records. Only Stop ends what it starts: the end of ctx does not, since accepted records must
// still be stored then.
//
// Errors: [ErrStarted] when it was started or stopped before.
func (g *Generator[T]) Start(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state != Initialized {
		return fmt.Errorf("start block generator of stream %d (%v): %w", g.stream, g.state, ErrStarted)
	}
	g.state = Active
	base := context.WithoutCancel(ctx)
	ticks, stopTicks := context.WithCancel(base)
	puts, giveUp := context.WithCancel(base)
	g.stopTicks, g.giveUp = stopTicks, giveUp
	interval := g.opts.BlockInterval.Milliseconds()
	first := (g.opts.Clock.Now()/interval + 1) * interval
	g.loops.Go(func() { g.tick(ticks, first, interval) })
	g.loops.Go(func() { g.push(puts) })
	return nil
}

// Stop refuses further records, cuts what is left as a last block without waiting for the block interval to end, and
// returns when every block is stored. When ctx ends first, the rest is given up. A second call waits for the first and
// returns the same.
//
// Errors: [*LostError] when accepted records were given up.
func (g *Generator[T]) Stop(ctx context.Context) error {
	g.mu.Lock()
	switch g.state {
	case Initialized:
		g.state = StoppedAll
		close(g.done)
	case Active:
		g.state = StoppedAddingData
		close(g.room)
		g.stopTicks()
	}
	giveUp := g.giveUp
	g.mu.Unlock()
	if giveUp != nil {
		defer context.AfterFunc(ctx, giveUp)()
	}
	<-g.done
	g.loops.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// State returns the stage the generator is in.
func (g *Generator[T]) State() State {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.state
}

// SetRate limits the records per second from now on, to MaxRate at most. A rate of zero or less changes nothing.
func (g *Generator[T]) SetRate(rate int64) { g.limit.update(rate) }

// Rate returns the limit in records per second, 0 for none.
func (g *Generator[T]) Rate() int64 { return g.limit.rate.Load() }

// tick cuts a block at each multiple of the interval. A clock that jumps gives one call for each interval it passed.
func (g *Generator[T]) tick(ctx context.Context, next, interval int64) {
	for g.opts.Clock.WaitUntil(ctx, next) == nil {
		g.cut(next - interval)
		next += interval
	}
	g.cut(next - interval)
	g.mu.Lock()
	g.state = StoppedGeneratingBlocks
	g.mu.Unlock()
	close(g.queue)
}

// cut queues the buffer as a block. It waits while the queue is full; records may be added meanwhile.
func (g *Generator[T]) cut(start int64) {
	g.mu.Lock()
	if len(g.buffer) == 0 {
		g.mu.Unlock()
		return
	}
	block := Block[T]{Stream: g.stream, ID: g.ids.next(start), Records: g.buffer}
	g.lastCount, g.buffer = len(g.buffer), nil
	if g.state == Active {
		close(g.room)
		g.room = make(chan struct{})
	}
	g.opts.Listener.cut(block.ID, len(block.Records))
	g.mu.Unlock()
	g.queue <- block // push takes blocks until the queue is closed, whatever happens
}

// push stores the queued blocks one after another. Once ctx has ended it only counts them.
func (g *Generator[T]) push(ctx context.Context) {
	lost := LostError{Stream: g.stream}
	for block := range g.queue {
		if err := g.put(ctx, block); err != nil {
			lost.Blocks++
			lost.Records += block.Count()
			lost.Err = err
		}
	}
	g.mu.Lock()
	g.state = StoppedAll
	if lost.Blocks > 0 {
		g.err = &lost
	}
	g.mu.Unlock()
	g.giveUp()
	close(g.done)
}

// put stores one block, trying until it is stored or ctx ends. Dropping it after a failure would lose records that
// were accepted; the queue fills meanwhile, and Store waits.
func (g *Generator[T]) put(ctx context.Context, block Block[T]) error {
	last := ctx.Err()
	for ctx.Err() == nil {
		err := g.blocks.Put(ctx, block)
		if err == nil {
			g.opts.Listener.stored(block.ID, len(block.Records))
			return nil
		}
		last = fmt.Errorf("store block %d of stream %d: %w", block.ID, g.stream, err)
		g.opts.Listener.failed(block.ID, last)
		g.opts.Logger.WarnContext(ctx, "block not stored, trying again", "stream", g.stream, "block", int64(block.ID), "err", err)
		// The end of ctx ends the wait and, with it, the loop.
		_ = g.opts.Clock.WaitUntil(ctx, g.opts.Clock.Now()+int64(g.opts.RetryDelay/time.Millisecond))
	}
	return last
}
