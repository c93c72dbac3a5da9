package oracle

import (
	"fmt"
	"strings"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
)

type (
	rows   = *rdd.RDD[Row]
	stream = *dstream.DStream[Row]
)

// An operation is an operator, or a few in a row, from rows to rows: over slices, RDDs and streams.
type operation struct {
	name   string
	inputs int
	family family

	// What is known of the order of the result's rows.
	ordered  bool // fixed where that of the inputs is
	sorts    bool // fixed always
	ranged   bool // the result may lie by ranges of its keys
	distinct bool // does the same record by record in any batch: batches may be joined before or after

	// eval is the operation over slices. For streams it is applied batch by batch.
	eval func(s Step, in ...[]Row) []Row
	// history, for streams that look back, is the operation over all batches of a stream.
	history func(s Step, in []Batch, slide int) []Batch
	// spans is set where Step.Window and Step.Slide matter.
	spans bool
	// wantsOrder is set where the result depends on the order of the input, which must be fixed.
	wantsOrder bool
	// wide is set where Step.Width matters.
	wide bool
	// grows, where the result may be far longer than the inputs, is how long.
	grows func(in ...[]Row) int
	// needsAll is set where an absent parent fails a batch; fills where the result is never absent.
	needsAll, fills bool
	// tables is how many tables a window may keep for each of its batches, whatever the batch.
	tables int

	batch func(b *builder, s Step, in ...rows) (rows, error)
	// stream is the operation over streams; nil is a Transform of batch.
	stream func(b *builder, s Step, in ...stream) stream
}

// A family says what an operation can be applied to.
type family int

const (
	anywhere family = iota
	batchOnly
	streamOnly
)

// A Step applies an operation to earlier steps.
type Step struct {
	op operation
	In []int // indexes of steps and, below zero, ^index of sources

	Arg           int64 // chooses among functions
	Parts         int   // partitions asked for; 0 leaves it to the defaults
	Window, Slide int   // in slides of the input
	Width         int   // bytes of a long string
	Every         int   // checkpoint interval in slides; 0 leaves it to the default

	// Derived by settle.
	slide   int  // in batch intervals
	absent  bool // may be absent in a batch
	ordered bool
	ranged  bool
}

// String returns the step as in "join(0,source1) arg=3 parts=2".
func (s Step) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s(", s.op.name)
	for i, in := range s.In {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(inputName(in))
	}
	fmt.Fprintf(&b, ") arg=%d", s.Arg)
	if s.Parts != 0 {
		fmt.Fprintf(&b, " parts=%d", s.Parts)
	}
	if s.op.spans {
		fmt.Fprintf(&b, " window=%d slide=%d", s.Window, s.Slide)
	}
	if s.op.wide {
		fmt.Fprintf(&b, " width=%d", s.Width)
	}
	if s.Every != 0 {
		fmt.Fprintf(&b, " every=%d", s.Every)
	}
	return b.String()
}

func inputName(in int) string {
	if in < 0 {
		return fmt.Sprintf("source%d", ^in)
	}
	return fmt.Sprint(in)
}

// operations are all there are.
func operations() []operation {
	var all []operation
	for _, group := range [][]operation{elementwise(), byKey(), twoInputs(), layout(), windows(), states(), mappings(),
		numbering(), shared(), gathered(), saved(), wide()} {
		all = append(all, group...)
	}
	return all
}
