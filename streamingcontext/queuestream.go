package streamingcontext

import (
	"encoding/binary"
	"fmt"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers/queue"
)

// A QueueOption is an option of QueueStream.
type QueueOption func(*queueConfig)

type queueConfig struct {
	allAtOnce bool
	otherwise any // an *rdd.RDD[T], nil if not set
}

// AllAtOnce gives a batch everything that is in the queue, as one RDD, instead of the oldest RDD.
func AllAtOnce() QueueOption { return func(c *queueConfig) { c.allAtOnce = true } }

// OtherwiseRDD is what a batch gets when the queue is empty; nil is an RDD without partitions. Without this
// option it is an RDD of one partition without records.
func OtherwiseRDD[T any](r *rdd.RDD[T]) QueueOption {
	return func(c *queueConfig) { c.otherwise = r }
}

// QueueStream declares the stream of the RDDs in q: one a batch, oldest first. It is for tests and for programs
// that make their own batches; the program may push at any time.
//
// Shape: as the RDDs; with AllAtOnce as rdd.UnionAll of them. Never absent.
// Errors: Start reports a nil q and an option of another type; a nil RDD in q fails the batch. Each RDD is
// given once: a batch that must be made again after it was forgotten fails with ErrQueueNotRecoverable, and a program that is
// recovered with a batch that had one is refused with ErrNotReplayable.
func QueueStream[T any](ssc *Context, q *queue.Queue[*rdd.RDD[T]], opts ...QueueOption) *dstream.DStream[T] {
	const op = "queue"
	var config queueConfig
	for _, opt := range opts {
		if opt != nil {
			opt(&config)
		}
	}
	in := &queueInput[T]{queue: q, name: "Queue stream", allAtOnce: config.allAtOnce, noneParts: 1}
	if config.otherwise != nil {
		otherwise, ok := config.otherwise.(*rdd.RDD[T])
		if !ok {
			ssc.refuse(op, fmt.Errorf("%w: default of type %T in a stream of %T", dstream.ErrArgument, config.otherwise, *new(T)))
		}
		in.otherwise, in.noneParts = otherwise, 0
	}
	if q == nil {
		ssc.refuse(op, fmt.Errorf("%w: the queue is nil", dstream.ErrArgument))
	}
	s := dstream.NewInput[T](ssc.graph, op, in.name, in)
	in.name = nameOf(ssc.graph, in, in.name)
	return s
}

// nameOf returns the name of the stream that was declared with an input, or the one given if there is none.
func nameOf(g *dstream.Graph, in any, otherwise string) string {
	for _, s := range g.Inputs() {
		if s.Input == in {
			return s.Name + ", declared at " + s.Site
		}
	}
	return otherwise
}

// queueInput is the input of QueueStream. The graph calls it one call at a time.
type queueInput[T any] struct {
	queue     *queue.Queue[*rdd.RDD[T]]
	allAtOnce bool
	otherwise *rdd.RDD[T]
	noneParts int    // partitions of the RDD for an empty queue where there is no other
	name      string // for people
	last      dstream.Time
	took      int                       // RDDs that the last batch had
	replayed  map[dstream.Time]struct{} // batches of the program before, which had none
}

func (in *queueInput[T]) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[T], error) {
	if _, ok := in.replayed[t]; ok {
		return in.none(c)
	}
	if t <= in.last {
		return nil, fmt.Errorf("queue stream at %s: %w", t, ErrQueueNotRecoverable)
	}
	in.last = t
	var taken []*rdd.RDD[T]
	if in.allAtOnce {
		taken = in.queue.PopAll()
	} else if r, ok := in.queue.Pop(); ok {
		taken = []*rdd.RDD[T]{r}
	}
	in.took = len(taken)
	for _, r := range taken {
		if r == nil {
			return nil, fmt.Errorf("queue stream: %w", dstream.ErrNilRDD)
		}
	}
	switch {
	case len(taken) == 1:
		return taken[0].In(c), taken[0].Err()
	case len(taken) > 1:
		return rdd.UnionAll(c, taken...), nil
	}
	return in.none(c)
}

// none returns the RDD for an empty queue.
func (in *queueInput[T]) none(c *rdd.Context) (*rdd.RDD[T], error) {
	switch {
	case in.otherwise != nil:
		return in.otherwise.In(c), in.otherwise.Err()
	case in.noneParts == 0:
		return rdd.Empty[T](c), nil
	}
	return rdd.Parallelize[T](c, nil, in.noneParts), nil
}

// Record returns how many RDDs batch t had; t is the last batch that was asked for, or none was asked for at t.
func (in *queueInput[T]) Record(t dstream.Time) ([]byte, error) {
	switch {
	case t > in.last:
		return binary.AppendUvarint(nil, 0), nil
	case t < in.last:
		return nil, fmt.Errorf("record batch %s of %s: the last batch is %s", t, in.name, in.last)
	}
	return binary.AppendUvarint(nil, uint64(in.took)), nil
}

// Replay accepts a batch that had no RDD of the queue; it gets what an empty queue gives.
//
// Errors: ErrNotReplayable and ErrQueueNotRecoverable for a batch that had one; the RDD went with the program.
func (in *queueInput[T]) Replay(t dstream.Time, recorded []byte) error {
	took, n := binary.Uvarint(recorded)
	if n <= 0 || n != len(recorded) {
		return fmt.Errorf("replay batch %s of %s: %w: record of %d bytes", t, in.name, dstream.ErrArgument, len(recorded))
	}
	if took > 0 {
		return fmt.Errorf("replay batch %s of %s, which had %d RDDs: %w: %w", t, in.name, took, ErrNotReplayable, ErrQueueNotRecoverable)
	}
	if in.replayed == nil {
		in.replayed = map[dstream.Time]struct{}{}
	}
	in.replayed[t] = struct{}{}
	in.last = max(in.last, t)
	return nil
}

// Forget drops what is known of replayed batches up to a time.
func (in *queueInput[T]) Forget(upTo dstream.Time) {
	for t := range in.replayed {
		if t <= upTo {
			delete(in.replayed, t)
		}
	}
}
