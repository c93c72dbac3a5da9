package rdd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
)

// SaveWith writes every partition, an empty one as well, with the program's own write, to where a Committer says. It is
// what the other savers are made of. A Committer is good for one save.
//
// Shape: write is called in a task, once for each attempt at a partition, and has to read rows to their end; w is
// buffered, and committed after write has returned nil.
// Cost: one task a partition.
// Errors: what the committer returns; what write returns or panics with, as a *UserError naming the RDD and the partition.
// Nothing is committed of a partition whose rows could not all be computed, whatever write made of it.
func (r *RDD[T]) SaveWith(ctx context.Context, c Committer, write func(w io.Writer, rows iter.Seq[T]) error) error {
	switch {
	case write == nil:
		return &BuildError{Op: "saveWith", Site: r.ctx.callSite(), Err: ErrNilFunction}
	case c == nil:
		return &BuildError{Op: "saveWith", Site: r.ctx.callSite(), Err: fmt.Errorf("%w: no committer", ErrArgument)}
	}
	return newSaving(r.subject(), "saveWith", nil, func(t *task, part int, w *bufio.Writer) error {
		rows, inErr := r.seq(t, part)
		written := &t.env.Metrics().OutputRows
		err := write(w, func(yield func(T) bool) {
			for x := range rows {
				*written++
				if !yield(x) {
					return
				}
			}
		})
		if *inErr != nil {
			return *inErr // the cause of what write made of it
		}
		if err != nil {
			at := place{node: &r.base, part: part}
			return at.failed(-1, err)
		}
		return nil
	}).run(ctx, c)
}
