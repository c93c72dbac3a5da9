package oracle

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// A builder makes the RDDs or streams of a plan.
type builder struct {
	ctx    context.Context // of the check, with which it dies
	plan   *Plan
	config Config
	c      *rdd.Context
	faults *faults
	graph  *dstream.Graph // for streams
	errs   []error
	// dir is where steps save what they read back, each in a folder of its own.
	dir     string
	folders *atomic.Int64
	// broadcasts are those of steps.
	broadcasts []*rdd.Broadcast[[]Row]
}

// folder returns the path of a folder that is not there yet.
func (b *builder) folder() string { return filepath.Join(b.dir, fmt.Sprint("saved", b.folders.Add(1))) }

// tick is called by the functions of the pipeline, so that executors can be lost in the middle of
// one.
func (b *builder) tick() { b.faults.called() }

func (b *builder) itself(v int64) int64 { b.tick(); return v }

func (b *builder) ticking(f func(x, y int64) int64) func(x, y int64) int64 {
	return func(x, y int64) int64 { b.tick(); return f(x, y) }
}

// note keeps an error of a declaration.
func (b *builder) note(err error) {
	if err != nil {
		b.errs = append(b.errs, err)
	}
}

// checkpoint asks for a checkpoint of a stream every so many slides, 0 for the default.
func (b *builder) checkpoint(s interface {
	Slide() time.Duration
	Checkpoint(time.Duration) error
}, every int) {
	if every > 0 {
		b.note(s.Checkpoint(time.Duration(every) * s.Slide()))
	}
}

// batchOf returns the number of a batch, from 1.
func (b *builder) batchOf(t dstream.Time) int64 { return (int64(t) - b.plan.Zero) / b.plan.Interval }

// timeOf is the time of a batch.
func (b *builder) timeOf(batch int) dstream.Time {
	return dstream.Time(b.plan.Zero + int64(batch)*b.plan.Interval)
}

// source returns the RDD of one batch of a source, nil where it is absent.
func (b *builder) source(c *rdd.Context, s Source, batch int) rows {
	now := s.Batches[batch]
	switch {
	case !now.Present:
		return nil
	case s.Blocks && b.config.Local && len(now.Rows) <= 12:
		return rdd.MakeRDD(c, placed(now.Rows))
	case s.Blocks:
		return rdd.FromBlocks(c, cut(now.Rows, b.config.Parts))
	default:
		return rdd.Parallelize(c, now.Rows, b.config.Parts)
	}
}

// placed gives each row a partition that prefers an executor, some one that there is not.
func placed(in []Row) []rdd.Located[Row] {
	var all []rdd.Located[Row]
	for i, r := range in {
		all = append(all, rdd.Located[Row]{Row: r, Hosts: []string{fmt.Sprint("local-", i%4)}})
	}
	return all
}

// cut returns rows as blocks of unequal length, none without rows.
func cut(in []Row, parts int) [][]Row {
	var blocks [][]Row
	unit := 1 + len(in)/500 // many rows still make few blocks
	for n := 1; len(in) > 0; n = (n*2 + 1) % (4*parts + 1) {
		next := min(n*unit, len(in))
		blocks = append(blocks, in[:next:next])
		in = in[next:]
	}
	return blocks
}

// rdds returns the RDDs of all steps.
func (b *builder) rdds() ([]rows, error) {
	var sources, steps []rows
	for _, s := range b.plan.Sources {
		sources = append(sources, b.source(b.c, s, 1))
	}
	for _, s := range b.plan.Steps {
		r, err := s.op.batch(b, s, inputs(s, sources, steps)...)
		if err != nil {
			return nil, err
		}
		steps = append(steps, r)
	}
	return steps, nil
}

// inputs returns what a step is applied to.
func inputs[T any](s Step, sources, steps []T) []T {
	var in []T
	for _, i := range s.In {
		if i < 0 {
			in = append(in, sources[^i])
		} else {
			in = append(in, steps[i])
		}
	}
	return in
}

// streams returns the streams of all steps.
func (b *builder) streams() ([]stream, error) {
	var sources, steps []stream
	for _, s := range b.plan.Sources {
		sources = append(sources, dstream.NewInput[Row](b.graph, "slices", "Slices", slicesInput{b, s}))
	}
	for _, s := range b.plan.Steps {
		in := inputs(s, sources, steps)
		if s.op.stream != nil {
			steps = append(steps, s.op.stream(b, s, in...))
		} else {
			steps = append(steps, b.transformed(s, in))
		}
	}
	return steps, errors.Join(b.errs...)
}

// transformed applies a step that has no operator of its own on streams.
func (b *builder) transformed(s Step, in []stream) stream {
	if len(in) == 1 {
		return dstream.Transform(in[0], func(r rows, _ dstream.Time) (rows, error) { return s.op.batch(b, s, r) })
	}
	return dstream.TransformWith(in[0], in[1], func(r, other rows, _ dstream.Time) (rows, error) {
		return s.op.batch(b, s, r, other)
	})
}

// slicesInput gives the batches of a source to a stream.
type slicesInput struct {
	b *builder
	s Source
}

// RDD returns a batch's rows.
func (in slicesInput) RDD(c *rdd.Context, t dstream.Time) (rows, error) {
	return in.b.source(c, in.s, int(in.b.batchOf(t))), nil
}
