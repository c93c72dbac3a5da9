package streamingcontext_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/streamingcontext"
)

// manyCounts counts ten thousand keys, of which a batch touches few. Its output sees how many keys there are and the sum.
func manyCounts(out *seen) func(*streamingcontext.Context) error {
	return func(ssc *streamingcontext.Context) error {
		in := dstream.NewInput(ssc.Graph(), "eternal", "Eternal", dstream.Input[rdd.Pair[int64, int64]](eternal[rdd.Pair[int64, int64]]{rows: func(batch int64) []rdd.Pair[int64, int64] {
			var rows []rdd.Pair[int64, int64]
			from, to := 40*batch, 40*batch+60
			if batch == 1 {
				from, to = 0, 10_000
			}
			for k := from; k < to; k++ {
				rows = append(rows, rdd.Pair[int64, int64]{Key: k, Value: 1})
			}
			return rows
		}}))
		totals := dstream.UpdateStateByKey(in, total, dstream.TouchedOnly())
		dstream.ForeachRDD(totals, func(ctx context.Context, r *rdd.RDD[rdd.Pair[int64, int64]], t dstream.Time) error {
			rows, err := r.Collect(ctx)
			sum := int64(0)
			for _, p := range rows {
				sum += p.Value
			}
			out.add(fmt.Sprint(int64(t)/1000, " ", len(rows), " ", sum))
			return err
		})
		return totals.Checkpoint(2 * time.Second)
	}
}

// wantCounts is what manyCounts sees of a batch.
func wantCounts(batch int64) string { return fmt.Sprint(batch, " 10000 ", 10_000+60*(batch-1)) }

// newestFile returns the newest checkpoint of the state.
func newestFile(s *survivor) dstream.CheckpointFile {
	files := s.ssc.Graph().Checkpoint()[0].Files
	return files[len(files)-1]
}

// A state's checkpoints build on those before; what they build on stays, and nothing else does, however often the process dies.
func TestCheckpointsOfWhatChanged(t *testing.T) {
	out := new(seen)
	s := survive(t, manyCounts(out))
	s.start()
	root := func() string { return filepath.Join(s.dir, "state") }
	for batch := int64(1); batch <= 40; batch++ {
		s.advance(1)
		out.want(t, wantCounts(batch))
		report, err := streamingcontext.VerifyCheckpoint(s.dir)
		if err != nil {
			t.Fatalf("batch %d: %v", batch, err)
		}
		if report.Folders > int(batch)/2 {
			t.Errorf("batch %d: %d folders", batch, report.Folders)
		}
		if batch != 9 && batch != 23 && batch != 24 {
			continue
		}
		// A process that died between the files and the manifest.
		left := filepath.Join(root(), "rdd-left-1")
		if err := errors.Join(os.Mkdir(left, 0o755), os.WriteFile(filepath.Join(left, "part-00000-task-1-2"), []byte("x"), 0o644)); err != nil {
			t.Fatal(err)
		}
		s.killed()
		s.start()
		s.settled()
		out.take() // the last batch is run again
		if _, err := os.Stat(filepath.Join(root(), "rdd-left-1")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("what a dead process left: %v", err)
		}
	}
	newest := newestFile(s)
	if len(newest.Since) < 10 {
		t.Errorf("the newest checkpoint builds on %d folders", len(newest.Since))
	}
	entries, err := os.ReadDir(root())
	if err != nil {
		t.Fatal(err)
	}
	needed := map[string]bool{}
	for _, f := range s.ssc.Graph().Checkpoint()[0].Files {
		for _, in := range f.Folders() {
			needed[in.Dir] = true
		}
	}
	if len(entries) > len(needed)+1 { // those that became needless last go with the next
		t.Errorf("%d folders, %d needed", len(entries), len(needed))
	}

	// A link that is missing or damaged is refused by its name.
	s.stop()
	oldest := filepath.Join(root(), newest.Since[len(newest.Since)-1].Dir)
	names, err := filepath.Glob(filepath.Join(oldest, "*"))
	if err != nil || len(names) != 3 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		refused := func(what string, want error) {
			t.Helper()
			if err := s.try(); !errors.Is(err, want) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v, want %v that names %s", what, err, want, name)
			}
			if _, err := streamingcontext.VerifyCheckpoint(s.dir); !errors.Is(err, want) || strings.Count(err.Error(), "part-") > 2 {
				t.Errorf("%s: verify: %v", what, err)
			}
		}
		if err := os.WriteFile(name, whole[:len(whole)-1], 0o644); err != nil {
			t.Fatal(err)
		}
		refused("cut off", codec.ErrCorrupt)
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		refused("removed", fs.ErrNotExist)
		if err := os.WriteFile(name, whole, 0o644); err != nil {
			t.Fatal(err)
		}
	}

	// Whole ones, in the same folder.
	s.configure = func(o *streamingcontext.Options) { o.FullCheckpoints = true }
	s.start()
	out.take()
	s.advance(6)
	if newest := newestFile(s); len(newest.Since) > 0 {
		t.Errorf("with FullCheckpoints it builds on %v", newest.Since)
	}
	if entries, err := os.ReadDir(root()); err != nil || len(entries) > 3 {
		t.Errorf("%d folders stay, %v", len(entries), err)
	}
	if got := out.take(); !slices.Contains(got, wantCounts(46)) {
		t.Errorf("saw %q", got)
	}
}
