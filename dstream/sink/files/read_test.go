package files_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leat-io/leat/dstream/sink/files"
)

func verify(t *testing.T, dir string) files.Report {
	t.Helper()
	r, err := files.Verify(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestReadChoosesOutputs(t *testing.T) {
	dir := t.TempDir()
	s := files.Text(dir)
	for _, app := range []string{"one", "two"} {
		for _, output := range []string{"x", "y"} {
			for id := range int64(3) {
				b := batch(id)
				b.App, b.Output = app, output
				put(t, s, b, []string{app + output + string(rune('0'+id))})
			}
		}
	}
	for _, c := range []struct {
		dir  string
		o    files.ReadOptions
		want string
	}{
		{"", files.ReadOptions{}, "onex0 onex1 onex2 oney0 oney1 oney2 twox0 twox1 twox2 twoy0 twoy1 twoy2"},
		{"", files.ReadOptions{App: "two"}, "twox0 twox1 twox2 twoy0 twoy1 twoy2"},
		{"", files.ReadOptions{Output: "y", From: 2}, "oney2 twoy2"},
		{"", files.ReadOptions{App: "two", Output: "y", From: 1}, "twoy1 twoy2"},
		{"", files.ReadOptions{App: "three"}, ""},
		{"one", files.ReadOptions{}, "onex0 onex1 onex2 oney0 oney1 oney2"},
		{"one", files.ReadOptions{Output: "x"}, "onex0 onex1 onex2"},
		{"one/y", files.ReadOptions{From: 1}, "oney1 oney2"},
		{"one/y", files.ReadOptions{App: "one", Output: "y"}, "oney0 oney1 oney2"},
		{"one/y", files.ReadOptions{Output: "x"}, ""},
		{"one/y", files.ReadOptions{From: 9}, ""},
	} {
		rows, err := rowsOf(filepath.Join(dir, c.dir), c.o, readText)
		var got []string
		for _, row := range rows {
			got = append(got, row.Value)
		}
		if strings.Join(got, " ") != c.want || err != nil {
			t.Errorf("Read(%q, %v) = %q, %v, want %q", c.dir, c.o, got, err, c.want)
		}
	}
	for range files.Read(dir, files.ReadOptions{}) {
		break // the reader may stop at any row
	}
	moved := filepath.Join(t.TempDir(), "backup")
	if err := os.Rename(filepath.Join(dir, "one", "x"), moved); err != nil {
		t.Fatal(err)
	}
	if rows, err := rowsOf(moved, files.ReadOptions{}, readText); err != nil || len(rows) != 3 {
		t.Errorf("an output's folder that was moved: %v, %v", rows, err)
	}
	if _, err := files.Verify(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Verify of no folder = %v", err)
	}
}

func TestReadOfLongLinesAndLargeBatches(t *testing.T) {
	dir := t.TempDir()
	s := files.Text(dir)
	want := [][]string{
		{strings.Repeat("a", 64<<10-1), strings.Repeat("b", 64<<10), strings.Repeat("c", 200<<10), "", "d"},
		{strings.Repeat("e", 5<<20), "f", strings.Repeat("g", 5<<20)},
	}
	put(t, s, batch(0), want[0])
	put(t, s, batch(1), nil, want[1]) // more than is kept in memory
	rows, err := rowsOf(dir, files.ReadOptions{}, readText)
	if err != nil {
		t.Fatal(err)
	}
	all := append(append([]string(nil), want[0]...), want[1]...)
	if len(rows) != len(all) {
		t.Fatalf("%d rows, want %d", len(rows), len(all))
	}
	for i, row := range rows {
		if row.Value != all[i] {
			t.Errorf("row %d has %d bytes, want %d", i, len(row.Value), len(all[i]))
		}
	}
	name := filepath.Join(dir, "app/out/data/00000000000000000001/part-00001-a.txt")
	flip(t, name, 10<<20-3)
	if rows, err := rowsOf(dir, files.ReadOptions{From: 1}, readText); !errors.Is(err, files.ErrDamaged) || len(rows) > 0 {
		t.Errorf("%d rows of a damaged batch, %v", len(rows), err)
	}
}

// flip flips a bit of a file.
func flip(t *testing.T, name string, at int) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[at] ^= 1 << (at % 8)
	if err := os.WriteFile(name, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestReadRefusesFilesThatAreNotLines(t *testing.T) {
	dir := t.TempDir()
	format := files.TextFormat()
	format.Name, format.Lines = "blob", false
	put(t, files.New(dir, files.Options[string]{Format: format}), batch(0), []string{"x"})
	if _, err := rowsOf(dir, files.ReadOptions{}, readText); !errors.Is(err, files.ErrFormat) {
		t.Errorf("Read = %v, want ErrFormat", err)
	}
	if r := verify(t, dir); r.Err() != nil || r.Files != 1 {
		t.Errorf("Verify: %v, %v", r, r.Err())
	}
}
