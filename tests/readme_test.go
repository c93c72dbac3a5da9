package tests

import (
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

// TestWindowedCount is the test shown in the README.
func TestWindowedCount(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	words := streamtest.Input[string](kit)
	counts := streamtest.Collect(kit, dstream.CountByValueAndWindow(words.Stream(), 2*time.Second, time.Second))
	words.Push("a", "b", "a")
	kit.Advance(1)
	words.Push("b")
	kit.Advance(2) // the first batch has left the window by now
	if got := counts.Batch(3); len(got) != 1 || got[0].Key != "b" || got[0].Value != 1 {
		t.Errorf("batch 3 is %v", got)
	}
}
