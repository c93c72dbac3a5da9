package streamingcontext_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leat-io/leat/blobstore/blobtest"
	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/streamingcontext"
)

// wordy is an eternal input whose records are too long for the driver log. Every sixth batch has the same.
type wordy struct {
	eternal[rdd.Pair[int64, int64]]
}

func (wordy) Record(t dstream.Time) ([]byte, error) {
	return []byte(strings.Repeat(fmt.Sprint(int64(t)/1000%6), driverlog.MaxPayload+1)), nil
}

func (in wordy) Replay(t dstream.Time, recorded []byte) error {
	if want, _ := in.Record(t); string(recorded) != string(want) {
		return fmt.Errorf("batch %v has a record of another one", t)
	}
	return nil
}

// wordyState is a program with a running total and an inverse window, whose inputs are blobs, with a checkpoint every second batch.
func wordyState(out *rowsSeen) func(*streamingcontext.Context) error {
	return func(ssc *streamingcontext.Context) error {
		in := dstream.NewInput(ssc.Graph(), "wordy", "Wordy", dstream.Input[rdd.Pair[int64, int64]](wordy{eternal[rdd.Pair[int64, int64]]{rows: func(batch int64) []rdd.Pair[int64, int64] {
			return []rdd.Pair[int64, int64]{{Key: batch % 5, Value: batch}, {Key: batch % 3, Value: 1}}
		}}}))
		totals := dstream.UpdateStateByKey(in, total, dstream.TouchedOnly())
		rowsOf(out, "totals", totals)
		window := dstream.ReduceByKeyAndWindow(in, add, sub, 3*time.Second, time.Second)
		rowsOf(out, "window", window)
		return errors.Join(totals.Checkpoint(2*time.Second), window.Checkpoint(2*time.Second))
	}
}

// A driver is stopped just before it removes what its checkpoint has made superfluous, and wakes up when another leads, whose blobs and
// checkpoint files it does not know and finds among its own. It removes none of those, and of its own none that the other goes on from:
// the other is killed at that moment, and the next one goes on with the rows that an undisturbed program has.
func TestALateDriverRemovesNothingThatIsNeeded_D9(t *testing.T) {
	const batches = 20
	want := new(rowsSeen)
	undisturbed := survive(t, wordyState(want))
	undisturbed.start()
	undisturbed.advance(batches)
	undisturbed.stop()
	removed := 0
	for name, stops := range map[string]func(call, name string) bool{
		"before_it_lists": func(call, name string) bool { return call == "list" && name == "checkpoints/" },
		"before_it_removes_files": func(call, name string) bool {
			return call == "remove" && strings.Contains(name, "checkpoints/checkpoint-")
		},
		"before_it_removes_state": func(call, name string) bool { return call == "remove" && strings.HasPrefix(name, "state/") },
	} {
		for _, ahead := range []int{0, 1, 2, 5} {
			t.Run(fmt.Sprintf("%s/the_other_is_%d_batches_ahead", name, ahead), func(t *testing.T) {
				memory, out := blobtest.NewMemory(), new(rowsSeen)
				gate := stopping(memory, stops)
				wake, renew := sync.OnceFunc(func() { close(gate.on) }), sync.OnceFunc(func() { close(gate.renews) })
				first := onStore(t, out, 0, gate, objectLog(t, gate, "first", 0))
				first.declare = wordyState(out)
				first.start()
				t.Cleanup(func() { wake(); renew() }) // before the program and its log are closed
				first.advance(5)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				gate.arm()
				for standing := false; !standing; {
					first.clock.Advance(1000)
					ended := make(chan error, 1)
					go func() { ended <- first.ssc.Settled(ctx, dstream.Time(first.clock.Now())) }()
					select {
					case <-gate.at:
						standing = true
					case err := <-ended:
						if err != nil {
							t.Fatal(err)
						}
					}
				}

				secondLog := objectLog(t, memory, "second", time.Minute)
				second := onStore(t, out, 0, memory, secondLog)
				second.declare, second.clock = wordyState(out), new(streamingcontext.ManualClock)
				second.clock.Set(first.clock.Now())
				second.start()
				second.settled()
				second.advance(ahead)
				led, err := secondLog.State(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				before, theirs := contents(t, memory), fmt.Sprint("-", led.Epoch)
				wake()
				first.clock.Advance(3000)
				var fenced *driverlog.FencedError
				if err := first.ssc.Await(ctx); !errors.Is(err, streamingcontext.ErrTermLost) && !errors.As(err, &fenced) {
					t.Errorf("the first ends with %v", err)
				}
				renew()
				first.stop()
				after := contents(t, memory)
				for _, name := range slices.Sorted(maps.Keys(before)) {
					if after[name] == before[name] {
						continue
					}
					removed++
					if after[name] != "" || strings.HasPrefix(name, "checkpoints/") && strings.HasSuffix(name, theirs) {
						t.Errorf("the first has changed or removed %s", name)
					}
				}

				killed := memory.Copy()
				second.stop()
				thirdLog := objectLog(t, killed, "third", time.Minute)
				state, err := thirdLog.State(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				report, err := streamingcontext.VerifyStored(t.Context(), killed, state)
				if err != nil || report.Blobs == 0 || report.Checkpoints != 1 {
					t.Errorf("%v, %v", report, err)
				}
				third := onStore(t, out, 0, killed, thirdLog)
				third.declare, third.clock = wordyState(out), second.clock
				third.start()
				third.settled()
				third.advance(batches - int(third.clock.Now()/1000))
				third.stop()
				out.want(t, want)
			})
		}
	}
	if removed < 6 {
		t.Errorf("late drivers removed %d names in all", removed)
	}
	t.Logf("late drivers removed %d names", removed)
}
