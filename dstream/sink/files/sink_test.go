package files_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/dstream/sink/sinktest"
	"github.com/leat-io/leat/dstream/sink/sinktest/disk"
)

type count struct {
	Word string
	N    int
}

func counted(i int) count { return count{"w" + strconv.Itoa(i), i} }

func readJSON(line []byte) (c count, err error) {
	err = json.Unmarshal(line, &c)
	return c, err
}

func readCSV(line []byte) (count, error) {
	record, err := csv.NewReader(strings.NewReader(string(line))).Read()
	if err != nil {
		return count{}, err
	}
	n, err := strconv.Atoi(record[1])
	return count{record[0], n}, err
}

func readText(line []byte) (string, error) { return string(line), nil }

// target is a sink of the format below dir.
func target[T any](dir string, fsys files.FS, format files.Format[T], value func(int) T, parse func([]byte) (T, error)) sinktest.Target[T] {
	open := func() sink.Sink[T] { return files.New(dir, files.Options[T]{Format: format, FS: fsys}) }
	return sinktest.Target[T]{Sink: open(), Reopen: open, Value: value, Rows: func() ([]sinktest.Row[T], error) {
		return rowsOf(dir, files.ReadOptions{FS: fsys}, parse)
	}}
}

func rowsOf[T any](dir string, o files.ReadOptions, parse func([]byte) (T, error)) ([]sinktest.Row[T], error) {
	var rows []sinktest.Row[T]
	for row, err := range files.Read(dir, o) {
		if errors.Is(err, os.ErrNotExist) && len(rows) == 0 {
			return nil, nil // no Begin yet
		}
		if err != nil {
			return nil, err
		}
		v, err := parse(row.Line)
		if err != nil {
			return nil, err
		}
		rows = append(rows, sinktest.Row[T]{App: row.App, Output: row.Output, Batch: row.Batch, Partition: row.Partition, Value: v})
	}
	return rows, nil
}

func TestConformance(t *testing.T) {
	t.Run("text", func(t *testing.T) {
		sinktest.Run(t, func(t *testing.T) sinktest.Target[string] {
			return target(t.TempDir(), nil, files.TextFormat(), strconv.Itoa, readText)
		})
	})
	t.Run("json", func(t *testing.T) {
		sinktest.Run(t, func(t *testing.T) sinktest.Target[count] {
			return target("/out", disk.New(), files.JSONFormat[count](), counted, readJSON)
		})
	})
	t.Run("csv", func(t *testing.T) {
		sinktest.Run(t, func(t *testing.T) sinktest.Target[count] {
			return target("/out", disk.New(), files.CSVFormat[count](files.CSVOptions{Header: []string{"word", "n"}}), counted, readCSV)
		})
	})
	t.Run("disk", func(t *testing.T) {
		sinktest.Run(t, func(t *testing.T) sinktest.Target[string] {
			return target("/deep/below/out", disk.New(), files.TextFormat(), strconv.Itoa, readText)
		})
	})
}

// batch is a batch of the usual output.
func batch(id int64) sink.Batch {
	return sink.Batch{App: "app", Output: "out", ID: id, Time: id * 1000, Epoch: 1, Try: 1}
}

// stage runs a try at b with an attempt of the given name.
func stage[T any](t *testing.T, s sink.Sink[T], b sink.Batch, attempt string, parts ...[]T) []byte {
	t.Helper()
	staged, err := tryStage(t, s, b, attempt, parts...)
	if err != nil {
		t.Fatal(err)
	}
	return staged
}

func tryStage[T any](t *testing.T, s sink.Sink[T], b sink.Batch, attempt string, parts ...[]T) ([]byte, error) {
	ctx := t.Context()
	if err := s.Begin(ctx, b, len(parts)); err != nil {
		return nil, err
	}
	notes := make([][]byte, len(parts))
	for i, rows := range parts {
		w, err := s.Part(ctx, b, i, attempt)
		if err == nil {
			err = w.Write(rows)
		}
		if err == nil {
			notes[i], err = w.Finish(ctx)
		}
		if err != nil {
			if w != nil {
				_ = w.Abort(ctx)
			}
			return nil, err
		}
	}
	return s.Seal(ctx, b, notes)
}

// put stages and commits.
func put[T any](t *testing.T, s sink.Sink[T], b sink.Batch, parts ...[]T) {
	t.Helper()
	if err := s.Commit(t.Context(), b, stage(t, s, b, "a", parts...)); err != nil {
		t.Fatal(err)
	}
}

func TestRowsThatHaveNoFormAreRefused(t *testing.T) {
	refused := func(t *testing.T, err error, row int64) {
		t.Helper()
		var bad *files.RowError
		if !errors.As(err, &bad) || bad.Part != 1 || bad.Row != row || bad.Batch.ID != 7 {
			t.Fatalf("%v, want a RowError of batch 7, partition 1, row %d", err, row)
		}
	}
	t.Run("text", func(t *testing.T) {
		_, err := tryStage(t, files.Text(t.TempDir()), batch(7), "a", []string{"a"}, []string{"a", "b", "c\nd"})
		refused(t, err, 2)
	})
	t.Run("json", func(t *testing.T) {
		_, err := tryStage(t, files.JSON[func()](t.TempDir()), batch(7), "a", nil, []func(){func() {}})
		refused(t, err, 0)
	})
	t.Run("csv", func(t *testing.T) {
		_, err := tryStage(t, files.CSV[[]string](t.TempDir()), batch(7), "a", nil, [][]string{{"a"}, {"b", "x\ny"}})
		refused(t, err, 1)
		_, err = tryStage(t, files.CSV[[]string](t.TempDir()), batch(7), "a", nil, [][]string{{}})
		refused(t, err, 0)
	})
}

func TestCSVFields(t *testing.T) {
	type all struct {
		S      string
		B      bool
		I      int16
		U      uint64
		F      float32
		hidden int
		T      time.Time
	}
	dir := t.TempDir()
	at := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	put(t, files.CSV[all](dir), batch(0), []all{{"a,\"b\"", true, -3, 1 << 63, 0.5, 1, at}})
	put(t, files.CSV[[]string](dir), batch(1), [][]string{{""}, {"a", ""}, {"semi;colon"}})
	rows, err := rowsOf(dir, files.ReadOptions{}, readText)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`"a,""b""",true,-3,9223372036854775808,0.5,2020-01-02T03:04:05Z`, `""`, "a,", "semi;colon"}
	for i, row := range rows {
		if row.Value != want[i] {
			t.Errorf("row %d = %s, want %s", i, row.Value, want[i])
		}
	}
	if len(rows) != len(want) {
		t.Errorf("%d rows", len(rows))
	}
}

func TestFormatsThatCannotWriteAreRefused(t *testing.T) {
	for name, s := range map[string]interface {
		Begin(ctx context.Context, b sink.Batch, parts int) error
	}{
		"no format":    files.New("x", files.Options[string]{}),
		"comma":        files.New("x", files.Options[[]string]{Format: files.CSVFormat[[]string](files.CSVOptions{Comma: '"'})}),
		"type":         files.CSV[int]("x"),
		"field":        files.CSV[struct{ M map[string]int }]("x"),
		"no field":     files.CSV[struct{ m int }]("x"),
		"header break": files.New("x", files.Options[[]string]{Format: files.CSVFormat[[]string](files.CSVOptions{Header: []string{"a\nb"}})}),
	} {
		if err := s.Begin(t.Context(), batch(0), 1); !errors.Is(err, files.ErrFormat) {
			t.Errorf("%s: Begin = %v, want ErrFormat", name, err)
		}
	}
	if _, err := os.Stat("x"); err == nil {
		t.Error("a folder was made")
	}
}

func TestAttemptsAreFileNames(t *testing.T) {
	s := files.Text(t.TempDir())
	for _, attempt := range []string{"", "a/b", "..\\x", "a b", "é", strings.Repeat("a", 129)} {
		if _, err := s.Part(t.Context(), batch(0), 0, attempt); err == nil {
			t.Errorf("attempt %q was taken", attempt)
		}
	}
}

func TestAnAttemptNameIsUsedOnce(t *testing.T) {
	s := files.Text(t.TempDir())
	put(t, s, batch(0), []string{"first"})
	if _, err := tryStage(t, s, batch(0), "a", []string{"second"}); !errors.Is(err, os.ErrExist) {
		t.Errorf("second attempt of a name = %v, want ErrExist", err)
	}
	rows, err := rowsOf(s.Dir(), files.ReadOptions{}, readText)
	if err != nil || len(rows) != 1 || rows[0].Value != "first" {
		t.Errorf("rows %v, %v", rows, err)
	}
}

func TestCommitNeedsTheFiles(t *testing.T) {
	s := files.Text(t.TempDir())
	staged := stage(t, s, batch(0), "a", []string{"x"}, []string{"y"})
	name := filepath.Join(s.Dir(), "app/out/data/00000000000000000000/part-00001-a.txt")
	if err := os.WriteFile(name, []byte("longer"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, problem := range []string{"bytes", "missing"} {
		err := s.Commit(t.Context(), batch(0), staged)
		var damage *files.DamageError
		if !errors.As(err, &damage) || damage.File != name || !strings.Contains(damage.Problem, problem) {
			t.Errorf("Commit = %v, want a DamageError of %s: %s", err, name, problem)
		}
		_ = os.Remove(name)
	}
	if err := os.WriteFile(name, []byte("y\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(t.Context(), batch(0), staged); err != nil {
		t.Errorf("Commit once the file is there: %v", err)
	}
}

func TestStagedBytesAreOfTheirBatch(t *testing.T) {
	s := files.Text(t.TempDir())
	staged := stage(t, s, batch(0), "a", []string{"x"})
	if err := s.Commit(t.Context(), batch(1), staged); err == nil {
		t.Error("batch 1 was committed with what was staged for batch 0")
	}
	for i := range staged {
		if err := s.Commit(t.Context(), batch(0), staged[:i]); err == nil {
			t.Errorf("Commit with %d of %d bytes", i, len(staged))
		}
	}
	if err := s.Commit(t.Context(), batch(0), append(staged[:len(staged):len(staged)], 0)); err == nil {
		t.Error("Commit with a byte too many")
	}
}

func TestABatchBeforeACommittedOneIsRefused(t *testing.T) {
	s := files.Text(t.TempDir())
	early := stage(t, s, batch(1), "a", []string{"x"})
	put(t, s, batch(2), []string{"y"})
	if err := s.Commit(t.Context(), batch(1), early); !errors.Is(err, files.ErrOrder) {
		t.Errorf("Commit of batch 1 after batch 2 = %v, want ErrOrder", err)
	}
}

func TestCleanLeavesOnlyWhatIsNamed(t *testing.T) {
	s := files.Text(t.TempDir())
	for id := range int64(5) {
		stage(t, s, batch(id), "lost", []string{"x"}, []string{"y"})
		put(t, s, batch(id), []string{"z"}, nil)
	}
	stage(t, s, batch(9), "never", []string{"x"})
	tmp := filepath.Join(s.Dir(), "app/out/tmp/00000000000000000002-1-1")
	if err := os.WriteFile(tmp, []byte("half a mani"), 0o666); err != nil {
		t.Fatal(err)
	}
	r := verify(t, s.Dir())
	if len(r.Garbage) != 11 || len(r.Temporary) != 1 || r.Err() != nil || r.Batches != 5 || r.Files != 5 || r.Rows != 5 {
		t.Fatalf("before Clean: %v: %v", r, r.Err())
	}
	if err := s.Clean(t.Context(), batch(3)); err != nil {
		t.Fatal(err)
	}
	if r = verify(t, s.Dir()); len(r.Garbage) != 3 || len(r.Temporary) != 0 {
		t.Fatalf("after Clean of batch 3: %v: %v", r, r.Garbage)
	}
	put(t, s, batch(12), []string{"z"})
	next := files.Text(s.Dir())
	if err := next.Clean(t.Context(), batch(1000)); err != nil { // many at once
		t.Fatal(err)
	}
	if r = verify(t, s.Dir()); len(r.Garbage) != 0 || r.Batches != 6 || r.Err() != nil {
		t.Fatalf("after Clean of all: %v: %v", r, r.Garbage)
	}
	if _, err := os.Stat(filepath.Join(s.Dir(), "app/out/data/00000000000000000009")); err == nil {
		t.Error("the folder of a batch without files was left")
	}
}

func TestNamesStayInsideTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "root")
	s := files.Text(dir)
	names := []string{"..", "../../x", "/etc", "a\x00b", strings.Repeat("n", 300), strings.Repeat("n", 301), "nul.txt", "LPT1", "con"}
	for _, name := range names {
		b := batch(0)
		b.App, b.Output = name, name
		put(t, s, b, []string{name[:1]})
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(names) {
		t.Fatalf("%d folders of %d applications: %v", len(entries), len(names), err)
	}
	for _, e := range entries {
		base, _, _ := strings.Cut(e.Name(), ".")
		if len(e.Name()) > 200 || base == "nul" || base == "con" || base == "lpt1" {
			t.Errorf("folder %q", e.Name())
		}
	}
	above, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(above) != 1 {
		t.Errorf("beside the folder: %v, %v", above, err)
	}
	for _, name := range names {
		rows, err := rowsOf(dir, files.ReadOptions{App: name, Output: name}, readText)
		if err != nil || len(rows) != 1 || rows[0].App != name {
			t.Errorf("rows of %.20q: %v, %v", name, rows, err)
		}
	}
}

// A driver that was stopped while it wrote, and wakes when the next one has committed the batch and cleaned up, leaves nothing.
func TestAWriterThatWakesTooLateLeavesNothing(t *testing.T) {
	for name, rows := range map[string][]string{"beside rows": {"x"}, "beside none": nil} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			late := files.Text(dir)
			if err := late.Begin(t.Context(), batch(0), 1); err != nil {
				t.Fatal(err)
			}
			w, err := late.Part(t.Context(), batch(0), 0, "late")
			if err == nil {
				err = w.Write([]string{"x"})
			}
			if err != nil {
				t.Fatal(err)
			}
			next, b := files.Text(dir), batch(0)
			b.Epoch++
			put(t, next, b, rows)
			if err := next.Clean(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			_, _ = w.Finish(t.Context()) // Clean may have removed its folder
			w, err = late.Part(t.Context(), batch(0), 0, "later")
			if err == nil {
				err = w.Write([]string{"x"}) // it makes its file only now
			}
			if err == nil {
				_, err = w.Finish(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			if r := verify(t, dir); r.Err() != nil || len(r.Garbage) > 0 || r.Files != int64(len(rows)) {
				t.Errorf("%v, %v, garbage %q", r, r.Err(), r.Garbage)
			}
			folders, err := os.ReadDir(filepath.Join(dir, "app", "out", "data"))
			if err != nil || len(folders) != len(rows) {
				t.Errorf("%d folders of batches, %v, want %d", len(folders), err, len(rows))
			}
		})
	}
}
