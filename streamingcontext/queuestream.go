package streamingcontext

import (
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
// given once: a batch that must be made again after it was forgotten fails with ErrQueueNotRecoverable.
func QueueStream[T any](ssc *Context, q *queue.Queue[*rdd.RDD[T]], opts ...QueueOption) *dstream.DStream[T] {
	const op = "queue"
	var config queueConfig
	for _, opt := range opts {
		if opt != nil {
			opt(&config)
		}
	}
	in := &queueInput[T]{queue: q, allAtOnce: config.allAtOnce, noneParts: 1}
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
	return dstream.NewInput[T](ssc.graph, op, "Queue stream", in)
}

// queueInput is the input of QueueStream. The graph calls it one call at a time.
type queueInput[T any] struct {
	queue     *queue.Queue[*rdd.RDD[T]]
	allAtOnce bool
	otherwise *rdd.RDD[T]
	noneParts int // partitions of the RDD for an empty queue where there is no other
	last      dstream.Time
}

func (in *queueInput[T]) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[T], error) {
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
	case in.otherwise != nil:
		return in.otherwise.In(c), in.otherwise.Err()
	case in.noneParts == 0:
		return rdd.Empty[T](c), nil
	}
	return rdd.Parallelize[T](c, nil, in.noneParts), nil
}
