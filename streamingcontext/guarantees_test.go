package streamingcontext_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

// Single cells of docs/guarantees.md that no other test shows.

// A batch of binary records that is replayed reads the version of its file that was recorded, or fails and names the file.
// Shows F-19.
func TestReplayedBinaryRecordsAreTheRecordedOnes_F19(t *testing.T) {
	for what, text := range map[string]string{"the same": "abcd", "grown": "abcdef", "shorter": "ab", "same size": "abce"} {
		t.Run(what, func(t *testing.T) {
			f := folder{t, t.TempDir()}
			f.write("x", 13_000, "abcd")
			records := func(recorded []byte) (rows [][]byte, record []byte, err error) {
				kit := streamtest.New(t, streamtest.Options{})
				kit.Clock().Set(12_000)
				kit.Context().BinaryRecords(f.dir, 2)
				in := streamingcontext.Inputs(kit.Context())[0].Input.(recorder[[]byte])
				if recorded != nil {
					if err := in.Replay(13_000, recorded); err != nil {
						t.Fatal(err)
					}
				}
				of, err := in.RDD(kit.Context().RDDs(), 13_000)
				if err != nil {
					t.Fatal(err)
				}
				if record, err = in.Record(13_000); err != nil {
					t.Fatal(err)
				}
				rows, err = of.Collect(t.Context())
				return rows, record, err
			}
			want, recorded, err := records(nil)
			if err != nil || len(want) != 2 {
				t.Fatal(want, err)
			}
			modified := int64(13_000)
			if what == "same size" {
				modified++
			}
			f.write("x", modified, text)
			got, _, err := records(recorded)
			if what == "the same" {
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("records (-first +again):\n%s\n%v", diff, err)
				}
				return
			}
			if changed, ok := errors.AsType[*streamingcontext.FileChangedError](err); !ok || changed.Path != filepath.Join(f.dir, "x") || changed.Was != 4 {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// Of a function that returns something else each time, the rows of a batch that are shown are those of one try: what is staged is
// decided once, and what was decided is not made again.
func TestStagedRowsAreDecidedOnceAtEveryCrashPoint(t *testing.T) {
	tries := 0
	crashing{
		records: 33,
		declare: func(p *process, ssc *streamingcontext.Context) error {
			in := dstream.NewInput(ssc.Graph(), "world", "World", dstream.Input[string](&worldInput{p: p, batches: map[dstream.Time][]string{}}))
			tries++
			mine := tries
			rows := dstream.Map(in, func(key string) string { return fmt.Sprint(key, " try ", mine) })
			dstream.SaveTo(rows, "rows", sink.Sink[string](worldSink{p}))
			return nil
		},
		kinds: []string{"stage", "seal", "prepared", "commit", "committed"},
		check: func(t *testing.T, got, want *world) {
			others := slices.DeleteFunc(got.breaches, func(b string) bool { return strings.Contains(b, "run again gives other rows") })
			if len(others) > 0 || len(got.shown) != len(want.shown) {
				t.Errorf("%d batches of %d; %q", len(got.shown), len(want.shown), others)
			}
			for id, rows := range got.shown {
				for i, row := range rows {
					key, try, _ := strings.Cut(row, " ")
					if undisturbed, _, _ := strings.Cut(want.shown[id][i], " "); key != undisturbed || !strings.HasSuffix(rows[0], " "+try) || len(rows) != len(want.shown[id]) {
						t.Errorf("batch %d shows %q, undisturbed %q", id, rows, want.shown[id])
						break
					}
				}
			}
		},
	}.everywhere(t)
}

// Without GetOrCreate the blocks that no batch has had are gone with the process, and none comes twice: at most once.
func TestBlocksInMemoryAreAtMostOnce(t *testing.T) {
	log, out := newLog(t), new(seen)
	for process := range int64(2) {
		kit := streamtest.New(t, withLog(log))
		ssc, h := kit.Context(), newHanded()
		watch(out, streamingcontext.Receive[int](ssc, h), true)
		kit.Clock().Set(2000 * process)
		if err := ssc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.store(t, int(10*process+1), int(10*process+2))
		kit.Clock().Advance(1000)
		if err := ssc.Settled(t.Context(), dstream.Time(kit.Clock().Now())); err != nil {
			t.Fatal(err)
		}
		h.store(t, int(10*process+3)) // for a batch that is never made
		stop(t, ssc)
	}
	got := slices.DeleteFunc(out.take(), func(line string) bool { return strings.HasSuffix(line, "[]") })
	if want := []string{"1 [1 2]", "3 [11 12]"}; !slices.Equal(got, want) {
		t.Errorf("batches had %q, want %q", got, want)
	}
}
