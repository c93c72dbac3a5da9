package file_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/leat-io/leat/receivers/file"
)

// again is the selector of newSelector in a program that was started again at start.
func again(t testing.TB, start int64, dir fstest.MapFS) *file.Selector {
	t.Helper()
	sel, err := file.NewSelector("in", file.Options{Start: start, Interval: 2 * time.Second, FS: dir})
	if err != nil {
		t.Fatal(err)
	}
	return sel
}

func record(t testing.TB, sel *file.Selector, batch int64) []byte {
	t.Helper()
	data, err := sel.Record(batch)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A batch that is replayed has the files it had, whatever is in the folder now, and no later batch has them.
func TestReplay_gives_the_recorded_files(t *testing.T) {
	dir := fstest.MapFS{"in/a": at(13_000), "in/b": at(13_500)}
	old := newSelector(t, "in", file.Options{FS: dir})
	selected(t, old, 14_000)
	delete(dir, "in/b")
	dir["in/c"] = at(13_700) // visible late

	sel := again(t, 90_000, dir)
	if err := sel.Replay(14_000, record(t, old, 14_000)); err != nil {
		t.Fatal(err)
	}
	dir["in/b"] = at(13_500) // back
	if got := selected(t, sel, 14_000); got != "in/a in/b" {
		t.Errorf("the batch selects %q", got)
	}
	// 76 s after the stop, with a remember duration of 60 s.
	if got := selected(t, sel, 90_000); got != "in/c" {
		t.Errorf("the first batch selects %q", got)
	}
	if got := selected(t, sel, 92_000); got != "" {
		t.Errorf("the second batch selects %q", got)
	}
}

// The start is that of the first run, also when nothing but a batch was recorded, and one without files.
func TestReplay_F05_of_a_batch_without_files(t *testing.T) {
	dir := fstest.MapFS{"in/old": at(11_000)}
	old := newSelector(t, "in", file.Options{FS: dir})
	selected(t, old, 14_000)
	dir["in/a"] = at(20_000)
	sel := again(t, 500_000, dir)
	if err := sel.Replay(14_000, record(t, old, 14_000)); err != nil {
		t.Fatal(err)
	}
	dir["in/new"] = at(500_500)
	if got := selected(t, sel, 502_000); got != "in/a in/new" {
		t.Errorf("the first batch selects %q", got)
	}
}

// Files of the downtime are found however long it was, each once, by the batches that are made up for or by one batch alone.
func TestRestore_finds_what_appeared_in_the_downtime(t *testing.T) {
	for _, madeUp := range []bool{true, false} {
		dir := fstest.MapFS{}
		old := newSelector(t, "in", file.Options{FS: dir})
		for batch := int64(14_000); batch <= 100_000; batch += 2000 {
			dir[fmt.Sprintf("in/%06d", batch)] = at(batch - 500)
			if got := selected(t, old, batch); got == "" {
				t.Fatalf("batch %d selects nothing", batch)
			}
			old.Forget(batch)
		}
		for mod := int64(100_500); mod <= 400_000; mod += 10_000 {
			dir[fmt.Sprintf("in/%06d", mod)] = at(mod)
		}
		state, err := file.DecodeState(old.State().Append(nil))
		if err != nil {
			t.Fatal(err)
		}
		sel := again(t, 400_000, dir)
		sel.Restore(state)
		var got []string
		first := int64(402_000)
		if madeUp {
			first = 102_000
		}
		for batch := first; batch <= 500_000; batch += 2000 {
			if found := selected(t, sel, batch); found != "" {
				got = append(got, strings.Fields(found)...)
			}
			sel.Forget(batch)
		}
		if len(got) != 30 || got[0] != "in/100500" || !slices.IsSorted(got) {
			t.Errorf("made up %v: %d files: %v", madeUp, len(got), got)
		}
	}
}

// A folder that cannot be listed at first is waited for as long as a file is remembered.
func TestRestore_waits_for_a_folder(t *testing.T) {
	for missing, want := range map[int64]string{3: "in/c", 40: ""} {
		dir := fstest.MapFS{"in/a": at(13_000), "in/b": at(13_100)}
		old := newSelector(t, "in", file.Options{FS: dir})
		selected(t, old, 14_000)
		files := fstest.MapFS{}
		sel := again(t, 400_000, files)
		sel.Restore(old.State())
		batch := int64(400_000)
		for range missing {
			if got, warnings := sel.Select(batch); len(got) != 0 || len(warnings) == 0 {
				t.Errorf("a folder that is not there: %v, %v", got, warnings)
			}
			sel.Forget(batch)
			batch += 2000
		}
		files["in/b"], files["in/c"] = at(13_100), at(14_500)
		if got := selected(t, sel, batch); got != want {
			t.Errorf("missing for %d batches: then %q, want %q", missing, got, want)
		}
	}
}

func TestRecord_of_a_batch_that_is_not_known(t *testing.T) {
	sel := newSelector(t, "in", file.Options{FS: fstest.MapFS{"in/a": at(13_000)}})
	if data := record(t, sel, 14_000); len(data) != 0 || sel.Replay(14_000, data) != nil || len(sel.Selected()) != 0 {
		t.Errorf("a batch that nobody asked for is recorded as %q", data)
	}
	selected(t, sel, 14_000)
	selected(t, sel, 100_000)
	sel.Forget(100_000)
	if _, err := sel.Record(14_000); !errors.Is(err, file.ErrForgotten) {
		t.Errorf("a batch that is forgotten: %v", err)
	}
	if err := sel.Replay(16_000, record(t, sel, 100_000)); err == nil {
		t.Error("the record of another batch is replayed")
	}
}

func states(t *rapid.T) file.State {
	s := file.State{Threshold: rapid.Int64().Draw(t, "threshold"), Last: rapid.Int64().Draw(t, "last"),
		Waiting: rapid.Int64().Draw(t, "waiting")}
	for _, at := range slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(rapid.Int64(), 0, 4).Draw(t, "times")))) {
		batch := file.Batch{Time: at}
		for _, path := range slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(rapid.StringN(1, 9, 20), 0, 4).Draw(t, "paths")))) {
			batch.Files = append(batch.Files, file.File{Path: path, ModTime: rapid.Int64().Draw(t, "mod"), Size: rapid.Int64Min(0).Draw(t, "size")})
		}
		s.Batches = append(s.Batches, batch)
	}
	return s
}

func TestStateEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := states(t)
		data := s.Append(nil)
		got, err := file.DecodeState(data)
		if diff := cmp.Diff(s, got); diff != "" || err != nil {
			t.Fatalf("state (-want +got):\n%s\n%v", diff, err)
		}
		for n := range data {
			if _, err := file.DecodeState(data[:n]); err == nil {
				t.Fatalf("%d of %d bytes are a state", n, len(data))
			}
		}
	})
	_, err := file.DecodeState([]byte{3, 0, 0, 0})
	if version, ok := errors.AsType[*file.VersionError](err); !ok || version.Got != 3 {
		t.Errorf("another version: %v", err)
	}
	_, err = file.DecodeState([]byte{1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f})
	if corrupt, ok := errors.AsType[*file.CorruptError](err); !ok || corrupt.What != "batches" {
		t.Errorf("four billion batches in no bytes: %v", err)
	}
	golden := file.State{Threshold: 12_000, Last: 16_000, Batches: []file.Batch{
		{Time: 14_000, Files: []file.File{{Path: "in/a", ModTime: 13_000, Size: 300}}}, {Time: 16_000}}}
	if got, want := fmt.Sprintf("%x", golden.Append(nil)), "01c0bb0180fa0102e0da010104696e2f6190cb01ac02d00f00"; got != want {
		t.Errorf("version 1 of a state is %s, want %s", got, want)
	}
}

// FuzzDecodeState: what is decoded encodes as the same bytes, and nothing else happens.
func FuzzDecodeState(f *testing.F) {
	f.Add(file.State{Threshold: 1, Last: 2, Batches: []file.Batch{{Time: 3, Files: []file.File{{Path: "a"}, {Path: "b"}}}, {Time: 4}}}.Append(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := file.DecodeState(data)
		if err == nil && string(s.Append(nil)) != string(data) {
			t.Fatalf("%x is read as %v, which is %x", data, s, s.Append(nil))
		}
	})
}
