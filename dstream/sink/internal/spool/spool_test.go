package spool_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/dstream/sink/internal/spool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func batch(id int64) sink.Batch {
	return sink.Batch{App: "app", Output: "out", ID: id, Epoch: 5, Try: 1}
}

func stage(t *testing.T, s *spool.Spool, b sink.Batch, attempt string, parts ...[]string) []byte {
	t.Helper()
	err := s.Begin(t.Context(), b, len(parts))
	notes := make([][]byte, len(parts))
	for i, rows := range parts {
		var w *spool.Writer
		if err == nil {
			w, err = s.Part(t.Context(), b, i, attempt)
		}
		for _, row := range rows {
			if err == nil {
				err = w.Add([]byte(row))
			}
		}
		if err == nil {
			notes[i], err = w.Finish(t.Context())
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	staged, err := s.Seal(t.Context(), b, notes, 7)
	if err != nil {
		t.Fatal(err)
	}
	return staged
}

// deliver appends rows to a list.
func deliver(to *[]string) func(spool.Staged) error {
	return func(st spool.Staged) error {
		if st.Extra != 7 {
			return fmt.Errorf("extra is %d", st.Extra)
		}
		for _, part := range st.Parts {
			for row, err := range part.Rows() {
				if err != nil {
					return err
				}
				*to = append(*to, fmt.Sprint(part.Index, string(row)))
			}
		}
		return nil
	}
}

func TestRowsComeBackOnce(t *testing.T) {
	dir := t.TempDir()
	s := spool.New(dir, nil)
	long := strings.Repeat("x", 200_000)
	stage(t, s, batch(0), "lost", []string{"lost"})
	staged := stage(t, s, batch(0), "won", []string{"a", "", long}, nil, []string{"b\n"})
	var got []string
	for _, s := range []*spool.Spool{s, spool.New(dir, nil)} {
		for range 2 {
			if err := s.Commit(t.Context(), batch(0), staged, deliver(&got)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if want := fmt.Sprint([]string{"0a", "0", "0" + long, "2b\n"}); fmt.Sprint(got) != want {
		t.Errorf("%d rows were delivered", len(got))
	}
	if err := s.Clean(t.Context(), batch(0)); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*", "rows", "*")); len(left) > 0 {
		t.Errorf("INV-17: %q stay", left)
	}
	if marks, _ := filepath.Glob(filepath.Join(dir, "*", "marks", "*")); len(marks) != 1 {
		t.Errorf("there are marks %q", marks)
	}
}

func TestFencesAndConflicts(t *testing.T) {
	dir := t.TempDir()
	s := spool.New(dir, nil)
	var got []string
	first := stage(t, s, batch(0), "a", []string{"a"})
	other := stage(t, s, batch(0), "b", []string{"b"})
	if err := s.Commit(t.Context(), batch(0), first, deliver(&got)); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(t.Context(), batch(0), other, deliver(&got)); !errors.Is(err, sink.ErrConflict) {
		t.Errorf("Commit of other rows = %v", err)
	}
	next := stage(t, s, batch(1), "a", []string{"c"})
	late := batch(1)
	late.Epoch = 4
	var fenced *sink.FencedError
	if err := spool.New(dir, nil).Commit(t.Context(), late, next, deliver(&got)); !errors.As(err, &fenced) || fenced.Have != 5 {
		t.Errorf("Commit under epoch 4 = %v", err)
	}
	if err := s.Begin(t.Context(), late, 1); !errors.As(err, &fenced) {
		t.Errorf("Begin under epoch 4 = %v", err)
	}
	if err := s.Clean(t.Context(), batch(9)); err != nil { // what is not delivered stays
		t.Fatal(err)
	}
	if err := s.Commit(t.Context(), batch(1), next, deliver(&got)); err != nil {
		t.Error(err)
	}
	if fmt.Sprint(got) != "[0a 0c]" {
		t.Errorf("%q were delivered", got)
	}
	if m, err := s.Last(t.Context(), "app", "out"); err != nil || m.ID != 1 || m.Epoch != 5 {
		t.Errorf("Last = %v, %v", m, err)
	}
	if m, err := s.Last(t.Context(), "ap", "pout"); err != nil || m.ID != -1 {
		t.Errorf("Last of another output = %v, %v", m, err)
	}
}

// Each bit of a file of rows is flipped, the file is cut at each byte, made longer and exchanged for another: no wrong row is
// delivered, and the file is named.
func TestDamagedRowsAreRefused(t *testing.T) {
	dir := t.TempDir()
	s := spool.New(dir, nil)
	staged := stage(t, s, batch(0), "a", []string{"row one", "row two"}, []string{"row one", "row two"})
	names, err := filepath.Glob(filepath.Join(dir, "*", "rows", "*"))
	if err != nil || len(names) != 2 {
		t.Fatal(names, err)
	}
	whole, err := os.ReadFile(names[1])
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	damaged := [][]byte{append(whole[:len(whole):len(whole)], 0), other}
	for i := range whole {
		damaged = append(damaged, whole[:i])
		for bit := range 8 {
			flipped := append([]byte(nil), whole...)
			flipped[i] ^= 1 << bit
			damaged = append(damaged, flipped)
		}
	}
	for _, data := range damaged {
		if err := os.WriteFile(names[1], data, 0o666); err != nil {
			t.Fatal(err)
		}
		var got []string
		err := s.Commit(t.Context(), batch(0), staged, deliver(&got))
		var damage *files.DamageError
		if !errors.As(err, &damage) || damage.File != names[1] {
			t.Fatalf("%q: Commit = %v", data, err)
		}
		for _, row := range got[2:] {
			if row != "1row one" && row != "1row two" {
				t.Fatalf("%q: %q was delivered", data, row)
			}
		}
	}
	if err := os.WriteFile(names[1], whole, 0o666); err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := s.Commit(t.Context(), batch(0), staged, deliver(&got)); err != nil || len(got) != 4 {
		t.Errorf("%v, %q", err, got)
	}
	marks, _ := filepath.Glob(filepath.Join(dir, "*", "marks", "*"))
	mark, err := os.ReadFile(marks[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range mark {
		mark[i] ^= 1
		if err := os.WriteFile(marks[0], mark, 0o666); err != nil {
			t.Fatal(err)
		}
		mark[i] ^= 1
		var damage *files.DamageError
		if m, err := s.Last(t.Context(), "app", "out"); !errors.As(err, &damage) || damage.File != marks[0] {
			t.Fatalf("byte %d: Last = %v, %v", i, m, err)
		}
	}
}

func FuzzStaged(f *testing.F) {
	f.Add([]byte{1, 0, 7, 0})
	f.Add([]byte{1, 0, 7, 1, 0, 1, 'a', 1, 0, 0, 0, 0})
	f.Add([]byte{1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, data []byte) {
		s := spool.New(t.TempDir(), nil)
		_ = s.Commit(t.Context(), batch(0), data, func(st spool.Staged) error {
			for i, p := range st.Parts {
				if i > 0 && p.Index <= st.Parts[i-1].Index || p.Count < 1 {
					t.Errorf("parts %v", st.Parts)
				}
			}
			return nil
		})
	})
}
