package streamingcontext_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/streamingcontext"
)

// at is a plan with one fault.
func at(op int, f fault) func(int, string) fault {
	return func(i int, _ string) fault {
		if i == op {
			return f
		}
		return none
	}
}

// A crashing program is killed at each operation on its world.
type crashing struct {
	records int                                                    // of the world's source
	declare func(p *process, ssc *streamingcontext.Context) error  // nil is that of the world
	kinds   []string                                               // of operations that must be among the points
	died    func(t *testing.T, w *world, point string, after bool) // called when the first process is dead; may be nil
	check   func(t *testing.T, got, want *world)                   // compares with an undisturbed run
}

// everywhere kills the process at each operation on the world, before and after it takes effect, and the process that goes on
// once more, until a third goes through.
func (c crashing) everywhere(t *testing.T) {
	const until = 9000
	live := func(t *testing.T, w *world, dir string, now int64, plan func(int, string) fault) (*process, int64, error) {
		t.Helper()
		p := w.process(plan)
		if c.declare != nil {
			p.setup = func(ssc *streamingcontext.Context) error { return c.declare(p, ssc) }
		}
		clock, stop, err := p.live(t.Context(), dir, now, until)
		if stopped := stop(); stopped != nil {
			t.Error(stopped)
		}
		return p, clock.Now(), err
	}
	want := newWorld(t, c.records)
	undisturbed, _, err := live(t, want, t.TempDir(), 0, at(-1, none))
	if err != nil {
		t.Fatal(err)
	}
	points := undisturbed.ops
	for _, kind := range c.kinds {
		if !slices.ContainsFunc(points, func(p string) bool { return strings.HasPrefix(p, kind) }) {
			t.Errorf("no operation %q in %q", kind, points)
		}
	}
	t.Logf("%d points, two ways each", len(points))
	for op, name := range points {
		for _, f := range []fault{dieBefore, dieAfter} {
			t.Run(fmt.Sprintf("%d %s after=%t", op, name, f == dieAfter), func(t *testing.T) {
				w, dir := newWorld(t, c.records), t.TempDir()
				_, now, err := live(t, w, dir, 0, at(op, f))
				if !errors.Is(err, errDied) {
					t.Fatalf("the first process: %v", err)
				}
				if c.died != nil {
					c.died(t, w, name, f == dieAfter)
				}
				// The next one dies in recovery or soon after it, somewhere else each time.
				_, now, err = live(t, w, dir, now, at(op%9, dieBefore+dieAfter-f))
				if err != nil && !errors.Is(err, errDied) {
					t.Fatalf("the second process: %v", err)
				}
				if _, _, err = live(t, w, dir, now, at(-1, none)); err != nil {
					t.Fatalf("the last process: %v", err)
				}
				c.check(t, w, want)
			})
		}
	}
}

// sameRows wants the sink to show what it would have shown undisturbed.
func sameRows(t *testing.T, got, want *world) {
	t.Helper()
	if diff := cmp.Diff(got.shown, want.shown); diff != "" || len(got.breaches) > 0 {
		t.Errorf("%q; rows by batch (-got +want):\n%s", got.breaches, diff)
	}
}

func TestEveryCrashPoint(t *testing.T) {
	crashing{records: 33, check: sameRows, kinds: []string{
		"lead", "application", "begin", "stage", "seal", "prepared", "commit", "committed", "clean", "checkpointed",
	}}.everywhere(t)
}

// Of files of binary records each record is in the sink once, in the batch that it would have been in, wherever the process dies.
func TestBinaryRecordsAtEveryCrashPoint_F11(t *testing.T) {
	f := folder{t, t.TempDir()}
	all := 0
	for i, modified := range []int64{500, 1500, 1700, 3500, 5500, 6500, 6600, 8500} {
		var text strings.Builder
		for n := range i + 1 {
			fmt.Fprintf(&text, "%d.%02d", i, n)
			all++
		}
		f.write(fmt.Sprint("part-", i), modified, text.String())
	}
	crashing{
		declare: func(p *process, ssc *streamingcontext.Context) error {
			rows := dstream.Map(ssc.BinaryRecords(f.dir, 4), func(record []byte) string { return string(record) })
			dstream.SaveTo(rows, "rows", sink.Sink[string](worldSink{p}))
			return nil
		},
		kinds: []string{"begin", "seal", "prepared", "commit", "committed"},
		check: func(t *testing.T, got, want *world) {
			sameRows(t, got, want)
			var rows []string
			for _, batch := range got.shown {
				rows = append(rows, batch...)
			}
			slices.Sort(rows)
			if len(rows) != all || len(slices.Compact(rows)) != all {
				t.Errorf("%d records are shown, there are %d", len(rows), all)
			}
		},
	}.everywhere(t)
}

// paper is what Print writes to.
type paper struct{ p *process }

func (w paper) Write(text []byte) (int, error) {
	return len(text), w.p.op("print", func() error {
		w.p.w.printed = append(w.p.w.printed, string(text))
		return nil
	})
}

// What Print has printed of a batch that was not prepared when the process died is printed again: at least once, never lost, and
// never anything else.
func TestPrintAtEveryCrashPoint_D10(t *testing.T) {
	again, prepared := "", 0
	crashing{
		records: 33,
		declare: func(p *process, ssc *streamingcontext.Context) error {
			in := dstream.NewInput(ssc.Graph(), "world", "World", dstream.Input[string](&worldInput{p: p, batches: map[dstream.Time][]string{}}))
			dstream.Print(in, paper{p}, 10)
			return nil
		},
		kinds: []string{"begin", "print", "prepared", "committed"},
		died: func(t *testing.T, w *world, point string, after bool) {
			again = ""
			if point == "print" && after || strings.HasPrefix(point, "prepared") && !after {
				again = w.printed[len(w.printed)-1]
				prepared++
			}
		},
		check: func(t *testing.T, got, want *world) {
			times := map[string]int{}
			for _, text := range got.printed {
				times[text]++
			}
			for _, text := range want.printed {
				if times[text] == 0 {
					t.Errorf("lost: %q", text)
				}
			}
			if len(times) != len(want.printed) {
				t.Errorf("printed %q, want nothing but %q", got.printed, want.printed)
			}
			if again != "" && times[again] < 2 {
				t.Errorf("printed %d times, the batch has run twice: %q", times[again], again)
			}
		},
	}.everywhere(t)
	if prepared < 10 {
		t.Errorf("%d processes died between the print and what is decided of it", prepared)
	}
}
