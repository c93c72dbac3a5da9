package dstream

import (
	"context"
	"fmt"
	"slices"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/rdd"
)

// SaveTo writes every batch to a sink, which shows each batch once. Name is the output's name in the sink and in what a
// later process finds out about it: it stays what it is while the program changes around it.
//
// Its job stages the batch's rows (Job.Stage); they are shown when whoever runs the graph calls CommitOutput. Where the stream
// is absent there is no job.
//
// Order: the rows of a partition in their order; partitions are written at the same time, each by one writer an attempt.
// Cost: one task a partition.
// Errors: Start reports a nil sink, and a name that is empty, longer than 255 bytes or another output's, as ErrArgument; an
// error or panic of a writer fails the batch with a *rdd.UserError.
func SaveTo[T any](s *DStream[T], name string, to sink.Sink[T]) *Output {
	o := &Output{node: &node{op: "saveTo", parents: []*node{s.node}, slide: s.slide, output: true, sinkName: name, record: typeOf[T]()}}
	g := s.graph
	err := g.freeName(name)
	if err == nil && to == nil {
		err = fmt.Errorf("%w: the sink is nil", ErrArgument)
	}
	o.sink = to
	o.job = func(t Time) (*Job, error) {
		r, err := s.rddAt(t)
		if r == nil || err != nil {
			return nil, err
		}
		r = r.In(o.rddsAt(t))
		return &Job{Batch: t, Name: o.op, Site: o.site, Output: name, Stage: func(ctx context.Context, b sink.Batch) ([]byte, error) {
			return stage(ctx, b, r, to)
		}}, nil
	}
	g.add(o, err)
	return o
}

// maxSinkName is how long an output's name may be, which is how long that of a file may be.
const maxSinkName = 255

// freeName reports what is wrong with the name of an output.
func (g *Graph) freeName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: an output to a sink has no name", ErrArgument)
	case len(name) > maxSinkName:
		return fmt.Errorf("%w: an output's name of %d bytes, at most %d", ErrArgument, len(name), maxSinkName)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.ContainsFunc(g.nodes, func(n *node) bool { return n.sinkName == name }) {
		return fmt.Errorf("%w: there are two outputs of the name %q", ErrArgument, name)
	}
	return nil
}

// stage writes the rows of a batch to where the sink keeps what is not shown yet.
func stage[T any](ctx context.Context, b sink.Batch, r *rdd.RDD[T], to sink.Sink[T]) (staged []byte, err error) {
	parts, err := r.NumPartitions()
	if err != nil {
		return nil, err
	}
	if err := asked("begin", b, func() error { return to.Begin(ctx, b, parts) }); err != nil {
		return nil, err
	}
	notes, err := rdd.RunChunks(ctx, r, "saveTo", func(ctx context.Context, part int, rows rdd.Rows[T]) ([]byte, error) {
		return stagePart(ctx, b, part, rows, to)
	})
	if err != nil {
		return nil, fmt.Errorf("stage %v: %w", b, err)
	}
	err = asked("seal", b, func() (err error) {
		staged, err = to.Seal(ctx, b, notes)
		return err
	})
	if err != nil {
		return nil, err
	}
	return staged, nil
}

// stagePart writes one attempt at a partition.
func stagePart[T any](ctx context.Context, b sink.Batch, part int, rows rdd.Rows[T], to sink.Sink[T]) (note []byte, err error) {
	w, err := to.Part(ctx, b, part, attemptName(ctx, b))
	if err != nil {
		return nil, err
	}
	finished := false
	defer func() { // also where a writer panics, or ends the goroutine
		if !finished {
			_ = w.Abort(context.WithoutCancel(ctx)) // what it leaves is for Clean
		}
	}()
	if err := rows.Each(w.Write); err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err // the job is over
	}
	if note, err = w.Finish(ctx); err != nil {
		return nil, err
	}
	finished = true
	return note, nil
}

// attemptName names the attempt that ctx belongs to: no other driver has the epoch, no other run of the batch the
// try, and no other attempt of that run the task.
func attemptName(ctx context.Context, b sink.Batch) string {
	var task int64
	if t, ok := rdd.TaskFrom(ctx); ok {
		task = t.Task
	}
	return fmt.Sprintf("%d.%d.%d", b.Epoch, b.Try, task)
}

// asked calls a method of a sink in the driver and says which one failed, however it ends.
func asked(method string, b sink.Batch, f func() error) error {
	var err error
	if broken := apart(func() { err = f() }); broken != nil {
		err = broken
	}
	if err != nil {
		return fmt.Errorf("%s %v: %w", method, b, err)
	}
	return nil
}
