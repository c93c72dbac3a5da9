package streamingcontext

import (
	"context"

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
	if c.durable != nil && c.durable.blocks == nil && !c.durable.copied {
		c.refuse(op, ErrNoFolder)
	} else if c.durable != nil {
		logged, err := newLoggedBlocks[T](c.durable)
		if err != nil {
			c.refuse(op, err)
		}
		s.logged = logged
	}
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
	host := ""
	if at, ok := r.(receivers.Placed); ok {
		host = at.PreferredHost()
	}
	s.tracker, s.state = c.receivers, c.receivers.add(s.id, s.name, host)
	c.blocks.add(s)
	return stream
}

// Receivers returns what is known of the context's receivers, in the order declared: where they run, at what rate, and
// what they reported last. It is empty before any is declared.
func (c *Context) Receivers() []ReceiverInfo { return c.receivers.infos() }

// launch runs the receiver until ctx ends and what it stored is in the block log.
func (s *received[T]) launch(ctx context.Context, c *Context) error {
	t := c.receivers
	sup, err := receivers.NewSupervisor(int32(s.id), s.receiver, s, receivers.Options{
		Generator: receivers.GeneratorOptions{
			BlockInterval:   c.opts.BlockInterval,
			MaxRate:         c.opts.MaxRate,
			InitialRate:     c.opts.Backpressure.InitialRate,
			MaxBlockRecords: int(min(receivers.DefaultMaxBlockRecords, c.opts.MaxPendingRecords)),
		},
		RestartDelay: c.opts.RestartDelay,
		FlushTimeout: -1, // the block log always makes room or is closed
		Clock:        c.opts.Clock,
		Listener: receivers.Listener{
			Started: func(_ int32, attempt int) { t.started(s.state, attempt) },
			Error:   func(_ int32, err error) { t.failed(s.state, err) },
			Stopped: func(_ int32, _ int, err error) { t.stopped(s.state, err) },
		},
		Logger: c.opts.Logger,
	})
	if err != nil {
		return err
	}
	t.launched(s.state, sup)
	return sup.Run(ctx)
}
