package postgres

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/sinktest"
)

func TestConformance(t *testing.T) {
	sinktest.Run(t, func(t *testing.T) sinktest.Target[count] {
		w := newWorld(t)
		return sinktest.Target[count]{Sink: w.open(), Reopen: w.open, Rows: w.rows, Value: counted, Forgets: true}
	})
}

func TestNothingStaysStaged(t *testing.T) {
	w := newWorld(t)
	s := w.open()
	lost := stage(t, s, batch(0), "lost", []count{{"a", 1}}, []count{{"b", 1}})
	staged := stage(t, s, batch(0), "won", []count{{"a", 1}}, nil, []count{{"b", 1}})
	next := stage(t, s, batch(1), "next", []count{{"c", 1}})
	if n := w.staged(); n != 5 {
		t.Errorf("%d rows are staged, want 5", n)
	}
	if err := s.Clean(t.Context(), batch(1)); err != nil || w.staged() != 5 {
		t.Errorf("Clean before Commit = %v and leaves %d staged rows, want 5: nothing is committed", err, w.staged())
	}
	commit(t, s, batch(0), staged)
	if n := w.staged(); n != 3 {
		t.Errorf("%d rows are staged after Commit, want 3: those of the lost try and the next batch", n)
	}
	if err := s.Clean(t.Context(), batch(0)); err != nil || w.staged() != 1 {
		t.Errorf("Clean = %v and leaves %d staged rows, want the next batch's", err, w.staged())
	}
	commit(t, s, batch(1), next)
	if n := w.staged(); n != 0 {
		t.Errorf("INV-17: %d rows stay staged", n)
	}
	if err := s.Commit(t.Context(), batch(1), lost); err == nil {
		t.Error("Commit took the staged bytes of another batch")
	}
}

func TestAbortedAttemptsLeaveNothing(t *testing.T) {
	w := newWorld(t)
	s := w.open()
	stage(t, s, batch(0), "first")
	p, err := s.Part(t.Context(), batch(0), 0, "a")
	if err == nil {
		err = p.Write(make([]count, copyRows+1))
	}
	if err != nil || w.staged() != copyRows {
		t.Fatalf("%v, %d rows are staged, want %d", err, w.staged(), copyRows)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Abort(ended); err != nil || w.staged() != 0 {
		t.Errorf("Abort = %v and leaves %d rows", err, w.staged())
	}
	if err := p.Write([]count{{}}); err == nil {
		t.Error("Write after Abort took a row")
	}
}

func TestManyRowsAreCopiedInPieces(t *testing.T) {
	w := newWorld(t)
	s := w.open()
	rows := make([]count, 2*copyRows+7)
	for i := range rows {
		rows[i] = counted(i)
	}
	staged := stage(t, s, batch(0), "a", rows, rows[:copyRows])
	if len(staged) > 64 {
		t.Errorf("%d staged bytes", len(staged))
	}
	commit(t, s, batch(0), staged)
	got, err := w.rows()
	if err != nil || len(got) != len(rows)+copyRows {
		t.Fatalf("%d rows, want %d: %v", len(got), len(rows)+copyRows, err)
	}
	for i, row := range got {
		if row.Value != counted(i%len(rows)) {
			t.Fatalf("row %d is %v", i, row)
		}
	}
}

func TestMissingStagedRowsAreRefused(t *testing.T) {
	w := newWorld(t)
	s := w.open()
	staged := stage(t, s, batch(0), "a", []count{{"a", 1}}, []count{{"b", 1}, {"c", 1}})
	w.unstage(1)
	if err := s.Commit(t.Context(), batch(0), staged); !errors.Is(err, ErrStaged) || !strings.Contains(err.Error(), "1 of 3") {
		t.Errorf("Commit = %v, want ErrStaged", err)
	}
	if rows, err := w.rows(); err != nil || len(rows) > 0 {
		t.Errorf("a part of the batch shows: %v, %v", rows, err)
	}
	if m, err := s.Last(t.Context(), "app", "out"); err != nil || m.ID != -1 {
		t.Errorf("Last = %v, %v", m, err)
	}
}

func TestRowsWithOtherValuesThanColumnsAreNamed(t *testing.T) {
	w := newWorld(t)
	w.opts.Values = func(c *count) []any { return []any{c.Word, c.N, 1}[:c.N] }
	s := w.open()
	_, err := tryStage(t.Context(), s, batch(0), "a", nil, []count{{"a", 2}, {"b", 2}, {"c", 3}})
	var row *RowError
	if !errors.As(err, &row) || row.Part != 1 || row.Row != 2 {
		t.Errorf("the error is %v, want a RowError of partition 1, row 2", err)
	}
}

func TestManyDriversCommitOnce(t *testing.T) {
	w := newWorld(t)
	staged := stage(t, w.open(), batch(0), "a", []count{{"a", 1}}, []count{{"b", 1}})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			b := batch(0)
			b.Epoch += uint64(i)
			if err := w.open().Commit(t.Context(), b, staged); err != nil {
				t.Errorf("epoch %d: %v", b.Epoch, err)
			}
		})
	}
	wg.Wait()
	if rows, err := w.rows(); err != nil || len(rows) != 2 {
		t.Errorf("%v, %v", rows, err)
	}
}

func TestBatchesThatTheServerCannotHoldAreRefused(t *testing.T) {
	w := newWorld(t)
	s := w.open()
	for _, b := range []sink.Batch{{App: "a\x00b"}, {Output: "\xff"}, {ID: -1}, {Epoch: math.MaxInt64 + 1}} {
		if err := s.Begin(t.Context(), b, 1); err == nil {
			t.Errorf("Begin took %v under epoch %d", b, b.Epoch)
		}
	}
	for _, attempt := range []string{"", "a b", strings.Repeat("a", maxAttempt+1), "é"} {
		if _, err := s.Part(t.Context(), batch(0), 0, attempt); err == nil {
			t.Errorf("Part took an attempt %q", attempt)
		}
	}
	for _, part := range []int{-1, maxPartitions} {
		if _, err := s.Part(t.Context(), batch(0), part, "a"); err == nil {
			t.Errorf("Part took partition %d", part)
		}
	}
	if _, err := s.Seal(t.Context(), batch(0), [][]byte{appendPart(nil, part{index: 1, attempt: "a", rows: 1})}); err == nil {
		t.Error("Seal took the note of another partition")
	}
}

func TestOptions(t *testing.T) {
	long := strings.Repeat("é", 32)
	for _, c := range []struct {
		name string
		with func(*Options[count])
		want string
	}{
		{"whole", func(*Options[count]) {}, ""},
		{"schema", func(o *Options[count]) { o.Schema = "s" }, ""},
		{"no values", func(o *Options[count]) { o.Values = nil }, "Values is nil"},
		{"no columns", func(o *Options[count]) { o.Columns = nil }, "0 Columns"},
		{"no table", func(o *Options[count]) { o.Table = "" }, `Table "" is empty`},
		{"long table", func(o *Options[count]) { o.Table = long }, "longer than 63 bytes"},
		{"long staging", func(o *Options[count]) { o.Table = long[:58] }, "Staging"},
		{"zero byte", func(o *Options[count]) { o.Columns = []string{"a\x00"} }, "is no text"},
		{"twice", func(o *Options[count]) { o.Columns = []string{"a", "b", "a"} }, `Columns has "a" again`},
		{"origin twice", func(o *Options[count]) { o.Origin.Row = "word" }, `Origin has "word" again`},
		{"one table", func(o *Options[count]) { o.Ledger = o.Table }, "Table and Ledger"},
	} {
		o := options(0)
		c.with(&o)
		err := o.Validate()
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !errors.Is(err, ErrOptions)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err != nil {
			if got := New[count](&double{}, o).Begin(t.Context(), batch(0), 1); !errors.Is(got, ErrOptions) {
				t.Errorf("%s: Begin = %v", c.name, got)
			}
		}
	}
	if err := New(nil, options(0)).Begin(t.Context(), batch(0), 1); !errors.Is(err, ErrOptions) {
		t.Errorf("without a DB Begin = %v", err)
	}
}
