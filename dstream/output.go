package dstream

import (
	"context"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/lineage"
	"github.com/leat-io/leat/rdd"
)

// An Output is an output operation: it gives one job for each batch of its stream.
type Output struct {
	*node
	job  func(t Time) (*Job, error) // nil: no job at t
	sink committing                 // of SaveTo; nil for other outputs
}

// Err returns what is wrong with the declaration, nil if nothing is.
func (o *Output) Err() error { return o.node.err }

// A Job is what one output does for one batch.
type Job struct {
	Batch Time
	ID    int    // position among the batch's jobs
	Name  string // the output operation, as in "print"
	Site  string // file and line of its declaration
	// Run does it, on the caller's goroutine; it starts the RDD jobs it needs. It is nil where Stage is set.
	Run func(ctx context.Context) error
	// Output is the name of an output to a sink, empty for other outputs.
	Output string
	// Stage writes the rows of an output to a sink where nobody sees them, and returns what Graph.CommitOutput shows them
	// with. b names the batch, the output and the try.
	Stage func(ctx context.Context, b sink.Batch) (staged []byte, err error)
}

// ForeachRDD calls f with the RDD of every batch in which the stream has one. f runs in the driver,
// when the batch's turn has come; what it does with the RDD is up to it, and without an action
// nothing is computed.
//
// Order: outputs of a batch run in the order declared, batches in the order of their times, unless the
// context runs several jobs at once.
// Errors: an error of f fails the batch. A batch that is run again after a failure calls f again: side
// effects happen at least once.
// Source: Zaharia et al., "Discretized Streams", SOSP 2013, section on output operators.
func ForeachRDD[T any](s *DStream[T], f func(ctx context.Context, r *rdd.RDD[T], t Time) error) *Output {
	return output(s, "foreachRDD", f)
}

func output[T any](s *DStream[T], op string, f func(context.Context, *rdd.RDD[T], Time) error) *Output {
	var err error
	if f == nil {
		err = ErrNilFunction
	}
	o := &Output{node: &node{op: op, parents: []*node{s.node}, slide: s.slide, output: true}}
	o.job = func(t Time) (*Job, error) {
		r, err := s.rddAt(t)
		if r == nil || err != nil {
			return nil, err
		}
		// What f derives is made in the output's own scope and forgotten with the batch.
		r = r.In(o.rddsAt(t))
		return &Job{Batch: t, Name: op, Site: o.site, Run: func(ctx context.Context) error { return f(ctx, r, t) }}, nil
	}
	s.graph.add(o, err)
	return o
}

// add declares an output.
func (g *Graph) add(o *Output, err error) {
	g.declare(o.node, err)
	if o.node.err == nil {
		g.mu.Lock()
		g.outputs = append(g.outputs, o)
		g.mu.Unlock()
	}
}

// Generate makes the RDDs of batch t and returns the jobs of the outputs that have one, in the
// order declared.
//
// Errors: a *GenerationError with the operator at fault; no output of the batch may run then.
func (g *Graph) Generate(t Time) ([]Job, error) {
	g.generating.Lock()
	defer g.generating.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.started {
		return nil, ErrNotInitialized
	}
	var jobs []Job
	for _, o := range g.outputs {
		j, err := o.job(t)
		if err != nil {
			return nil, err
		}
		if j != nil {
			j.ID = len(jobs)
			jobs = append(jobs, *j)
		}
	}
	return jobs, nil
}

// ForgetOutputs drops what the outputs derived for batch t in their own right. It is called when
// all jobs of the batch have ended.
func (g *Graph) ForgetOutputs(t Time) {
	g.mu.Lock()
	scopes := make([]lineage.Scope, len(g.outputs))
	for i, o := range g.outputs {
		scopes[i] = o.scope(t)
	}
	g.mu.Unlock()
	g.rdds.Forget(scopes...)
}
