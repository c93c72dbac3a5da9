package file_test

import (
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/leat-io/leat/receivers/file"
)

// There is no limit on the files of a batch and no order of choice, so nothing is left over to be chosen twice or never.
// Shows F-01, F-02.
func TestSelect_F01_F02_each_file_once(t *testing.T) {
	dir := fstest.MapFS{}
	for i := range 5 {
		dir[fmt.Sprintf("in/%d", i)] = at(13_000 + int64(i))
	}
	sel := newSelector(t, "in", file.Options{FS: dir})
	expect(t, sel, 80_000, map[int64]string{14_000: "in/0 in/1 in/2 in/3 in/4", 16_000: "in/5"},
		map[int64]func(){16_000: func() { dir["in/5"] = at(15_000) }})
}

// Shows F-02.
func TestSelect_F02_files_too_old_are_left_out_for_good(t *testing.T) {
	const day = 24 * 60 * 60 * 1000
	now := int64(100 * day)
	dir := fstest.MapFS{"in/1": at(now - day), "in/2": at(now - 2*day), "in/8": at(now - 8*day)}
	sel, err := file.NewSelector("in", file.Options{IncludeExisting: true, Start: now, Interval: 2 * time.Second, Remember: 7 * day * time.Millisecond, FS: dir})
	if err != nil {
		t.Fatal(err)
	}
	if got := selected(t, sel, now+2000); got != "in/1 in/2" {
		t.Errorf("the first batch selects %q", got)
	}
	if got := selected(t, sel, now+4000); got != "" {
		t.Errorf("the second batch selects %q", got)
	}
}

// Shows F-03.
func TestSelect_F03_remembers_for_one_batch(t *testing.T) {
	dir := fstest.MapFS{"in/a": at(13_500)}
	sel := newSelector(t, "in", file.Options{FS: dir, Remember: 2 * time.Second})
	expect(t, sel, 24_000, map[int64]string{14_000: "in/a"}, nil)
}

// passing is a folder through which files pass: those older than keep are moved away, as they should be.
type passing struct {
	fstest.MapFS
	perBatch, keep int
	batch          int // the number of the last batch, from 0
}

func (p *passing) ReadDir(string) ([]fs.DirEntry, error) {
	var entries []fs.DirEntry
	for b := max(0, p.batch-p.keep+1); b <= p.batch; b++ {
		for i := range p.perBatch {
			entries = append(entries, passed{b, i})
		}
	}
	return entries, nil
}

func (p *passing) Glob(string) ([]string, error) { return []string{"in"}, nil }

func (p *passing) Stat(path string) (fs.FileInfo, error) {
	var f passed
	if _, err := fmt.Sscanf(path, "in/%06d-%03d", &f.batch, &f.i); err != nil {
		return passed{batch: -1}, nil
	}
	return f, nil
}

// passed is a file: number i of a batch, modified a second before it.
type passed struct{ batch, i int }

func (f passed) Name() string               { return fmt.Sprintf("%06d-%03d", f.batch, f.i) }
func (f passed) IsDir() bool                { return f.batch < 0 }
func (f passed) Type() fs.FileMode          { return 0 }
func (f passed) Info() (fs.FileInfo, error) { return f, nil }
func (f passed) Size() int64                { return 0 }
func (f passed) Mode() fs.FileMode          { return 0 }
func (f passed) ModTime() time.Time         { return time.UnixMilli(13_000 + 2000*int64(f.batch)) }
func (f passed) Sys() any                   { return nil }

// 200,000 empty files over 2,000 batches: each is selected once, and what is remembered does not grow.
// Shows F-07.
func TestSelect_F07_remembers_a_bounded_number_of_files(t *testing.T) {
	dir := &passing{perBatch: 100, keep: 2}
	sel := newSelector(t, "in", file.Options{FS: dir})
	total := 0
	for dir.batch = range 2000 {
		batch := 14_000 + 2000*int64(dir.batch)
		files, warnings := sel.Select(batch)
		if len(warnings) > 0 || len(files) != 100 {
			t.Fatalf("batch %d: %d files, %v", batch, len(files), warnings)
		}
		total += len(files)
		sel.Forget(batch)
		if dir.batch%100 == 0 {
			remembered := 0
			for _, b := range sel.Selected() {
				remembered += len(b.Files)
			}
			if limit := (60_000/2000 + 1) * 100; remembered > limit {
				t.Fatalf("batch %d: %d files remembered, want %d at most", batch, remembered, limit)
			}
		}
	}
	if total != 200_000 {
		t.Errorf("%d files selected", total)
	}
}

// The rule: a file is known by its path and its modification time, which a move keeps. One that is older than the stream
// or the remember duration is passed over; a touch before the move makes it count.
// Shows F-08.
func TestSelect_F08_file_with_an_old_time_is_passed_over_unless_touched(t *testing.T) {
	const hours2 = 2 * 60 * 60 * 1000
	start := int64(10 * hours2)
	for _, existing := range []bool{false, true} {
		dir := fstest.MapFS{"in/.keep": at(0)}
		sel, err := file.NewSelector("in", file.Options{Start: start, Interval: 2 * time.Second, IncludeExisting: existing, FS: dir})
		if err != nil {
			t.Fatal(err)
		}
		dir["in/old"] = at(start + 2000 - hours2)
		if got := selected(t, sel, start+2000); got != "" {
			t.Errorf("existing %t: a file of two hours ago is selected: %q", existing, got)
		}
		dir["in/old"] = at(start + 3000)
		if got := selected(t, sel, start+4000); got != "in/old" {
			t.Errorf("existing %t: touched: %q", existing, got)
		}
	}
}

// The rule: files come whole and are read once. The number a file has on disk means nothing: a file that replaces one
// which is remembered is not read; under a name of its own it is, however small. Once the first is forgotten, a file under
// its name counts as a new one, if it is young enough.
// Shows F-16, F-19.
func TestSelect_F16_F19_a_name_is_read_once_while_it_is_remembered(t *testing.T) {
	for replaced, want := range map[int64]map[int64]string{
		15_000: {14_000: "in/foo.log", 18_000: "in/foo.log.2"},
		19_000: {14_000: "in/foo.log", 18_000: "in/foo.log.2", 78_000: "in/foo.log"},
	} {
		dir := fstest.MapFS{"in/foo.log": at(13_000)}
		sel := newSelector(t, "in", file.Options{FS: dir})
		expect(t, sel, 150_000, want, map[int64]func(){
			18_000: func() { dir["in/foo.log.2"] = at(17_000) },
			20_000: func() { dir["in/foo.log"] = at(replaced) },
		})
	}
}

// The folder is listed anew for every batch; nothing is kept between two listings that could be stale.
// Shows F-21.
func TestSelect_F21_no_batch_is_empty_for_lack_of_a_listing(t *testing.T) {
	dir := fstest.MapFS{}
	sel := newSelector(t, "in", file.Options{FS: dir})
	before, want := map[int64]func(){}, map[int64]string{}
	for i := range int64(4) {
		name := fmt.Sprintf("in/%d", i)
		batch := 14_000 + 2000*i
		before[batch], want[batch] = func() { dir[name] = at(batch - 500) }, name
	}
	expect(t, sel, 30_000, want, before)
}
