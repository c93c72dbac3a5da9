package file_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"pgregory.net/rapid"

	"github.com/leat-io/leat/receivers/file"
)

func sized(ms int64, size int) *fstest.MapFile {
	return &fstest.MapFile{Data: make([]byte, size), ModTime: time.UnixMilli(ms)}
}

// A batch takes the oldest files up to the limit, one at least; the others wait, longer than the remember duration too.
func TestSelectAtMost(t *testing.T) {
	for name, test := range map[string]struct {
		limit file.Limit
		want  []string // of batches 14000, 16000, ...
	}{
		"files": {file.Limit{Files: 2}, []string{"in/b in/c", "in/a in/d", "in/e", ""}},
		"bytes": {file.Limit{Bytes: 30}, []string{"in/b in/c", "in/a", "in/d in/e", ""}},
		"one":   {file.Limit{Bytes: 1}, []string{"in/b", "in/c", "in/a", "in/d", "in/e", ""}},
		"both":  {file.Limit{Files: 1, Bytes: 100}, []string{"in/b", "in/c", "in/a", "in/d", "in/e", ""}},
		"none":  {file.Limit{}, []string{"in/a in/b in/c in/d in/e", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, byOption := range []bool{false, true} {
				dir := fstest.MapFS{"in/a": sized(13_500, 31), "in/b": sized(13_000, 10), "in/c": sized(13_000, 20),
					"in/d": sized(13_600, 5), "in/e": sized(14_000, 25)}
				opts := file.Options{FS: dir}
				limit := test.limit
				if byOption {
					opts.Limit, limit = test.limit, file.Limit{Files: 100}
				}
				sel := newSelector(t, "in", opts)
				for i, want := range test.want {
					files, warnings := sel.SelectAtMost(14_000+2000*int64(i), limit)
					if got := names(files); got != want || len(warnings) > 0 {
						t.Errorf("batch %d selects %q, want %q; %v", i, got, want, warnings)
					}
				}
				if n, bytes := sel.Waiting(); n != 0 || bytes != 0 {
					t.Errorf("%d files of %d bytes wait at the end", n, bytes)
				}
			}
		})
	}
}

// A file that waits may be changed or removed: it is taken as it is when its turn comes, or not at all.
func TestSelectAtMost_of_files_that_change_while_they_wait(t *testing.T) {
	dir := fstest.MapFS{"in/a": sized(13_000, 1), "in/b": sized(13_100, 1), "in/c": sized(13_200, 1), "in/d": sized(13_300, 1)}
	sel := newSelector(t, "in", file.Options{FS: dir, Limit: file.Limit{Files: 1}})
	if got := selected(t, sel, 14_000); got != "in/a" {
		t.Errorf("first: %q", got)
	}
	delete(dir, "in/b")
	dir["in/c"] = sized(15_500, 7)
	files, _ := sel.Select(16_000)
	if len(files) != 1 || files[0] != (file.File{Path: "in/c", ModTime: 15_500, Size: 7}) {
		t.Errorf("second: %v", files)
	}
	if got := selected(t, sel, 18_000); got != "in/d" {
		t.Errorf("third: %q", got)
	}
}

// Whatever the limits, and however often the program is left and comes back (from a checkpoint, from recorded batches, or both), each
// file is in one batch, and a batch that is made again has the files it had.
func TestSelectAtMost_over_restarts_each_file_once(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir := fstest.MapFS{"in/.keep": at(0)}
		count := map[string]int{}
		now := int64(14_000)
		sel, err := file.NewSelector("in", file.Options{Start: 12_000, Interval: 2 * time.Second, FS: dir, Remember: 6 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		number := 0
		var saved []byte
		log := map[int64][]byte{} // since saved
		var order []int64
		batch := func(limit file.Limit) {
			files, _ := sel.SelectAtMost(now, limit)
			for _, f := range files {
				count[f.Path]++
			}
			data, err := sel.Record(now)
			if err != nil {
				t.Fatal(err)
			}
			log[now] = data
			order = append(order, now)
			sel.Forget(now)
			now += 2000
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0: // a checkpoint
				saved, log, order = sel.State().Append(nil), map[int64][]byte{}, nil
			case 1, 2: // the program is left and comes back
				now += 2000 * rapid.Int64Range(0, 10).Draw(t, "downtime")
				sel, err = file.NewSelector("in", file.Options{Start: now, Interval: 2 * time.Second, FS: dir, Remember: 6 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				if saved != nil {
					state, err := file.DecodeState(saved)
					if err != nil {
						t.Fatal(err)
					}
					sel.Restore(state)
				} else if len(order) == 0 {
					sel.Restore(file.State{Threshold: 12_000, Last: 12_000})
				}
				for _, at := range order {
					if err := sel.Replay(at, log[at]); err != nil {
						t.Fatal(err)
					}
				}
			case 3: // nothing for a batch
				sel.Hold(now)
				batch(file.Limit{})
			case 4, 5, 6:
				for range rapid.IntRange(0, 8).Draw(t, "files") {
					number++
					// Some become visible up to two batches after their time.
					age := rapid.Int64Range(0, 4000).Draw(t, "age")
					dir[fmt.Sprintf("in/%04d", number)] = at(max(now-age, 12_001))
				}
			default:
				batch(file.Limit{Files: rapid.IntRange(0, 3).Draw(t, "limit")})
			}
		}
		for range 6 {
			batch(file.Limit{})
		}
		var wrong []string
		for path := range dir {
			if path != "in/.keep" && count[path] != 1 {
				wrong = append(wrong, fmt.Sprintf("%s %d times", path, count[path]))
			}
		}
		slices.Sort(wrong)
		if len(wrong) > 0 {
			t.Fatalf("%v", wrong)
		}
	})
}
