package hostile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestAFileThatShrinksUnderItsReader(t *testing.T) {
	e := engine(t, streamingcontext.EngineOptions{})
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, strings.Repeat("0123456789\n", 100_000))
	r := rdd.TextFile(e.RDDs(), path, 4)
	if n, err := r.NumPartitions(); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	write(t, path, "short\n")
	err := within(t, "job", func() error { _, err := r.Count(t.Context()); return err })
	if err == nil {
		t.Error("records were lost without an error")
	} else if !strings.Contains(err.Error(), path) {
		t.Errorf("no place in %v", err)
	}
}

func TestAFolderThatVanishesAndComesBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "in")
	kit := streamtest.New(t, streamtest.Options{})
	out := streamtest.Collect(kit, kit.Context().TextFiles(dir))
	put := func(name, text string, at time.Duration) {
		t.Helper()
		path := filepath.Join(dir, name)
		write(t, path, text)
		when := time.UnixMilli(at.Milliseconds())
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	kit.Advance(1)
	for i := range 2 {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		put("f"+string(rune('0'+i)), "line\n", time.Duration(kit.Now()+500)*time.Millisecond)
		kit.Advance(1)
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		kit.Advance(1)
	}
	total := 0
	for _, rows := range out.Batches() {
		total += len(rows)
	}
	if total != 2 {
		t.Errorf("%d lines, want 2: %v", total, out.Batches())
	}
}

func TestACheckpointFolderThatVanishes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "checkpoints")
	kit := streamtest.New(t, streamtest.Options{Engine: streamingcontext.EngineOptions{CheckpointDir: dir}, Timeout: patience / 2})
	in := streamtest.Input[rdd.Pair[int, int]](kit)
	state := dstream.UpdateStateByKey(in.Stream(), func(vs []int, old rdd.Option[int]) rdd.Option[int] {
		return rdd.Option[int]{Value: old.Value + len(vs), OK: true}
	})
	if err := state.Checkpoint(2 * time.Second); err != nil {
		t.Fatal(err)
	}
	out := streamtest.Collect(kit, state)
	for n := 1; n <= 12; n++ {
		in.Push(pairs(1, 1)...)
		err := within(t, "batch", func() error { return kit.TryAdvance(1) })
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("batch %d: %v", n, err)
			}
			wantPlace(t, err)
			return
		}
		if got := out.Batch(n); len(got) != 1 || got[0].Value != n {
			t.Fatalf("batch %d: state %v", n, got)
		}
		if n == 5 {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestSaveToAPlaceThatCannotBeWritten(t *testing.T) {
	bothModes(t, func(t *testing.T, e *streamingcontext.Engine) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "file"), "x")
		r := rdd.Parallelize(e.RDDs(), ints(4), 2)
		for _, path := range []string{filepath.Join(dir, "file", "below"), "/proc/nowhere", "/dev/null/x"} {
			err := within(t, "save", func() error { return r.SaveAsTextFile(context.Background(), path) })
			if err == nil || !strings.Contains(err.Error(), filepath.Dir(path)) {
				t.Errorf("%s: %v", path, err)
			}
		}
	})
}
