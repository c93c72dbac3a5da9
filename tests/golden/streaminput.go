package golden

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers/queue"
	"github.com/leat-io/leat/streamingcontext"
)

// input declares the streams that come from nowhere.
func (b *StreamBuilder) input(_ context.Context, op StreamOperation, _ []*Stream) (*Stream, error) {
	parts := 2
	if op.Parts != nil {
		parts = *op.Parts
	}
	switch op.Op {
	case "rows":
		in := &rowsInput{builder: b, name: op.Name, parts: parts}
		for _, raw := range op.Batches {
			rows, err := batchOf(raw)
			if err != nil {
				return nil, err
			}
			in.batches = append(in.batches, rows)
		}
		return streamOfRows(dstream.NewInput(b.Context.Graph(), "rows", "Rows stream", in)), nil
	case "constant":
		rows, err := ParseValues(op.Data)
		if err != nil {
			return nil, err
		}
		return streamOfRows(streamingcontext.Constant(b.Context, rdd.Parallelize(b.Context.RDDs(), rows, parts))), nil
	case "queue":
		return b.queue(op)
	case "textFiles":
		var opts []streamingcontext.FileOption
		if op.NewFilesOnly != nil && !*op.NewFilesOnly {
			opts = append(opts, streamingcontext.IncludeExisting())
		}
		if op.AnyName {
			opts = append(opts, streamingcontext.FileFilter(func(string) bool { return true }))
		}
		lines := b.Context.TextFiles(b.Dir+op.Glob, opts...)
		s := streamOfRows(dstream.Map(lines, Text))
		s.made = lines
		return s, nil
	}
	return nil, nil
}

// batchOf reads the records of a batch; nil where it is absent.
func batchOf(raw json.RawMessage) ([]Value, error) {
	if string(raw) == "null" {
		return nil, nil
	}
	return parseList(raw)
}

func (b *StreamBuilder) queue(op StreamOperation) (*Stream, error) {
	var opts []streamingcontext.QueueOption
	if op.OneAtATime != nil && !*op.OneAtATime {
		opts = append(opts, streamingcontext.AllAtOnce())
	}
	if op.Default != nil {
		rows, err := batchOf(op.Default)
		if err != nil {
			return nil, err
		}
		var otherwise *rdd.RDD[Value]
		if rows != nil {
			otherwise = rdd.Parallelize(b.Context.RDDs(), rows, 1)
		}
		opts = append(opts, streamingcontext.OtherwiseRDD(otherwise))
	}
	q := &queue.Queue[*rdd.RDD[Value]]{}
	b.Queues[op.Name] = q
	return streamOfRows(streamingcontext.QueueStream(b.Context, q, opts...)), nil
}

// push adds an RDD to a queue.
func (b *StreamBuilder) push(to string, rows []Value, parts int) error {
	q := b.Queues[to]
	if q == nil {
		return fmt.Errorf("push: no queue %s", to)
	}
	q.Push(rdd.Parallelize(b.Context.RDDs(), rows, parts))
	return nil
}

// rowsInput gives the batches of a case, any of them again, and notes which it was asked for.
type rowsInput struct {
	builder *StreamBuilder
	name    string
	batches [][]Value
	parts   int
}

// batch returns the records of the batch at t, and whether it is present.
func (in *rowsInput) batch(t dstream.Time) ([]Value, bool) {
	k := int64(t-in.builder.Zero)/in.builder.Context.Interval().Milliseconds() - 1
	if k < 0 || k >= int64(len(in.batches)) {
		return nil, true
	}
	return in.batches[k], in.batches[k] != nil
}

// RDD implements dstream.Input.
func (in *rowsInput) RDD(c *rdd.Context, t dstream.Time) (*rdd.RDD[Value], error) {
	in.builder.Asked.add(in.name, t)
	rows, ok := in.batch(t)
	if !ok {
		return nil, nil
	}
	r := rdd.Parallelize(c, rows, in.parts)
	return r, r.Err()
}

// Report implements dstream.InputReporter.
func (in *rowsInput) Report(t dstream.Time) (records int64, description string, ok bool) {
	rows, ok := in.batch(t)
	return int64(len(rows)), "", ok
}

// An AskedLog holds for which batches the rows inputs were asked, each once.
type AskedLog struct {
	mu    sync.Mutex // guards asked
	asked []string
}

func (l *AskedLog) add(name string, t dstream.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := fmt.Sprintf("%s@%d", name, int64(t)); !slices.Contains(l.asked, at) {
		l.asked = append(l.asked, at)
	}
}

// Sorted returns what was asked, as "name@time".
func (l *AskedLog) Sorted() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(slices.Values(l.asked))
}
