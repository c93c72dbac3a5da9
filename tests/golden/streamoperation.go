package golden

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/receivers/queue"
	"github.com/leat-io/leat/streamingcontext"
)

// A StreamOperation is one node of a DStream case. Times are in milliseconds.
type StreamOperation struct {
	Name string `json:"n"`
	Op   string `json:"op"`
	In   Names  `json:"in"`
	F    string `json:"f"`
	Num  *int   `json:"num"`
	P    string `json:"p"`
	Ctx  bool   `json:"ctx"` // a union through the context: the same in this API

	// Inputs.
	Batches      []json.RawMessage `json:"batches"`
	Data         []json.RawMessage `json:"data"`
	Parts        *int              `json:"parts"`
	OneAtATime   *bool             `json:"oneAtATime"`
	Default      json.RawMessage   `json:"default"`
	Glob         string            `json:"glob"`
	NewFilesOnly *bool             `json:"newFilesOnly"`
	AnyName      bool              `json:"anyName"`

	// Transformations by RDD operations.
	Ops    []json.RawMessage `json:"ops"`
	Result string            `json:"result"`

	// Windows.
	Inv    string `json:"inv"`
	Window int64  `json:"window"`
	Slide  int64  `json:"slide"` // 0: the parent's
	Filter string `json:"filter"`

	// State.
	Form         string             `json:"form"`
	Remember     *bool              `json:"remember"`
	Initial      *[]json.RawMessage `json:"initial"`
	InitialParts *int               `json:"initialParts"`
	Timeout      *int64             `json:"timeout"`

	// Of any node.
	Persist    string `json:"persist"`
	Checkpoint *int64 `json:"checkpoint"`
}

// ParseStreamOperation reads a node. A field it does not know is a NotBuiltError.
func ParseStreamOperation(raw json.RawMessage) (StreamOperation, error) {
	var op StreamOperation
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&op); err != nil {
		return op, &NotBuiltError{What: "stream operation", Name: fmt.Sprintf("%s (%v)", raw, err)}
	}
	return op, nil
}

// milliseconds returns a duration of a case.
func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// A StreamBuilder declares the streams of a case, in the order of its nodes.
type StreamBuilder struct {
	Context *streamingcontext.Context
	Dir     string       // where the files of textFiles inputs are
	Zero    dstream.Time // set before the context is started
	Named   map[string]*Stream
	Queues  map[string]*queue.Queue[*rdd.RDD[Value]]
	Asked   *AskedLog
}

// NewStreamBuilder returns a builder that knows no stream yet.
func NewStreamBuilder(c *streamingcontext.Context, dir string, asked *AskedLog) *StreamBuilder {
	return &StreamBuilder{
		Context: c, Dir: dir, Asked: asked,
		Named: map[string]*Stream{}, Queues: map[string]*queue.Queue[*rdd.RDD[Value]]{},
	}
}

// direct are the operations whose stream is made from its parent without an internal one between.
var direct = map[string]bool{
	"map": true, "flatMap": true, "filter": true, "mapPartitions": true, "glom": true, "mapValues": true,
	"flatMapValues": true, "groupByKey": true, "reduceByKey": true, "combineByKey": true, "window": true,
	"updateStateByKey": true, "transform": true, "transformWith": true, "transformAll": true, "union": true,
}

// internal says how many streams an operation declares between its stream and its parent, the same as those of cases.
// Those of windows are there with inverse only.
var internal = map[string]int{
	"mapWithState": 1, "reduceByKeyAndWindow": 1, "countByValueAndWindow": 2, "reduceByWindow": 3, "countByWindow": 4,
}

// layouts says of the operations that do not hand on their inputs' number of partitions whether theirs is
// defined. That of count is not: one partition will do for one number. Nor is how files are cut.
var layouts = map[string]bool{
	"count": false, "textFiles": false, "reduce": true, "repartition": true, "countByValue": true, "groupByKey": true, "reduceByKey": true,
	"combineByKey": true, "cogroup": true, "join": true, "leftOuterJoin": true, "rightOuterJoin": true, "fullOuterJoin": true,
	"reduceByWindow": true, "countByWindow": true, "countByValueAndWindow": true, "groupByKeyAndWindow": true,
	"reduceByKeyAndWindow": true, "updateStateByKey": true, "mapWithState": true, "stateSnapshots": true,
}

// Build declares the stream of an operation and keeps it under the operation's name.
//
// Errors: *NotBuiltError for words it does not know; what is wrong with the declaration.
func (b *StreamBuilder) Build(ctx context.Context, op StreamOperation) (*Stream, error) {
	in := make([]*Stream, len(op.In))
	for i, name := range op.In {
		if in[i] = b.Named[name]; in[i] == nil {
			return nil, fmt.Errorf("operation %s: no stream %s before it", op.Name, name)
		}
	}
	s, err := b.operate(ctx, op, in)
	if err != nil {
		return nil, err
	}
	for _, parent := range in {
		s.counted = s.counted && parent.counted
	}
	if defined, ok := layouts[op.Op]; ok {
		s.counted = defined
	}
	n, has := internal[op.Op]
	switch {
	case len(in) > 0 && direct[op.Op]:
		s.parent = in[0]
	case has && (op.Inv != "" || op.F == "" || op.Op == "mapWithState"):
		s.behind(n, in[0])
	case op.Op == "stateSnapshots":
		s.parent = in[0].parent
	}
	b.Named[op.Name] = s
	if err := s.made.Err(); err != nil {
		return s, err
	}
	return s, s.keep(op)
}

// keep persists and checkpoints as the operation says.
func (s *Stream) keep(op StreamOperation) error {
	if op.Persist != "" {
		if err := s.persist(op.Persist); err != nil {
			return err
		}
	}
	if op.Checkpoint != nil {
		return s.kept.Checkpoint(milliseconds(*op.Checkpoint))
	}
	return nil
}

// persist keeps the stream at a level by name.
func (s *Stream) persist(level string) error {
	for _, known := range []rdd.StorageLevel{rdd.MemoryOnlySer(), rdd.MemoryOnly()} {
		if level == known.String() || level == "default" {
			return s.kept.Persist(known)
		}
	}
	return &NotBuiltError{What: "storage level", Name: level}
}

// arity says how many inputs an operation on streams takes at least and at most; else it is one.
var arity = map[string][2]int{
	"rows": {0, 0}, "queue": {0, 0}, "constant": {0, 0}, "textFiles": {0, 0}, "union": {1, 99}, "transformAll": {1, 99},
	"transformWith": {2, 2}, "cogroup": {2, 2}, "join": {2, 2}, "leftOuterJoin": {2, 2}, "rightOuterJoin": {2, 2}, "fullOuterJoin": {2, 2},
}

func (b *StreamBuilder) operate(ctx context.Context, op StreamOperation, in []*Stream) (*Stream, error) {
	bounds, ok := arity[op.Op]
	if !ok {
		bounds = [2]int{1, 1}
	}
	if len(in) < bounds[0] || len(in) > bounds[1] {
		return nil, &NotBuiltError{What: "stream operation", Name: fmt.Sprintf("%s of %d inputs", op.Op, len(in))}
	}
	for _, family := range []func(context.Context, StreamOperation, []*Stream) (*Stream, error){
		b.input, b.narrow, b.combined, b.joined, b.windowed, b.stateful, b.transformed,
	} {
		if s, err := family(ctx, op, in); s != nil || err != nil {
			return s, err
		}
	}
	return nil, &NotBuiltError{What: "stream operation", Name: op.Op}
}

// keyOptions are the options of the operation's num and p.
func (b *StreamBuilder) keyOptions(op StreamOperation) ([]rdd.KeyOption, error) {
	return (&Builder{}).keyOptions(Operation{Num: op.Num, P: op.P})
}
