package streamingcontext

import (
	"context"
	"fmt"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/lineage"
)

// forOutput returns the context an output runs in. The jobs that it starts say which batch and output they are
// for, also in a group of their own; a group of whoever started the context is not theirs.
func forOutput(ctx context.Context, job *dstream.Job) context.Context {
	p := lineage.PropertiesOf(ctx)
	p.Batch, p.Output = int64(job.Batch), job.ID
	p.Group, p.Description = "", fmt.Sprintf("output operation %d, batch time %d ms", job.ID, int64(job.Batch))
	return lineage.WithProperties(ctx, p)
}
