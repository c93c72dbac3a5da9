package streamingcontext

import (
	"context"
	"sync"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/receivers"
)

// Receive declares the stream of what r stores.
//
// Shape: one partition a block: of a receiver that stores record by record about interval / block
// interval of them; without blocks an RDD without partitions. Never absent.
// Order: blocks as they were stored, records within a block as well.
// Time: a block belongs to the first batch that is generated after it was stored.
// Cost: no copy of the records until a task reads them. At most Options.MaxPendingRecords records are held that
// no committed batch has processed; beyond that the receiver waits.
// Errors: Start reports a nil r, and what the Validate method of r returns where it has one. A receiver that
// ends, fails or panics is started again; a listener is told.
// Source: Zaharia et al., "Discretized Streams", SOSP 2013, section "System Architecture".
func Receive[T any](ssc *Context, r receivers.Receiver[T]) *dstream.DStream[T] {
	return receive(ssc, "receiver", "Receiver stream", r)
}

func receive[T any](c *Context, op, name string, r receivers.Receiver[T]) *dstream.DStream[T] {
	if r == nil {
		c.refuse(op, dstream.ErrNilFunction)
	} else if v, ok := r.(interface{ Validate() error }); ok {
		// What can never work is told at once, not with each start of the receiver.
		if err := v.Validate(); err != nil {
			c.refuse(op, err)
		}
	}
	s := &received[T]{log: c.blocks, receiver: r}
	stream := dstream.NewInput(c.graph, op, name, s)
	if stream.Err() != nil || r == nil {
		return stream
	}
	for _, in := range c.graph.Inputs() {
		if in.Input == any(s) {
			s.id, s.name = in.ID, in.Name
		}
	}
	s.info = stream.Info
	c.blocks.add(s)
	return stream
}

// launch runs the receiver until ctx ends and what it stored is in the block log.
func (s *received[T]) launch(ctx context.Context, c *Context) error {
	tell := receiverEvents{ctx: c, info: ReceiverInfo{Stream: s.id, Name: s.name, LastErrorAt: Unknown}}
	sup, err := receivers.NewSupervisor(int32(s.id), s.receiver, s, receivers.Options{
		Generator: receivers.GeneratorOptions{
			BlockInterval:   c.opts.BlockInterval,
			MaxRate:         c.opts.MaxRate,
			MaxBlockRecords: int(min(receivers.DefaultMaxBlockRecords, c.opts.MaxPendingRecords)),
		},
		RestartDelay: c.opts.RestartDelay,
		FlushTimeout: -1, // the block log always makes room or is closed
		Clock:        c.opts.Clock,
		Listener: receivers.Listener{
			Started: func(_ int32, attempt int) { tell.started(attempt) },
			Error:   func(_ int32, err error) { tell.failed(err) },
			Stopped: func(_ int32, _ int, err error) { tell.stopped(err) },
		},
		Logger: c.opts.Logger,
	})
	if err != nil {
		return err
	}
	return sup.Run(ctx)
}

// receiverEvents keeps what is known of a receiver and tells listeners.
type receiverEvents struct {
	ctx  *Context
	mu   sync.Mutex // guards info
	info ReceiverInfo
}

func (r *receiverEvents) started(attempt int) {
	r.tell(func() { r.info.Active, r.info.Attempt = true, attempt },
		func(l *Listener) func(ReceiverInfo) { return l.ReceiverStarted })
}

func (r *receiverEvents) failed(err error) {
	r.tell(func() { r.info.LastError, r.info.LastErrorAt = err, r.ctx.opts.Clock.Now() },
		func(l *Listener) func(ReceiverInfo) { return l.ReceiverError })
}

func (r *receiverEvents) stopped(err error) {
	r.tell(func() {
		r.info.Active = false
		if err != nil {
			r.info.LastError, r.info.LastErrorAt = err, r.ctx.opts.Clock.Now()
		}
	}, func(l *Listener) func(ReceiverInfo) { return l.ReceiverStopped })
}

// tell changes the info and posts it to one function of the listeners.
func (r *receiverEvents) tell(change func(), which func(*Listener) func(ReceiverInfo)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	info := r.info
	r.ctx.bus.post(func(l *Listener) {
		if f := which(l); f != nil {
			f(info)
		}
	})
}
