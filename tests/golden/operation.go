package golden

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/leat-io/leat/rdd"
)

// An Operation is one node of a case.
type Operation struct {
	Name     string            `json:"n"`
	Op       string            `json:"op"`
	In       Names             `json:"in"`
	Data     []json.RawMessage `json:"data"`
	Parts    *int              `json:"parts"`
	Start    int64             `json:"start"`
	End      int64             `json:"end"`
	Step     int64             `json:"step"`
	F        string            `json:"f"`
	Preserve bool              `json:"preserve"`
	Num      *int              `json:"num"`
	P        string            `json:"p"`
	Shuffle  bool              `json:"shuffle"`
	Asc      *bool             `json:"asc"`
	MapSide  *bool             `json:"mapSide"`
	Zero     json.RawMessage   `json:"zero"`
	Seq      string            `json:"seq"`
	Comb     string            `json:"comb"`
	Lo       json.RawMessage   `json:"lo"`
	Hi       json.RawMessage   `json:"hi"`
}

// Names are the inputs of an operation: one name, or a list of them.
type Names []string

// UnmarshalJSON reads either form.
func (n *Names) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*n = Names{one}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(n))
}

// ParseOperation reads a node. A field it does not know is a NotBuiltError, since the operation would
// then mean something else.
func ParseOperation(raw json.RawMessage) (Operation, error) {
	var op Operation
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&op); err != nil {
		return op, &NotBuiltError{What: "operation", Name: fmt.Sprintf("%s (%v)", raw, err)}
	}
	return op, nil
}

// A Builder makes the datasets of a case, in the order of its nodes. New RDDs are made in Context.
type Builder struct {
	Context *rdd.Context
	Named   map[string]*Dataset
}

// NewBuilder returns a builder that knows no dataset yet.
func NewBuilder(c *rdd.Context) *Builder {
	return &Builder{Context: c, Named: map[string]*Dataset{}}
}

// Build makes the dataset of an operation and keeps it under the operation's name.
//
// Errors: *NotBuiltError for words it does not know; what the operation itself returned.
func (b *Builder) Build(ctx context.Context, op Operation) (*Dataset, error) {
	in := make([]*Dataset, len(op.In))
	for i, name := range op.In {
		if in[i] = b.Named[name]; in[i] == nil {
			return nil, fmt.Errorf("operation %s: no node %s before it", op.Name, name)
		}
	}
	d, err := b.operate(ctx, op, in)
	if err != nil {
		return nil, err
	}
	b.Named[op.Name] = d
	return d, d.Err()
}

// inputs says how many inputs an operation takes at least and at most.
var inputs = map[string][2]int{
	"parallelize": {0, 0}, "range": {0, 0}, "empty": {0, 0}, "union": {1, 99}, "cogroup": {2, 4},
	"cartesian": {2, 2}, "zip": {2, 2}, "zipPartitions": {2, 2}, "intersection": {2, 2}, "subtract": {2, 2},
	"join": {2, 2}, "leftOuterJoin": {2, 2}, "rightOuterJoin": {2, 2}, "fullOuterJoin": {2, 2}, "subtractByKey": {2, 2},
}

func (b *Builder) operate(ctx context.Context, op Operation, in []*Dataset) (*Dataset, error) {
	bounds, ok := inputs[op.Op]
	if !ok {
		bounds = [2]int{1, 1}
	}
	if len(in) < bounds[0] || len(in) > bounds[1] {
		return nil, &NotBuiltError{What: "operation", Name: fmt.Sprintf("%s of %d inputs", op.Op, len(in))}
	}
	for _, family := range []func(context.Context, Operation, []*Dataset) (*Dataset, error){
		b.source, b.narrow, b.layout, b.byKey, b.grouped, b.ordered,
	} {
		if d, err := family(ctx, op, in); d != nil || err != nil {
			return d, err
		}
	}
	return nil, &NotBuiltError{What: "operation", Name: op.Op}
}

// keyOptions are the options of the operation's num, p and mapSide.
func (b *Builder) keyOptions(op Operation) ([]rdd.KeyOption, error) {
	var opts []rdd.KeyOption
	if op.P != "" {
		p, err := b.partitioner(op.P)
		if err != nil {
			return nil, err
		}
		opts = append(opts, rdd.PartitionedBy(p))
	}
	if op.Num != nil {
		opts = append(opts, rdd.NumPartitions(*op.Num))
	}
	if op.MapSide != nil && !*op.MapSide {
		opts = append(opts, rdd.WithoutMapSideCombine())
	}
	return opts, nil
}

// partitioner returns the partitioner a case names.
func (b *Builder) partitioner(p string) (rdd.Partitioner[Value], error) {
	name, arg := split(p)
	if name == "of" {
		if d := b.Named[arg]; d != nil {
			if known, ok := d.Partitioner().(rdd.Partitioner[Value]); ok {
				return known, nil
			}
		}
		return nil, fmt.Errorf("node %s has no partitioner", arg)
	}
	n, err := strconv.Atoi(arg)
	switch {
	case err == nil && name == "hash":
		return rdd.Hash[Value](n), nil
	case err == nil && name == "tens":
		return rdd.PartitionFunc("tens", n, func(k Value) int { return int(floorMod(integer(k)/10, int64(n))) }), nil
	}
	return nil, &NotBuiltError{What: "partitioner", Name: p}
}
