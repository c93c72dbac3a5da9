package rdd

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/leat-io/leat/lineage"
)

func TestSaveCompressed(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		for _, x := range []struct {
			c      Compression
			suffix string
		}{{NoCompression, ""}, {Gzip, ".gz"}, {Zstd, ".zst"}} {
			dir := filepath.Join(t.TempDir(), "out")
			long := strings.Repeat("long ", 14_000)
			r := Parallelize(c, []string{"a", long, "", "b"}, 5)
			if err := r.SaveAsTextFile(t.Context(), dir, Compress(x.c)); err != nil {
				t.Fatal(err)
			}
			same(t, "names", slices.Sorted(maps.Keys(readDir(t, dir))), []string{"_SUCCESS", "part-00000" + x.suffix, "part-00001" + x.suffix,
				"part-00002" + x.suffix, "part-00003" + x.suffix, "part-00004" + x.suffix})
			same(t, "read back", partsOf(t, TextFile(c, dir, 1)), [][]string{nil, {"a"}, {long}, {""}, {"b"}})
			wantErr(t, "a folder that is there", r.SaveAsTextFile(t.Context(), dir), fs.ErrExist)
			if err := Parallelize(c, []string{"x"}, 1).SaveAsTextFile(t.Context(), dir, Overwrite()); err != nil {
				t.Fatal(err)
			}
			same(t, "overwritten", readDir(t, dir), map[string]string{"part-00000": "x\n", "_SUCCESS": ""})
		}
		err := Parallelize(c, upTo(2), 1).SaveAsTextFile(t.Context(), filepath.Join(t.TempDir(), "x"), Compress(9))
		wantErr(t, "an unknown compression", err, ErrArgument)
	})
}

func TestSaveAsCSV(t *testing.T) {
	rows := [][]string{{"a", "b,c"}, {"", `say "d"`}, {"line\nend", "\ufeffx"}, {" e", "#"}, {"", ""}}
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		for _, comma := range []rune{0, ';', '\t', '€'} {
			for _, z := range []Compression{NoCompression, Gzip, Zstd} {
				dir := filepath.Join(t.TempDir(), "out")
				r := Parallelize(c, rows, 3)
				o := CSVSaveOptions{Comma: comma, Header: []string{"h", "i"}, CRLF: comma == ';'}
				if err := SaveAsCSV(t.Context(), r, dir, o, Compress(z)); err != nil {
					t.Fatal(err)
				}
				same(t, "read back", partsOf(t, CSVFile(c, dir, 1, CSVOptions{Comma: comma, Header: true})), partsOf(t, r))
			}
		}
		dir := filepath.Join(t.TempDir(), "plain")
		if err := SaveAsCSV(t.Context(), Parallelize(c, [][]string{{""}, {"a b"}}, 2), dir, CSVSaveOptions{}); err != nil {
			t.Fatal(err)
		}
		same(t, "bytes", readDir(t, dir), map[string]string{"part-00000.csv": "\"\"\n", "part-00001.csv": "a b\n", "_SUCCESS": ""})
		bad := filepath.Join(t.TempDir(), "bad")
		err := SaveAsCSV(t.Context(), Parallelize(c, [][]string{{"a"}, {}}, 1), bad, CSVSaveOptions{})
		var user *UserError
		if !errors.As(err, &user) || user.Offset != 1 {
			t.Errorf("a record of no fields: %v", err)
		}
		wantErr(t, "a comma that is a quote", SaveAsCSV(t.Context(), Parallelize(c, rows, 1), bad, CSVSaveOptions{Comma: '"'}), ErrArgument)
		wantErr(t, "the field count is checked when read", errOf(CSVFile(c, write(t, t.TempDir(), "a", "a\nb,c\n"), 1, CSVOptions{}).Count(t.Context())), csv.ErrFieldCount)
	})
}

// refuser has no JSON where it is negative.
type refuser int

func (r refuser) MarshalJSON() ([]byte, error) {
	if r < 0 {
		return nil, fs.ErrInvalid
	}
	if r == 13 {
		panic("thirteen")
	}
	return fmt.Append(nil, int(r)), nil
}

func TestSaveAsJSON(t *testing.T) {
	rows := []reading{{Name: "<a&b>", At: []int{1, 2}}, {Name: "line\nend\u2028", Next: &reading{At: []int{}}}, {Name: strings.Repeat("x", 70_000)}}
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		for _, z := range []Compression{NoCompression, Gzip, Zstd} {
			dir := filepath.Join(t.TempDir(), "out")
			r := Parallelize(c, rows, 4)
			if err := r.SaveAsJSON(t.Context(), dir, Compress(z)); err != nil {
				t.Fatal(err)
			}
			same(t, "read back", collect(t, JSONFile[reading](c, dir, 2, StrictJSON())), rows)
		}
		dir := filepath.Join(t.TempDir(), "plain")
		if err := Parallelize(c, []string{"<&>", "b"}, 2).SaveAsJSON(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		same(t, "bytes", readDir(t, dir), map[string]string{"part-00000.json": "\"<&>\"\n", "part-00001.json": "\"b\"\n", "_SUCCESS": ""})
		for _, row := range []refuser{-1, 13} {
			bad := filepath.Join(t.TempDir(), "bad")
			err := Parallelize(c, []refuser{1, row}, 1).SaveAsJSON(t.Context(), bad)
			var user *UserError
			if !errors.As(err, &user) || user.Offset != 1 || (user.Stack != "") != (row == 13) {
				t.Errorf("%d: %v, want a UserError of record 1", row, err)
			}
		}
		err := Parallelize(c, []float64{math.NaN()}, 1).SaveAsJSON(t.Context(), filepath.Join(t.TempDir(), "nan"))
		var user *UserError
		if !errors.As(err, &user) {
			t.Errorf("NaN: %v", err)
		}
	})
}

// A save that fails leaves nothing, whichever part failed, and can be made again.
func TestSaveThatFailsLeavesNothing(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		for _, opts := range [][]SaveOption{nil, {Compress(Gzip)}, {Compress(Zstd)}} {
			dir := filepath.Join(t.TempDir(), "a", "out")
			var fail atomic.Bool
			fail.Store(true)
			r := TryMap(Parallelize(c, upTo(6000), 3), func(x int) (int, error) {
				if x == 5999 && fail.Load() {
					return 0, fs.ErrInvalid
				}
				return x, nil
			})
			wantErr(t, "save", ignoreCodec(r.SaveAsTextFile(t.Context(), dir, opts...)), errInvalid)
			if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("there is something: %v, %v", err, readDir(t, dir))
			}
			kept := filepath.Join(t.TempDir(), "kept")
			write(t, kept, "notes", "mine")
			write(t, kept, "part-00007", "of an earlier save\n")
			wantErr(t, "overwrite", ignoreCodec(r.SaveAsTextFile(t.Context(), kept, Overwrite())), errInvalid)
			same(t, "what was there", readDir(t, kept), map[string]string{"notes": "mine"})
			fail.Store(false)
			if err := r.SaveAsTextFile(t.Context(), dir, opts...); err != nil {
				t.Errorf("again: %v", err)
			}
			same(t, "rows", len(collect(t, TextFile(c, dir, 1))), 6000)
		}
	})
}

// errInvalid stands for an error by its text, where it crossed a process border.
var errInvalid = errors.New("invalid argument")

func ignoreCodec(err error) error {
	if err != nil && strings.Contains(err.Error(), errInvalid.Error()) {
		return errInvalid
	}
	return err
}

func TestSaveBeforeAnyTask(t *testing.T) {
	c, runner := inlineContext(t, Options{})
	dir := t.TempDir()
	r := Parallelize(c, upTo(4), 2)
	runner.ran()
	wantErr(t, "text", r.SaveAsTextFile(t.Context(), dir), fs.ErrExist)
	wantErr(t, "JSON", r.SaveAsJSON(t.Context(), dir), fs.ErrExist)
	wantErr(t, "objects", r.SaveAsObjectFile(t.Context(), dir), fs.ErrExist)
	wantErr(t, "CSV", SaveAsCSV(t.Context(), Parallelize(c, [][]string{{"a"}}, 1), dir, CSVSaveOptions{}), fs.ErrExist)
	if jobs := runner.ran(); len(jobs) != 0 || runner.tasks != 0 {
		t.Errorf("jobs ran: %v", jobs)
	}
	same(t, "the folder is as it was", readDir(t, dir), map[string]string{})
	missing := TextFile(c, filepath.Join(dir, "none"), 1)
	wantErr(t, "no partitions", missing.SaveAsTextFile(t.Context(), filepath.Join(dir, "out")), fs.ErrNotExist)
	inner := filepath.Join(dir, "inner")
	err := r.ForeachPartition(t.Context(), func(ctx context.Context, _ int, _ iter.Seq[int]) error { return r.SaveAsTextFile(ctx, inner) })
	wantErr(t, "in a task", err, ErrNestedJob)
	c.Stop()
	wantErr(t, "stopped", r.SaveAsTextFile(t.Context(), inner), ErrStopped)
	same(t, "nothing was made", readDir(t, dir), map[string]string{})
}

// memoryCommitter keeps parts in memory and notes what it is asked.
type memoryCommitter struct {
	mu    sync.Mutex // guards the rest
	calls []string
	parts map[int]string
	notes [][]byte
	fail  string // the call that fails
	panic string // the call that panics
}

var errCommitter = fmt.Errorf("committer: %w", fs.ErrPermission)

func (c *memoryCommitter) call(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, name)
	if c.panic == name {
		panic("committer")
	}
	if c.fail == name {
		return errCommitter
	}
	return nil
}

func (c *memoryCommitter) SetupJob(_ context.Context, parts int) error {
	return c.call(fmt.Sprint("setup ", parts))
}

func (c *memoryCommitter) CreatePart(_ context.Context, part int, a lineage.Attempt) (PartWriter, error) {
	if a.Partition != part {
		return nil, fmt.Errorf("attempt %+v at part %d", a, part)
	}
	return &memoryPart{committer: c, part: part}, c.call(fmt.Sprint("create ", part))
}

func (c *memoryCommitter) CommitJob(_ context.Context, notes [][]byte) error {
	c.notes = notes
	return c.call("commit")
}

func (c *memoryCommitter) AbortJob(context.Context) error { return c.call("abort") }

type memoryPart struct {
	committer *memoryCommitter
	part      int
	text      bytes.Buffer
}

func (p *memoryPart) Write(b []byte) (int, error) {
	if p.committer.fail == "write" {
		return 0, errCommitter
	}
	return p.text.Write(b)
}

func (p *memoryPart) Commit(context.Context) ([]byte, error) {
	if err := p.committer.call(fmt.Sprint("commit ", p.part)); err != nil {
		return nil, err
	}
	p.committer.mu.Lock()
	defer p.committer.mu.Unlock()
	if p.committer.parts == nil {
		p.committer.parts = map[int]string{}
	}
	p.committer.parts[p.part] = p.text.String()
	return fmt.Append(nil, "note ", p.part), nil
}

func (p *memoryPart) Abort(context.Context) error {
	return p.committer.call(fmt.Sprint("abort ", p.part))
}

// brackets writes rows as one line.
func brackets(w io.Writer, rows iter.Seq[int]) error {
	_, err := fmt.Fprintln(w, slices.Collect(rows))
	return err
}

func TestSaveWith(t *testing.T) {
	onRunners(t, Options{}, func(t *testing.T, c *Context) {
		m := &memoryCommitter{}
		if err := Parallelize(c, upTo(2), 3).SaveWith(t.Context(), m, brackets); err != nil {
			t.Fatal(err)
		}
		same(t, "parts, an empty one as well", m.parts, map[int]string{0: "[]\n", 1: "[1]\n", 2: "[2]\n"})
		same(t, "notes", m.notes, [][]byte{[]byte("note 0"), []byte("note 1"), []byte("note 2")})
		same(t, "first", m.calls[0], "setup 3")
		same(t, "last", m.calls[len(m.calls)-1], "commit")
		dir := filepath.Join(t.TempDir(), "out")
		if err := Parallelize(c, upTo(2), 2).SaveWith(t.Context(), NewFileCommitter(dir, ".txt"), brackets); err != nil {
			t.Fatal(err)
		}
		same(t, "files", readDir(t, dir), map[string]string{"part-00000.txt": "[1]\n", "part-00001.txt": "[2]\n", "_SUCCESS": ""})
		wantErr(t, "no write", Parallelize(c, upTo(2), 2).SaveWith(t.Context(), m, nil), ErrNilFunction)
		wantErr(t, "no committer", Parallelize(c, upTo(2), 2).SaveWith(t.Context(), nil, brackets), ErrArgument)
	})
}

// What fails is undone by whoever was asked to do it, and by nobody else.
func TestSaveWithUndoesWhatFails(t *testing.T) {
	for _, x := range []struct {
		fail, panic string
		calls       []string
	}{
		{"setup 2", "", []string{"setup 2"}},
		{"create 0", "", []string{"setup 2", "create 0", "abort 0", "abort"}},
		{"write", "", []string{"setup 2", "create 0", "abort 0", "abort"}},
		{"commit 1", "", []string{"setup 2", "create 0", "commit 0", "create 1", "commit 1", "abort 1", "abort"}},
		{"commit", "", []string{"setup 2", "create 0", "commit 0", "create 1", "commit 1", "commit", "abort"}},
		{"", "commit 1", []string{"setup 2", "create 0", "commit 0", "create 1", "commit 1", "abort 1", "abort"}},
		{"", "create 0", []string{"setup 2", "create 0", "abort"}},
	} {
		t.Run(x.fail+x.panic, func(t *testing.T) {
			c, _ := inlineContext(t, Options{})
			m := &memoryCommitter{fail: x.fail, panic: x.panic}
			err := Parallelize(c, upTo(2), 2).SaveWith(t.Context(), m, brackets)
			var user *UserError
			if x.panic != "" && (!errors.As(err, &user) || user.Stack == "") || x.panic == "" && !errors.Is(err, errCommitter) {
				t.Errorf("%v, want the committer's error", err)
			}
			same(t, "calls", m.calls, x.calls)
		})
	}
	t.Run("rows that cannot be computed", func(t *testing.T) {
		c, _ := inlineContext(t, Options{})
		m := &memoryCommitter{}
		r := TryMap(Parallelize(c, upTo(2), 1), func(x int) (int, error) { return x, errCommitter })
		wantErr(t, "save", r.SaveWith(t.Context(), m, brackets), errCommitter)
		same(t, "calls", m.calls, []string{"setup 1", "create 0", "abort 0", "abort"})
	})
	t.Run("abort fails as well", func(t *testing.T) {
		c, _ := inlineContext(t, Options{})
		m := &memoryCommitter{fail: "abort"}
		err := Parallelize(c, upTo(2), 1).SaveWith(t.Context(), m, func(io.Writer, iter.Seq[int]) error { return io.ErrNoProgress })
		wantErr(t, "cause", err, io.ErrNoProgress)
		wantErr(t, "abort", err, errCommitter)
	})
	t.Run("a cancelled save is given up", func(t *testing.T) {
		c, _ := inlineContext(t, Options{})
		ctx, cancel := context.WithCancel(t.Context())
		dir := filepath.Join(t.TempDir(), "out")
		r := Map(Parallelize(c, upTo(5000), 2), func(x int) int { cancel(); return x })
		if err := r.SaveAsTextFile(ctx, dir); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want the context's error", err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("something is left: %v", err)
		}
	})
}

// Attempts at one part do not meet: each has a file of its own, and the one that commits is the part.
func TestFileCommitterKeepsAttemptsApart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	c := NewFileCommitter(dir, "")
	ctx := t.Context()
	if err := c.SetupJob(ctx, 1); err != nil {
		t.Fatal(err)
	}
	a, b := must(c.CreatePart(ctx, 0, lineage.Attempt{Job: 3, Number: 1})), must(c.CreatePart(ctx, 0, lineage.Attempt{Job: 3, Number: 2}))
	for w, text := range map[io.Writer]string{a: "first\n", b: "second\n"} {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	for name := range readDir(t, dir) {
		if !hidden(name) || !strings.HasPrefix(name, "_temporary-00000-3.0.0.") {
			t.Errorf("a reader would take %s", name)
		}
	}
	if _, err := b.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := a.Abort(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.CommitJob(ctx, nil); err != nil {
		t.Fatal(err)
	}
	same(t, "files", readDir(t, dir), map[string]string{"part-00000": "second\n", "_SUCCESS": ""})
}

// Two saves to one folder at the same time: one is refused, and touches nothing.
func TestSaveIntoOneFolderAtOnce(t *testing.T) {
	c := newTestContext(t, newLocalRunner(t, 1, false), Options{})
	dir := filepath.Join(t.TempDir(), "out")
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		wg.Go(func() { errs[i] = Parallelize(c, upTo(100), 3).SaveAsTextFile(t.Context(), dir) })
	}
	wg.Wait()
	saved := 0
	for _, err := range errs {
		if err == nil {
			saved++
		} else if !errors.Is(err, fs.ErrExist) {
			t.Error(err)
		}
	}
	if saved != 1 {
		t.Errorf("%d saves to one folder, want 1", saved)
	}
	same(t, "rows", len(collect(t, TextFile(c, dir, 1))), 100)
}

// A part whose first attempt fails is the second's, and nothing of the first is left.
func TestSaveAfterAFailedAttempt(t *testing.T) {
	for _, executors := range []int{1, 3} {
		c := newTestContext(t, newLocalRunner(t, executors, true), Options{})
		var tried atomic.Bool
		r := TryMap(Parallelize(c, upTo(6000), 3), func(x int) (int, error) {
			if x == 3999 && !tried.Swap(true) {
				return 0, fs.ErrInvalid
			}
			return x, nil
		})
		dir := filepath.Join(t.TempDir(), "out")
		if err := r.SaveAsTextFile(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		same(t, "names", slices.Sorted(maps.Keys(readDir(t, dir))), []string{"_SUCCESS", "part-00000", "part-00001", "part-00002"})
		same(t, "rows", len(collect(t, TextFile(c, dir, 1))), 6000)
	}
}
