package streamingcontext_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/memlog"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

func newLog(t *testing.T) *memlog.Log {
	t.Helper()
	log, err := memlog.New(memlog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return log
}

func app(t *testing.T, log driverlog.Log, name string) driverlog.App {
	t.Helper()
	state, err := log.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return state.App(name)
}

func withLog(log driverlog.Log) streamtest.Options {
	return streamtest.Options{Configure: func(o *streamingcontext.Options) { o.App, o.Log = "app", log }}
}

func TestTheLogHoldsTheInputsBeforeAnyJobRuns(t *testing.T) {
	log := newLog(t)
	kit := streamtest.New(t, withLog(log))
	h := newHanded()
	f := folder{t, t.TempDir()}
	f.write("a", 500, "a\n")
	blocks := streamingcontext.Receive[int](kit.Context(), h)
	files := kit.Context().TextFiles(f.dir)
	var seen driverlog.Batch
	dstream.ForeachRDD(blocks, func(_ context.Context, _ *rdd.RDD[int], at dstream.Time) error {
		if at == 2000 {
			seen = app(t, log, "app").Open[0]
		}
		return nil
	})
	discard(files)
	kit.Advance(1)
	h.store(t, 1, 2, 3)
	f.write("b", 1500, "b\n")
	kit.Advance(1)
	if seen.ID != 1 || seen.Time != 2000 || seen.Begun == 0 || seen.Prepared != 0 {
		t.Fatalf("while the job ran: %+v", seen)
	}
	path := filepath.Join(f.dir, "b")
	want := []string{
		"0: " + hex.EncodeToString([]byte{1, 'b', 1, 0xd0, 0x0f, 3}), // one block, id 1000, three records
		"1: " + hex.EncodeToString(append([]byte{1, 'i', 0, byte(len(path))}, path...)),
	}
	var got []string
	for _, in := range seen.Inputs {
		got = append(got, fmt.Sprintf("%d: %x", in.Stream, in.Data))
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("inputs (-got +want):\n%s", diff)
	}
	last := app(t, log, "app").Last
	if want := []byte{1, 'o', 2}; !slices.Equal(last.Manifest, want) {
		t.Errorf("manifest %v, want %v", last.Manifest, want)
	}
}

func TestALaterContextGoesOnInTheLog(t *testing.T) {
	log := newLog(t)
	for round := range 2 {
		kit := streamtest.New(t, withLog(log))
		discard(streamtest.Input[int](kit).Stream())
		if round == 0 {
			kit.Advance(3)
			stop(t, kit.Context())
			continue
		}
		if err := kit.Context().Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		kit.Clock().Set(4000) // behind what the log knows, so batches begin with the one after
		if err := kit.Context().Settled(t.Context(), 4000); err != nil {
			t.Fatal(err)
		}
		if a := app(t, log, "app"); a.Next != 4 || a.Last.Time != 4000 {
			t.Errorf("log %+v", a)
		}
	}
}

func TestOpenBatchesOfAnEarlierProcessAreGivenUp(t *testing.T) {
	log := newLog(t)
	term, err := log.Lead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for id := range int64(2) {
		if _, err := log.Propose(t.Context(), driverlog.Command{Kind: driverlog.Begin, Epoch: term.Epoch, App: "app", Batch: id, Time: 1000 * (id + 1)}); err != nil {
			t.Fatal(err)
		}
	}
	kit := streamtest.New(t, withLog(log))
	discard(streamtest.Input[int](kit).Stream())
	if err := kit.Context().Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a := app(t, log, "app"); a.Next != 2 || len(a.Open) != 0 || !slices.Equal(a.Last.Manifest, []byte{1, 'a', 0}) {
		t.Errorf("log %+v", a)
	}
}

func TestALostTermEndsTheContext(t *testing.T) {
	log := newLog(t)
	kit := streamtest.New(t, withLog(log))
	discard(streamtest.Input[int](kit).Stream())
	kit.Advance(1)
	log.StepDown()
	wantErr(t, "await", kit.Context().Await(t.Context()), streamingcontext.ErrTermLost)
	stop(t, kit.Context())
	wantState(t, kit.Context(), streamingcontext.Stopped)
}

func TestAnAnswerThatIsLostEndsTheContext(t *testing.T) {
	for _, kind := range []driverlog.Kind{driverlog.Begin, driverlog.Prepared, driverlog.Committed} {
		t.Run(kind.String(), func(t *testing.T) {
			log, err := memlog.New(memlog.Options{LoseReply: func(c driverlog.Command) bool { return c.Kind == kind && c.Batch == 1 }})
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			kit := streamtest.New(t, withLog(log))
			discard(streamtest.Input[int](kit).Stream())
			kit.Advance(1)
			wantErr(t, "advance", kit.TryAdvance(1), driverlog.ErrUnknown)
			stop(t, kit.Context())
		})
	}
}
