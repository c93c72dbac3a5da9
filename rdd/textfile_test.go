package rdd

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write makes a file below dir and returns its name.
func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// zipped is text as one gzip member.
func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextFile(t *testing.T) {
	dir := t.TempDir()
	big := strings.Repeat("0123456789\r\n", 1000) + strings.Repeat("z", 5<<20) + "\nlast"
	files := map[string]string{
		"empty": "", "plain": "a\nb\nc", "crlf": "a\r\nb\r\n", "cr": "a\rb\rc", "bytes": "\xff\xfe\nok\n", "big": big,
	}
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		for name, text := range files {
			path := write(t, dir, name+".txt", text)
			for _, n := range []int{1, 2, 7} {
				r := TextFile(c, path, n)
				same(t, name, collect(t, r), linesOf(text))
				if got, want := sizeOf(t, r), max(1, min(n, len(text))); got != want {
					t.Errorf("%s has %d partitions, want %d", name, got, want)
				}
			}
			gz := write(t, dir, name+".gz", zipped(t, text))
			r := TextFile(c, gz, 4)
			same(t, name+" zipped", collect(t, r), linesOf(text))
			if n := sizeOf(t, r); n != 1 {
				t.Errorf("%s zipped has %d partitions, want 1", name, n)
			}
		}
		t.Run("lines that are kept survive what follows", func(t *testing.T) {
			r := TextFile(c, filepath.Join(dir, "big.txt"), 2).Cache()
			for range 2 {
				same(t, "lines", collect(t, r), linesOf(big))
			}
		})
		t.Run("gzip of several members", func(t *testing.T) {
			path := write(t, dir, "multi.gz", zipped(t, "a\nb")+zipped(t, "c\n")+zipped(t, "d"))
			same(t, "lines", collect(t, TextFile(c, path, 1)), []string{"a", "bc", "d"})
		})
		t.Run("gzip cut short or damaged", func(t *testing.T) {
			whole := zipped(t, strings.Repeat("some text\n", 5000))
			_, err := TextFile(c, write(t, dir, "short.gz", whole[:len(whole)/2]), 1).Collect(t.Context())
			wantErr(t, "cut short", err, io.ErrUnexpectedEOF)
			if _, err := TextFile(c, write(t, dir, "bad.gz", "no gzip at all, but long enough"), 1).Collect(t.Context()); err == nil {
				t.Error("what is no gzip is read")
			}
		})
	})
}

func TestTextFilePaths(t *testing.T) {
	c, _ := inlineContext(t, Options{})
	dir := t.TempDir()
	write(t, dir, "in/b.txt", "b1\nb2\n")
	write(t, dir, "in/a.txt", "a1\na2\n")
	write(t, dir, "in/_SUCCESS", "")
	write(t, dir, "in/.hidden", "no\n")
	write(t, dir, "in/sub/deep.txt", "no\n")
	write(t, dir, "other/c.log", "c1\n")
	if err := os.Symlink(filepath.Join(dir, "other", "c.log"), filepath.Join(dir, "in", "c.link")); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		path string
		want []string
	}{
		{"in", []string{"a1", "a2", "b1", "b2", "c1"}},
		{"in/*.txt", []string{"a1", "a2", "b1", "b2"}},
		{"*/[bc].*", []string{"b1", "b2", "c1", "c1"}},
		{"oth*", []string{"c1"}},
		{"in/b.txt", []string{"b1", "b2"}},
	} {
		for _, n := range []int{1, 2, 7} {
			same(t, x.path, collect(t, TextFile(c, filepath.Join(dir, x.path), n)), x.want)
		}
	}
	same(t, "files in the order given", collect(t, TextFiles(c, []string{filepath.Join(dir, "in/b.txt"), filepath.Join(dir, "in/a.txt")})), []string{"b1", "b2", "a1", "a2"})
	same(t, "no files", collect(t, TextFiles(c, nil)), []string{})
	t.Run("an empty folder has no partitions", func(t *testing.T) {
		if n := sizeOf(t, TextFile(c, t.TempDir(), 3)); n != 0 {
			t.Errorf("%d partitions, want 0", n)
		}
	})
	t.Run("L2 a missing path fails when partitions are asked for, and stays failed", func(t *testing.T) {
		path := filepath.Join(dir, "later.txt")
		r := TextFile(c, path, 1)
		if r.Err() != nil {
			t.Errorf("fails at once: %v", r.Err())
		}
		_, err := r.Collect(t.Context())
		wantErr(t, "collect", err, fs.ErrNotExist)
		write(t, dir, "later.txt", "there now\n")
		_, err = Map(r, strings.ToUpper).Count(t.Context())
		wantErr(t, "derived", err, fs.ErrNotExist)
		same(t, "made anew", collect(t, TextFile(c, path, 1)), []string{"there now"})
	})
	t.Run("a file that goes away is a task error", func(t *testing.T) {
		onRunners(t, Options{}, func(t *testing.T, c *Context) {
			path := write(t, dir, "gone.txt", "x\n")
			r := TextFile(c, path, 1)
			sizeOf(t, r)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			_, err := r.Collect(t.Context())
			if err == nil || !strings.Contains(err.Error(), "gone.txt") {
				t.Errorf("%v, want an error naming the file", err)
			}
		})
	})
}

// The splits of files cover every byte once, are nowhere empty, and are at least as many as asked for.
func TestFileSplits(t *testing.T) {
	dir := t.TempDir()
	for _, sizes := range [][]int{{0}, {1}, {10}, {91}, {1000}, {9, 9}, {100, 0, 1}, {109, 109, 109, 109}} {
		var files []string
		total := 0
		for i, size := range sizes {
			files = append(files, write(t, dir, fmt.Sprintf("f%d", i), strings.Repeat("x", size)))
			total += size
		}
		for _, n := range []int{1, 2, 3, 6, 10, 21, 1000} {
			splits, err := fileSplits(files, n)
			if err != nil {
				t.Fatal(err)
			}
			if len(splits) < min(n, total) {
				t.Errorf("files of %v in %d: %d splits", sizes, n, len(splits))
			}
			at := 0
			for i, size := range sizes {
				for from := int64(0); ; at++ {
					s := splits[at]
					if s.path != files[i] || s.from != from || s.to < from || s.to == from && size > 0 {
						t.Fatalf("files of %v in %d: split %d is %v, want it to begin at %d of file %d", sizes, n, at, s, from, i)
					}
					if from = s.to; from == int64(size) {
						at++
						break
					}
				}
			}
			if at != len(splits) {
				t.Errorf("files of %v in %d: %d splits, %d cover them", sizes, n, len(splits), at)
			}
		}
	}
}

func TestSaveAsTextFile(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		dir := filepath.Join(t.TempDir(), "a", "out")
		r := Parallelize(c, []Pair[string, Pair[int, float64]]{kv("x", kv(1, 0.5)), kv("y", kv(2, 1.0)), kv("z", kv(3, 2.0))}, 2)
		if err := r.SaveAsTextFile(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		same(t, "files", readDir(t, dir), map[string]string{"part-00000": "(x,(1,0.5))\n", "part-00001": "(y,(2,1))\n(z,(3,2))\n", "_SUCCESS": ""})
		same(t, "read back", collect(t, TextFile(c, dir, 1)), []string{"(x,(1,0.5))", "(y,(2,1))", "(z,(3,2))"})
		wantErr(t, "a folder that is there", r.SaveAsTextFile(t.Context(), dir), fs.ErrExist)
		write(t, dir, "notes", "mine")
		if err := Parallelize(c, []string{"a", "b\xff"}, 1).OverwriteTextFile(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		same(t, "overwritten", readDir(t, dir), map[string]string{"part-00000": "a\nb\xff\n", "_SUCCESS": "", "notes": "mine"})
		other := filepath.Join(t.TempDir(), "new")
		if err := Parallelize(c, [][]byte{[]byte("raw")}, 2).OverwriteTextFile(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		same(t, "bytes, an empty part as well", readDir(t, other), map[string]string{"part-00000": "", "part-00001": "raw\n", "_SUCCESS": ""})
		bad := filepath.Join(t.TempDir(), "bad")
		err := Map(Parallelize(c, upTo(3), 1), func(x int) int { return 1 / (x - 2) }).SaveAsTextFile(t.Context(), bad)
		var user *UserError
		if !errors.As(err, &user) || user.Offset != 1 {
			t.Errorf("%v, want the map's UserError", err)
		}
		if _, err := os.Stat(bad); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("something is left of a failed save: %v", err)
		}
	})
}

// readDir is the text of the files of a folder by name.
func readDir(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(text)
	}
	return files
}
