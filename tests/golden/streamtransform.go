package golden

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

// ErrOutput is what the outputs and inner operations fail with that a case lets fail.
var ErrOutput = errors.New("output")

// transformed makes streams of RDD operations on each batch.
func (b *StreamBuilder) transformed(ctx context.Context, op StreamOperation, in []*Stream) (*Stream, error) {
	inner, err := parseInner(op)
	if err != nil {
		return nil, err
	}
	switch op.Op {
	case "transform":
		return streamOfRows(dstream.Transform(in[0].Rows(), func(r *rdd.RDD[Value], t dstream.Time) (*rdd.RDD[Value], error) {
			return inner.run(ctx, t, r)
		})), nil
	case "transformWith":
		return streamOfRows(dstream.TransformWith(in[0].Rows(), in[1].Rows(), func(r, other *rdd.RDD[Value], t dstream.Time) (*rdd.RDD[Value], error) {
			return inner.run(ctx, t, r, other)
		})), nil
	case "transformAll":
		all := make([]*dstream.DStream[Value], len(in))
		for i, s := range in {
			all[i] = s.Rows()
		}
		return streamOfRows(dstream.TransformAll(all, func(rdds []*rdd.RDD[Value], t dstream.Time) (*rdd.RDD[Value], error) {
			return inner.run(ctx, t, rdds...)
		})), nil
	}
	return nil, nil
}

// innerOps are the RDD operations of a transformation.
type innerOps struct {
	ops    []innerOp
	result string
}

// An innerOp is an RDD operation, or one of those that only a transformation has: time, fail-at, null-at.
type innerOp struct {
	Operation
	at    dstream.Time
	extra bool
}

func parseInner(op StreamOperation) (innerOps, error) {
	inner := innerOps{result: op.Result}
	for _, raw := range op.Ops {
		var extra struct {
			Name string       `json:"n"`
			Op   string       `json:"op"`
			In   Names        `json:"in"`
			T    dstream.Time `json:"t"`
		}
		if err := json.Unmarshal(raw, &extra); err != nil {
			return inner, err
		}
		switch extra.Op {
		case "time", "fail-at", "null-at":
			inner.ops = append(inner.ops, innerOp{Operation: Operation{Name: extra.Name, Op: extra.Op, In: extra.In}, at: extra.T, extra: true})
			continue
		}
		o, err := ParseOperation(raw)
		if err != nil {
			return inner, err
		}
		inner.ops = append(inner.ops, innerOp{Operation: o})
	}
	return inner, nil
}

// run makes the RDD of batch t; nil where the result is one that null-at took away.
func (x innerOps) run(ctx context.Context, t dstream.Time, in ...*rdd.RDD[Value]) (*rdd.RDD[Value], error) {
	b := NewBuilder(in[0].Context())
	for i, r := range in {
		b.Named[fmt.Sprintf("in%d", i)] = RowsOf(r)
	}
	for _, o := range x.ops {
		if err := o.build(ctx, b, t); err != nil {
			return nil, err
		}
	}
	d := b.Named[x.result]
	if d == nil {
		return nil, nil
	}
	return d.Rows(), nil
}

func (o innerOp) build(ctx context.Context, b *Builder, t dstream.Time) error {
	if !o.extra {
		_, err := b.Build(ctx, o.Operation)
		return err
	}
	if o.Op == "time" {
		b.Named[o.Name] = RowsOf(rdd.Parallelize(b.Context, []Value{int64(t)}, 1))
		return nil
	}
	if len(o.In) != 1 {
		return fmt.Errorf("operation %s of %d inputs", o.Op, len(o.In))
	}
	switch {
	case t != o.at:
		b.Named[o.Name] = b.Named[o.In[0]]
	case o.Op == "fail-at":
		return fmt.Errorf("operation %s: %w", o.Name, ErrOutput)
	}
	return nil
}
