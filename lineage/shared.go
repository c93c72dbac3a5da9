package lineage

import "context"

// BroadcastID numbers the broadcasts of one application. It is never reused.
type BroadcastID int64

// A Broadcast is a value that tasks read, encoded when it was made.
type Broadcast struct {
	ID    BroadcastID
	Codec Codec
	// Fetch returns the encoded value. It is called by an executor that does not have it yet, from a
	// task's goroutine, and may block until ctx is done. An error fails the task.
	Fetch func(ctx context.Context) ([]byte, error)
}

// AccumulatorID numbers the accumulators of one application. It is never reused.
type AccumulatorID int64

// An Accumulator is a value that tasks add to and the driver reads.
type Accumulator struct {
	ID    AccumulatorID
	Name  string // shown to listeners; empty: not shown
	Codec Codec
	// Zero makes a task's own part. The task changes it in place.
	Zero func() Block
}

// An Update is what one task has added to one accumulator.
type Update struct {
	ID   AccumulatorID
	Name string
	// Value is the task's part; Data is set in its place where it came as bytes.
	Value Block
	Data  []byte
}

// Properties are what the caller of an action says about its jobs.
type Properties struct {
	Pool        string // of the FAIR scheduler; empty: the default one
	Group       string // what jobs are cancelled by
	Description string // for people
	Tags        []string
	// Batch and Output say which output operation of which batch the jobs are for: the batch time in milliseconds,
	// 0 outside of batches, and the output's position among the batch's jobs.
	Batch  int64
	Output int
}

type propertiesKey struct{}

// WithProperties returns a context in which actions run with p.
func WithProperties(ctx context.Context, p Properties) context.Context {
	return context.WithValue(ctx, propertiesKey{}, p)
}

// PropertiesOf returns the properties of a context, none by default.
func PropertiesOf(ctx context.Context) Properties {
	p, _ := ctx.Value(propertiesKey{}).(Properties)
	return p
}
