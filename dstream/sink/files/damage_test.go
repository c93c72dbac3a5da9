package files_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/dstream/sink/sinktest"
)

// history makes a folder with five batches and returns it with its rows and the files that count, in order.
func history(t *testing.T) (dir string, rows []sinktest.Row[string], names []string) {
	dir = t.TempDir()
	s := files.Text(dir)
	for id := range int64(5) {
		var long []string
		for i := range 150 {
			long = append(long, fmt.Sprintf("batch %d row %d of some length", id, i))
		}
		put(t, s, batch(id), []string{fmt.Sprint(id)}, nil, long)
	}
	rows, err := rowsOf(dir, files.ReadOptions{}, readText)
	if err != nil || len(rows) != 5*151 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Base(filepath.Dir(name)) != "epochs" {
			names = append(names, name)
		}
		return err
	})
	if err != nil || len(names) != 15 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	return dir, rows, names
}

// older returns the file that has the place of name in the batch before.
func older(name string) string {
	for id := 4; id > 0; id-- {
		if now := fmt.Sprintf("%020d", id); strings.Contains(name, now) {
			return strings.Replace(name, now, fmt.Sprintf("%020d", id-1), 1)
		}
	}
	return ""
}

// refused checks that reader and verifier name the damaged file, and that no wrong row was read.
func refused(t *testing.T, dir, name, what string, rows []sinktest.Row[string]) {
	t.Helper()
	var damage *files.DamageError
	got, err := rowsFrom(dir)
	if !errors.As(err, &damage) || damage.File != name {
		t.Errorf("%s %s: Read = %v", name, what, err)
	}
	if len(got) > len(rows) || len(got) > 0 && !reflect.DeepEqual(got, rows[:len(got)]) || len(got)%151 != 0 {
		t.Errorf("%s %s: %d rows were read before it, not the first ones of whole batches", name, what, len(got))
	}
	found := false
	for _, problem := range verify(t, dir).Problems {
		if errors.As(problem, &damage) && damage.File == name {
			found = true
		}
	}
	if !found {
		t.Errorf("%s %s: Verify names other files: %v", name, what, verify(t, dir).Err())
	}
}

// rowsFrom reads as far as it goes.
func rowsFrom(dir string) (rows []sinktest.Row[string], err error) {
	for row, err := range files.Read(dir, files.ReadOptions{}) {
		if err != nil {
			return rows, err
		}
		rows = append(rows, sinktest.Row[string]{App: row.App, Output: row.Output, Batch: row.Batch, Partition: row.Partition, Value: string(row.Line)})
	}
	return rows, nil
}

func TestDamageIsRefusedByName(t *testing.T) {
	dir, rows, names := history(t)
	if r := verify(t, dir); r.Err() != nil || len(r.Garbage)+len(r.Temporary)+len(r.Unexpected) != 0 {
		t.Fatalf("before any damage: %v: %v", r, r.Err())
	}
	cases := 0
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		replace := func(with []byte, what string) {
			t.Helper()
			if bytes.Equal(with, data) {
				return
			}
			cases++
			if err := os.WriteFile(name, with, 0o666); err != nil {
				t.Fatal(err)
			}
			refused(t, dir, name, what, rows)
		}
		for at := 0; at < len(data); at += 512 {
			replace(data[:at], fmt.Sprintf("truncated at %d", at))
		}
		replace(data[:len(data)-1], "without its last byte")
		replace(append(data[:len(data):len(data)], '\n'), "with a byte more")
		for at := 0; at < len(data); at += 1024 {
			for _, bit := range []int{at, min(at+777, len(data)-1)} {
				flipped := bytes.Clone(data)
				flipped[bit] ^= 1 << (bit % 8)
				replace(flipped, fmt.Sprintf("with a bit flipped in byte %d", bit))
			}
		}
		if old := older(name); old != "" {
			with, err := os.ReadFile(old)
			if err != nil {
				t.Fatal(err)
			}
			replace(with, "swapped with an older one")
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		cases++
		if name == filepath.Join(dir, "app/out/commits/00000000000000000004") {
			// As if the batch were not committed yet. The driver log knows better, and Last tells it.
			got, err := rowsFrom(dir)
			if err != nil || !reflect.DeepEqual(got, rows[:4*151]) {
				t.Errorf("without the newest manifest: %d rows, %v", len(got), err)
			}
			if mark, err := files.Text(dir).Last(t.Context(), "app", "out"); err != nil || mark.ID != 3 {
				t.Errorf("without the newest manifest: Last = %+v, %v", mark, err)
			}
			if r := verify(t, dir); len(r.Garbage) != 2 {
				t.Errorf("without the newest manifest: %v", r)
			}
		} else {
			refused(t, dir, name, "removed", rows)
			if r := verify(t, dir); len(r.Garbage) > 0 {
				t.Errorf("without %s: %v is called garbage", name, r.Garbage)
			}
		}
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := rowsFrom(dir); err != nil || !reflect.DeepEqual(got, rows) {
		t.Errorf("after all is repaired: %v", err)
	}
	t.Logf("%d damages", cases)
}

func TestADriverStopsAtDamage(t *testing.T) {
	dir, _, _ := history(t)
	name := filepath.Join(dir, "app/out/commits/00000000000000000004")
	flip(t, name, 100)
	s := files.Text(dir)
	_, last := s.Last(t.Context(), "app", "out")
	for call, err := range map[string]error{
		"Last":   last,
		"Begin":  s.Begin(t.Context(), batch(5), 1),
		"Clean":  s.Clean(t.Context(), batch(4)),
		"Commit": s.Commit(t.Context(), batch(4), stagedNothing(t, 4)),
		"next":   s.Commit(t.Context(), batch(5), stagedNothing(t, 5)),
	} {
		var damage *files.DamageError
		if !errors.As(err, &damage) || damage.File != name {
			t.Errorf("%s = %v, want a DamageError of the newest manifest", call, err)
		}
	}
}

// stagedNothing returns what is staged for a batch without rows.
func stagedNothing(t *testing.T, id int64) []byte {
	t.Helper()
	staged, err := files.Text(t.TempDir()).Seal(t.Context(), batch(id), nil)
	if err != nil {
		t.Fatal(err)
	}
	return staged
}

func TestAManifestOfAnotherPlaceIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := files.Text(dir)
	for _, output := range []string{"out", "other"} {
		for id := range int64(2) {
			b := batch(id)
			b.Output = output
			put(t, s, b, []string{output})
		}
	}
	name := filepath.Join(dir, "app/out/commits/00000000000000000001")
	data, err := os.ReadFile(filepath.Join(dir, "app/other/commits/00000000000000000001"))
	if err == nil {
		err = os.WriteFile(name, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, below := range []string{"", "app", "app/out"} {
		var damage *files.DamageError
		r := verify(t, filepath.Join(dir, below))
		if !errors.As(r.Err(), &damage) || damage.File != name {
			t.Errorf("Verify of %q: %v", below, r.Err())
		}
	}
}
