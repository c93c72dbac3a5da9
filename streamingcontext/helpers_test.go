package streamingcontext_test

import (
	"context"

	"github.com/leat-io/leat/receivers"
)

// waitForEnd is a receiver that stores nothing.
func waitForEnd(ctx context.Context, _ receivers.Sink[int]) error {
	<-ctx.Done()
	return ctx.Err()
}
