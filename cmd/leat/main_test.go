package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/dstream/sink/parquetfiles"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/streamingcontext"
)

// made runs a program for three batches and returns its folder and that of its sink.
func made(t *testing.T) (checkpoint, out string) { return madeKeeping(t, 1) }

func madeKeeping(t *testing.T, keep int) (checkpoint, out string) {
	t.Helper()
	checkpoint, out = t.TempDir(), t.TempDir()
	clock := new(streamingcontext.ManualClock)
	ssc, err := streamingcontext.GetOrCreate(checkpoint, streamingcontext.Options{App: "app", Interval: time.Second, Clock: clock, KeepCheckpoints: keep},
		func(ssc *streamingcontext.Context) error {
			words := dstream.SliceStream(ssc.Graph(), [][]string{{"b", "a"}, nil, {"a\tx"}}, 1)
			state := dstream.UpdateStateByKey(dstream.CountByValue(words), func(n []int64, _ rdd.Option[int64]) rdd.Option[int64] {
				return rdd.Option[int64]{Value: int64(len(n)), OK: true}
			})
			if err := state.Checkpoint(time.Second); err != nil {
				return err
			}
			dstream.SaveTo(words, "words", files.Text(out))
			dstream.ForeachRDD(state, func(ctx context.Context, r *rdd.RDD[rdd.Pair[string, int64]], _ dstream.Time) error {
				_, err := r.Count(ctx)
				return err
			})
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	if err := ssc.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for at := int64(1000); at <= 3000; at += 1000 {
		clock.Set(at)
		if err := ssc.Settled(t.Context(), dstream.Time(at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := ssc.Stop(t.Context(), streamingcontext.StopOptions{}); err != nil {
		t.Fatal(err)
	}
	return checkpoint, out
}

// leat runs a command line and returns what it prints.
func leat(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), args, &out, &out); err != nil {
		t.Fatalf("leat %s: %v", strings.Join(args, " "), err)
	}
	return out.String()
}

func TestSink(t *testing.T) {
	_, out := made(t)
	for want, args := range map[string][]string{
		"b\na\na\tx\n":                   {"sink", "read", out},
		"0\t0\tb\n0\t0\ta\n2\t0\ta\tx\n": {"sink", "read", out, "-meta"},
		"a\tx\n":                         {"sink", "read", "--from", "1", filepath.Join(out, "app")},
		"":                               {"sink", "read", "-name", "other", out},
		`{"App":"app","Output":"words","Batch":2,"Partition":0,"Row":"a\tx"}` + "\n":                         {"sink", "read", "-from=2", "-o", "json", out},
		"1 outputs, 2 batches, 2 files, 3 rows, 8 bytes; 0 problems, 0 garbage, 0 temporary, 0 unexpected\n": {"sink", "verify", out},
	} {
		if got := leat(t, args...); got != want {
			t.Errorf("leat %q prints %q, want %q", args, got, want)
		}
	}
	// A damaged file is named, and the exit status says so.
	parts, err := filepath.Glob(filepath.Join(out, "app", "words", "data", "*", "part-*"))
	if err != nil || len(parts) != 2 {
		t.Fatal(parts, err)
	}
	if err := os.Truncate(parts[0], 1); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"read", "verify"} {
		if err := run(t.Context(), []string{"sink", command, out}, new(bytes.Buffer), new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), filepath.Base(parts[0])) {
			t.Errorf("sink %s of a damaged folder: %v", command, err)
		}
	}
}

func TestSinkOfParquetFiles(t *testing.T) {
	type count struct {
		Word string   `parquet:"word"`
		N    int64    `parquet:"n"`
		Tags []string `parquet:"tags"`
	}
	dir, ctx := t.TempDir(), t.Context()
	b := sink.Batch{App: "app", Output: "counts", ID: 3, Epoch: 1, Try: 1}
	s := parquetfiles.New[count](dir)
	if err := s.Begin(ctx, b, 1); err != nil {
		t.Fatal(err)
	}
	w, err := s.Part(ctx, b, 0, "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write([]count{{"a", 1, nil}, {"b", 2, []string{"x"}}}); err != nil {
		t.Fatal(err)
	}
	note, err := w.Finish(ctx)
	if err != nil {
		t.Fatal(err)
	}
	staged, err := s.Seal(ctx, b, [][]byte{note})
	if err == nil {
		err = s.Commit(ctx, b, staged)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, want := leat(t, "sink", "read", dir), `{"word":"a","n":1,"tags":[]}`+"\n"+`{"word":"b","n":2,"tags":["x"]}`+"\n"; got != want {
		t.Errorf("sink read prints %q, want %q", got, want)
	}
	if got, want := leat(t, "sink", "read", "-meta", dir), "3\t0\t"+`{"word":"a","n":1,"tags":[]}`+"\n3\t0\t"+`{"word":"b","n":2,"tags":["x"]}`+"\n"; got != want {
		t.Errorf("sink read -meta prints %q, want %q", got, want)
	}
	if got := leat(t, "sink", "verify", dir); !strings.Contains(got, "1 batches, 1 files, 2 rows") {
		t.Errorf("sink verify prints %q", got)
	}
}

func TestLogAndCheckpoint(t *testing.T) {
	dir, _ := made(t)
	dump := leat(t, "log", "dump", dir)
	for _, want := range []string{
		`\tapplication\tapp\tzero time 0\n`, `\tbegin\tapp\tbatch 0\ttime 1000\t`, `\tprepared\tapp\tbatch 2\n`,
		`\tcheckpointed\tapp\tbatch 2\t`, `application app: next batch 3, 0 open, \d+ kept, last committed 2 at 3000 ms, checkpoint of batch 2\n$`,
	} {
		if !regexp.MustCompile(want).MatchString(dump) {
			t.Errorf("the dump has no %q:\n%s", want, dump)
		}
	}
	for line := range strings.Lines(leat(t, "log", "dump", "-o", "json", dir)) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %q", line)
		}
	}
	if got := leat(t, "log", "verify", dir); !strings.HasPrefix(got, "ok: ") {
		t.Errorf("log verify prints %q", got)
	}
	if got := leat(t, "checkpoint", "ls", dir); !regexp.MustCompile(`^checkpoints/checkpoint-\S+\tbatch 2\ttime 3000\t\d files of state\tcounts\n$`).MatchString(got) {
		t.Errorf("checkpoint ls prints %q", got)
	}
	if got := leat(t, "checkpoint", "verify", dir); !strings.Contains(got, "1 checkpoints") {
		t.Errorf("checkpoint verify prints %q", got)
	}
	file, err := filepath.Glob(filepath.Join(dir, "checkpoints", "checkpoint-*"))
	if err != nil || len(file) != 1 {
		t.Fatal(file, err)
	}
	if err := os.Truncate(file[0], 20); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{"checkpoint", "verify", dir}, new(bytes.Buffer), new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), file[0]) {
		t.Errorf("checkpoint verify of a damaged file: %v", err)
	}
	if got := leat(t, "checkpoint", "ls", dir); !strings.Contains(got, "damaged") {
		t.Errorf("checkpoint ls prints %q", got)
	}
}

func TestCloneAndRewind(t *testing.T) {
	dir, _ := madeKeeping(t, 2)
	clone := filepath.Join(t.TempDir(), "clone")
	if got := leat(t, "checkpoint", "clone", dir, clone); !strings.Contains(got, clone) || !strings.Contains(got, "1 checkpoints") {
		t.Errorf("checkpoint clone prints %q", got)
	}
	if got, want := leat(t, "log", "dump", clone), leat(t, "log", "dump", dir); got != want {
		t.Errorf("the log of the copy: %q, want %q", got, want)
	}
	list := leat(t, "checkpoint", "rewind", dir, "-list")
	if want := "batch 1\ttime 2000\t1 batches run again\tfrom checkpoints/checkpoint-"; !strings.HasPrefix(list, want) {
		t.Errorf("rewind -list prints %q, want %q", list, want)
	}
	into := filepath.Join(t.TempDir(), "into")
	if got := leat(t, "checkpoint", "rewind", dir, "-to", "2500ms", "-into", into); !strings.HasPrefix(got, into+": batch 1\t") || strings.Contains(got, "as it was") {
		t.Errorf("rewind -into prints %q", got)
	}
	if got := leat(t, "log", "dump", into); !strings.Contains(got, "next batch 3, 1 open,") || !strings.Contains(got, "last committed 1 at 2000 ms") {
		t.Errorf("the log of what was rewound: %q", got)
	}
	got := leat(t, "checkpoint", "rewind", clone, "-to", "1970-01-01T00:00:02Z", "-o", "json")
	var r streamingcontext.RewindReport
	if err := json.Unmarshal([]byte(got), &r); err != nil || r.Dir != clone || r.Old != clone+".before-rewind" || r.Batch != 1 || r.Again != 1 {
		t.Errorf("rewind -o json prints %q, %v", got, err)
	}
	if got, want := leat(t, "log", "dump", r.Old), leat(t, "log", "dump", dir); got != want {
		t.Errorf("the log of the folder as it was: %q, want %q", got, want)
	}
	for _, args := range [][]string{
		{"checkpoint", "rewind", dir}, {"checkpoint", "rewind", dir, "-to", "x"}, {"checkpoint", "rewind", dir, "-to", "99"},
		{"checkpoint", "rewind", dir, "-to=-7"}, {"checkpoint", "rewind", dir, "-to", "1ms"}, {"checkpoint", "clone", dir, clone}, {"checkpoint", "clone", dir},
		{"checkpoint", "rewind", t.TempDir(), "-to", "1"},
	} {
		if err := run(t.Context(), args, new(bytes.Buffer), new(bytes.Buffer)); err == nil {
			t.Errorf("leat %q is accepted", args)
		}
	}
}

func TestWrongCommandLines(t *testing.T) {
	for _, args := range [][]string{{"log"}, {"log", "dump"}, {"log", "dump", t.TempDir()}, {"sink", "read", "-o", "xml", "."}, {"other"}, {"checkpoint", "ls", t.TempDir()}} {
		if err := run(t.Context(), args, new(bytes.Buffer), new(bytes.Buffer)); err == nil {
			t.Errorf("leat %q is accepted", args)
		}
	}
	if got := leat(t); !strings.Contains(got, "leat [command]") {
		t.Errorf("without arguments leat prints %q", got)
	}
}
