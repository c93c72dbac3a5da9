package file_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/file"
)

func at(ms int64) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte("x"), ModTime: time.UnixMilli(ms)}
}

func Example() {
	dir := fstest.MapFS{"logs/a.txt": at(12_500), "logs/b.txt": at(13_000), "logs/.part": at(13_000)}
	sel, err := file.NewSelector("logs", file.Options{Start: 12_000, Interval: 2 * time.Second, FS: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	for t := int64(14_000); t <= 16_000; t += 2000 {
		files, warnings := sel.Select(t)
		fmt.Println(t, files, warnings)
		dir["logs/c.txt"] = at(15_000)
	}
	// Output:
	// 14000 [{logs/a.txt 12500 1} {logs/b.txt 13000 1}] []
	// 16000 [{logs/c.txt 15000 1}] []
}

// newSelector is the stream of the cases: batch interval 2 s, made at 12000.
func newSelector(t *testing.T, pattern string, opts file.Options) *file.Selector {
	t.Helper()
	opts.Start, opts.Interval = 12_000, 2*time.Second
	sel, err := file.NewSelector(pattern, opts)
	if err != nil {
		t.Fatal(err)
	}
	return sel
}

// selected returns the names that the batch selects, and fails on a warning.
func selected(t *testing.T, sel *file.Selector, batch int64) string {
	t.Helper()
	files, warnings := sel.Select(batch)
	if len(warnings) > 0 {
		t.Errorf("batch %d: %v", batch, warnings)
	}
	return names(files)
}

func names(files []file.File) string {
	var names []string
	for _, f := range files {
		names = append(names, filepath.ToSlash(f.Path))
	}
	return strings.Join(names, " ")
}

// expect selects every batch from 14000 to the last, in order, and compares those in want; all others must be empty.
// Each batch completes before the next.
func expect(t *testing.T, sel *file.Selector, last int64, want map[int64]string, before map[int64]func()) {
	t.Helper()
	for batch := int64(14_000); batch <= last; batch += 2000 {
		if change, ok := before[batch]; ok {
			change()
		}
		if got := selected(t, sel, batch); got != want[batch] {
			t.Errorf("batch %d selects %q, want %q", batch, got, want[batch])
		}
		sel.Forget(batch)
	}
}

func someFiles() fstest.MapFS {
	return fstest.MapFS{"in/10000": at(10_000), "in/12000": at(12_000), "in/13000": at(13_000), "in/14000": at(14_000), "in/14001": at(14_001)}
}

func TestSelect_I7_new_files_only(t *testing.T) {
	sel := newSelector(t, "in", file.Options{FS: someFiles()})
	expect(t, sel, 90_000, map[int64]string{14_000: "in/13000 in/14000", 16_000: "in/14001"}, nil)
}

func TestSelect_I8_existing_files_too(t *testing.T) {
	sel := newSelector(t, "in", file.Options{FS: someFiles(), IncludeExisting: true})
	expect(t, sel, 90_000, map[int64]string{14_000: "in/10000 in/12000 in/13000 in/14000", 16_000: "in/14001"}, nil)
}

func TestSelect_I9_file_that_becomes_visible_late(t *testing.T) {
	for _, test := range []struct {
		visible int64
		want    map[int64]string
	}{
		{74_000, map[int64]string{74_000: "in/late"}},
		{76_000, nil},
	} {
		dir := fstest.MapFS{"in/old": at(1)}
		sel := newSelector(t, "in", file.Options{FS: dir})
		expect(t, sel, 150_000, test.want, map[int64]func(){test.visible: func() { dir["in/late"] = at(15_000) }})
	}
}

func TestSelect_I10_rewritten_file_is_not_read_again(t *testing.T) {
	dir := fstest.MapFS{"in/a": at(13_000)}
	sel := newSelector(t, "in", file.Options{FS: dir})
	expect(t, sel, 150_000, map[int64]string{14_000: "in/a"}, map[int64]func(){16_000: func() { dir["in/a"] = at(15_000) }})
	if got := sel.Selected(); len(got) != 31 || got[0].Time != 90_000 {
		t.Errorf("%d batches remembered at the end, from %v on", len(got), got[0].Time)
	}
}

func TestSelect_takes_a_file_again_that_is_changed_once_its_batch_is_forgotten(t *testing.T) {
	dir := fstest.MapFS{"in/a": at(13_000)}
	sel := newSelector(t, "in", file.Options{FS: dir})
	expect(t, sel, 90_000, map[int64]string{14_000: "in/a", 78_000: "in/a"}, map[int64]func(){78_000: func() { dir["in/a"] = at(77_000) }})
}

func TestSelect_I11_hidden_files_and_directories(t *testing.T) {
	dir := fstest.MapFS{
		"in/.x": at(13_000), "in/x": at(13_000), "in/sub/y": at(13_000),
		"in/sub":  {Mode: fs.ModeDir | 0o755, ModTime: time.UnixMilli(13_000)},
		"in/pipe": {Mode: fs.ModeNamedPipe, ModTime: time.UnixMilli(13_000)},
	}
	if got := selected(t, newSelector(t, "in", file.Options{FS: dir}), 14_000); got != "in/x" {
		t.Errorf("default filter selects %q", got)
	}
	all := file.Options{FS: dir, Filter: func(string) bool { return true }}
	if got := selected(t, newSelector(t, "in", all), 14_000); got != "in/.x in/x" {
		t.Errorf("filter that accepts all selects %q", got)
	}
}

func TestSelect_I12_directory_moved_into_the_pattern(t *testing.T) {
	root := t.TempDir()
	write := func(path string, ms int64) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("text"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.UnixMilli(ms)); err != nil {
			t.Fatal(err)
		}
	}
	write("d1/a", 13_000)
	write("new/early", 11_000)
	write("new/b", 15_000)
	write("new/c", 15_500)
	write("d0", 15_000) // a file that the pattern matches
	sel := newSelector(t, filepath.Join(root, "d*")+string(filepath.Separator), file.Options{})
	if got := selected(t, sel, 14_000); got != filepath.ToSlash(root)+"/d1/a" {
		t.Errorf("batch 14000 selects %q", got)
	}
	if err := os.Rename(filepath.Join(root, "new"), filepath.Join(root, "d2")); err != nil {
		t.Fatal(err)
	}
	files, warnings := sel.Select(16_000)
	want := []file.File{
		{Path: filepath.Join(root, "d2", "b"), ModTime: 15_000, Size: 4},
		{Path: filepath.Join(root, "d2", "c"), ModTime: 15_500, Size: 4},
	}
	if diff := cmp.Diff(want, files); diff != "" || len(warnings) > 0 {
		t.Errorf("batch 16000 (-want +got):\n%s\n%v", diff, warnings)
	}
}

func TestSelect_follows_a_link_to_a_file(t *testing.T) {
	root := t.TempDir()
	target := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(target, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(target, time.Time{}, time.UnixMilli(13_000)); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link": target, "broken": target + "2", "dir": root} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	if got := selected(t, newSelector(t, root, file.Options{}), 14_000); got != filepath.ToSlash(root)+"/link" {
		t.Errorf("selected %q", got)
	}
}

func TestSelect_I13_missing_directory(t *testing.T) {
	dir := fstest.MapFS{}
	sel := newSelector(t, "in", file.Options{FS: dir})
	files, warnings := sel.Select(14_000)
	if len(files) != 0 || len(warnings) != 1 || !errors.Is(warnings[0], fs.ErrNotExist) {
		t.Errorf("batch 14000: %v, %v", files, warnings)
	}
	dir["in/a"] = at(15_000)
	if got := selected(t, sel, 16_000); got != "in/a" {
		t.Errorf("batch 16000 selects %q", got)
	}
}

// faultyFS fails for the paths it has errors for.
type faultyFS struct {
	fstest.MapFS
	fails map[string]error
}

func (f *faultyFS) ReadDir(dir string) ([]fs.DirEntry, error) {
	if err := f.fails[dir]; err != nil {
		return nil, err
	}
	return f.MapFS.ReadDir(dir)
}

func (f *faultyFS) Stat(path string) (fs.FileInfo, error) {
	if err := f.fails[filepath.ToSlash(path)]; err != nil {
		return nil, err
	}
	return f.MapFS.Stat(path)
}

func TestSelect_leaves_what_fails_to_a_later_batch(t *testing.T) {
	broken := errors.New("stale handle")
	for _, test := range []struct {
		name, path string
		err        error
		want       map[int64]string
		warnings   int
	}{
		{"listing", "d1", broken, map[int64]string{14_000: "d2/b", 16_000: "d1/a"}, 1},
		{"describing", "d1/a", broken, map[int64]string{14_000: "d2/b", 16_000: "d1/a"}, 1},
		{"file that vanished meanwhile", "d1/a", fs.ErrNotExist, map[int64]string{14_000: "d2/b", 16_000: "d1/a"}, 0},
		{"nothing", "", nil, map[int64]string{14_000: "d1/a d2/b", 16_000: ""}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := &faultyFS{fstest.MapFS{"d1/a": at(13_000), "d2/b": at(13_000)}, map[string]error{test.path: test.err}}
			sel := newSelector(t, "d*", file.Options{FS: dir})
			files, warnings := sel.Select(14_000)
			if got := names(files); got != test.want[14_000] || len(warnings) != test.warnings {
				t.Errorf("batch 14000: %q, %v", got, warnings)
			}
			for _, w := range warnings {
				if !errors.Is(w, broken) || !strings.Contains(w.Error(), "d1") {
					t.Errorf("warning %v", w)
				}
			}
			dir.fails = nil
			if got := selected(t, sel, 16_000); got != test.want[16_000] {
				t.Errorf("batch 16000: %q", got)
			}
		})
	}
}

func TestSelect_gives_the_same_answer_for_the_same_batch(t *testing.T) {
	dir := fstest.MapFS{"in/a": at(13_000)}
	sel := newSelector(t, "in", file.Options{FS: dir})
	first, _ := sel.Select(14_000)
	empty, _ := sel.Select(12_000)
	dir["in/b"] = at(11_500)
	delete(dir, "in/a")
	again, _ := sel.Select(14_000)
	emptyAgain, _ := sel.Select(12_000)
	if names(first) != "in/a" || names(again) != "in/a" || len(empty)+len(emptyAgain) != 0 {
		t.Errorf("first %v and %v, then %v and %v", first, empty, again, emptyAgain)
	}
}

func TestRestore_goes_on_as_if_nothing_had_stopped(t *testing.T) {
	dir := fstest.MapFS{"in/a": at(13_000), "in/b": at(13_500)}
	old := newSelector(t, "in", file.Options{FS: dir})
	selected(t, old, 14_000)
	state := old.State()
	dir["in/c"] = at(15_000)

	// Made later, which must not hide the file that appeared while nothing ran.
	sel, err := file.NewSelector("in", file.Options{Start: 50_000, Interval: 2 * time.Second, FS: dir})
	if err != nil {
		t.Fatal(err)
	}
	sel.Restore(state)
	if diff := cmp.Diff(state, sel.State()); diff != "" {
		t.Errorf("state (-saved +restored):\n%s", diff)
	}
	state.Batches[0].Files[0].Path = "changed by the caller"
	expect(t, sel, 90_000, map[int64]string{14_000: "in/a in/b", 16_000: "in/c"}, nil)
}

func TestNewSelector_rounds_the_remember_duration_up(t *testing.T) {
	for _, test := range []struct {
		interval, remember time.Duration
		want               int64
	}{
		{0, 0, 60_000},
		{2 * time.Second, 0, 60_000},
		{7 * time.Second, 0, 63_000},
		{90 * time.Second, 0, 90_000},
		{2 * time.Second, 3 * time.Second, 4000},
		{0, 1500 * time.Millisecond, 1500},
	} {
		sel, err := file.NewSelector("in", file.Options{Interval: test.interval, Remember: test.remember})
		if err != nil || sel.Remember() != test.want {
			t.Errorf("interval %v, remember %v: %d ms, %v; want %d", test.interval, test.remember, sel.Remember(), err, test.want)
		}
	}
}

func TestNewSelector_refuses_what_cannot_be_used(t *testing.T) {
	for _, opts := range []file.Options{{Interval: -1}, {Interval: time.Microsecond}, {Remember: -1}, {Remember: time.Nanosecond}} {
		_, err := file.NewSelector("in", opts)
		if _, ok := errors.AsType[*receivers.OptionError](err); !ok {
			t.Errorf("%+v: %v", opts, err)
		}
	}
	if _, err := file.NewSelector("in[", file.Options{}); !errors.Is(err, filepath.ErrBadPattern) {
		t.Errorf("bad pattern: %v", err)
	}
}

// Files that become visible within the remember duration are selected exactly once, over completions and restarts.
func TestSelect_takes_each_file_once(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir := fstest.MapFS{"in/.keep": at(0)}
		opts := file.Options{Start: 1000, Interval: time.Second, Remember: 5 * time.Second, FS: dir}
		sel, err := file.NewSelector("in", opts)
		if err != nil {
			t.Fatal(err)
		}
		visible := map[int64][]string{} // by batch
		seen := map[string]int{}
		for i := range rapid.IntRange(0, 20).Draw(t, "files") {
			name := fmt.Sprintf("in/%02d", i)
			mod := rapid.Int64Range(1001, 20_000).Draw(t, "mod")
			batch := (mod + 999) / 1000 * 1000
			batch += 1000 * rapid.Int64Range(0, 3).Draw(t, "late")
			visible[batch] = append(visible[batch], name)
			seen[name] = 0
			dir["later/"+name] = at(mod)
		}
		for batch := int64(2000); batch <= 40_000; batch += 1000 {
			for _, name := range visible[batch] {
				dir[name] = dir["later/"+name]
			}
			if rapid.IntRange(0, 4).Draw(t, "restart") == 0 {
				state := sel.State()
				opts.Start = batch
				if sel, err = file.NewSelector("in", opts); err != nil {
					t.Fatal(err)
				}
				sel.Restore(state)
			}
			files, warnings := sel.Select(batch)
			if len(warnings) > 0 {
				t.Fatal(warnings)
			}
			for _, f := range files {
				seen[filepath.ToSlash(f.Path)]++
			}
			sel.Forget(batch)
		}
		for name, n := range seen {
			if n != 1 {
				t.Fatalf("%s selected %d times", name, n)
			}
		}
	})
}

func BenchmarkSelect(b *testing.B) {
	const n = 1000
	dir := b.TempDir()
	for i := range n {
		path := filepath.Join(dir, fmt.Sprintf("%04d", i))
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			b.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.UnixMilli(1)); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("selector", func(b *testing.B) {
		sel, err := file.NewSelector(dir, file.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		t := int64(1_000_000)
		for b.Loop() {
			t += 1000
			if files, warnings := sel.Select(t); len(files)+len(warnings) > 0 {
				b.Fatal(files, warnings)
			}
			sel.Forget(t)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
	})
	b.Run("plain listing", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				if _, err := os.Stat(filepath.Join(dir, e.Name())); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
	})
}
