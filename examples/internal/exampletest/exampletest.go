// Package exampletest runs the examples in their tests.
package exampletest

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/leat-io/leat/streamingcontext"
)

// A Stream is the run function of an example that streams.
type Stream func(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer, clock streamingcontext.Clock) error

// A Job is the run function of an example that has an end.
type Job func(ctx context.Context, args []string, stdout io.Writer) error

// Play returns what the example prints. It runs inside a bubble, where time passes only while all wait:
// the same input gives the same bytes.
func Play(t *testing.T, run Stream, stdin string, args ...string) string {
	t.Helper()
	return PlayJob(t, func(ctx context.Context, args []string, stdout io.Writer) error {
		return run(ctx, args, strings.NewReader(stdin), stdout, streamingcontext.SystemClock{})
	}, args...)
}

// PlayJob is Play for an example without input and clock. The bubble fails the test of one that leaves a
// goroutine behind.
func PlayJob(t *testing.T, run Job, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		if err := run(context.Background(), args, &out); err != nil {
			t.Fatal(err)
		}
	})
	return out.String()
}
