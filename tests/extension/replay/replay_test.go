package replay_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest"
	"github.com/leat-io/leat/tests/extension/replay"
)

// A receiver that fails twice in between brings every record once, in order.
func TestARecordComesOnceWhateverFails(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{Configure: func(o *streamingcontext.Options) { o.RestartDelay = time.Millisecond }})
	log := replay.NewLog("a", "b", "c")
	out := streamtest.Collect(kit, streamingcontext.Receive(kit.Context(), replay.NewReceiver(log, 2)))
	kit.Tick()
	kit.AwaitText("receiver 0 started")
	broken := errors.New("broken")
	var want []string
	want = append(want, "a", "b", "c")
	for _, more := range [][]string{{"d"}, {"e", "f", "g"}} {
		log.Break(broken)
		kit.AwaitText("receiver 0 stopped")
		for kit.Step().Text != "receiver 0 started" { // the restart's delay is on the clock, too
		}
		log.Append(more...)
		want = append(want, more...)
	}
	var got []string
	for len(got) < len(want) && kit.Now() < kit.Time(1000) {
		kit.Advance(1)
		got = slices.Concat(out.Batches()...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestItEndsWithItsContext(t *testing.T) {
	kit := streamtest.New(t, streamtest.Options{})
	streamtest.Collect(kit, streamingcontext.Receive(kit.Context(), replay.NewReceiver(replay.NewLog("a"), 0)))
	kit.Advance(1)
	kit.AwaitText("receiver 0 started")
	if err := kit.Context().Stop(t.Context(), streamingcontext.StopOptions{}); err != nil {
		t.Error(err)
	}
	kit.AwaitText("receiver 0 stopped")
}
