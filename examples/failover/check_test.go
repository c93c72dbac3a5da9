package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leat-io/leat/dstream/sink"
	"github.com/leat-io/leat/dstream/sink/files"
	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

// save commits batches of rows to an output.
func save(t *testing.T, out, output string, batches ...string) {
	t.Helper()
	to := files.Text(out)
	ctx := t.Context()
	for id, rows := range batches {
		b := sink.Batch{App: application, Output: output, ID: int64(id), Time: int64(id), Epoch: 1, Try: 1}
		err := to.Begin(ctx, b, 1)
		var notes [1][]byte
		if err == nil && rows != "" {
			var w sink.Writer[string]
			if w, err = to.Part(ctx, b, 0, "a"); err == nil {
				if err = w.Write(strings.Split(rows, ",")); err == nil {
					notes[0], err = w.Finish(ctx)
				}
			}
		}
		var staged []byte
		if err == nil {
			staged, err = to.Seal(ctx, b, notes[:])
		}
		if err == nil {
			err = to.Commit(ctx, b, staged)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A window is the sum of the batches whose times it reaches back to; those that were left out count as time.
func TestWindowsAreCompared(t *testing.T) {
	times := []int64{100, 200, 500, 1000}
	counts := []string{"x\t1", "x\t2,y\t1", "x\t4", ""}
	for _, c := range []struct{ windows, want string }{
		{"x\t1;x\t3,y\t1;x\t7,y\t1;", ""},
		{"x\t1;x\t3,y\t1;x\t6,y\t1;", "window of batch 2: x has 6, the text 7"},
		{"x\t1;x\t3,y\t1;;", "window of batch 2 is not there"},
		{"x\t1;x\t3,y\t1;x\t7,y\t1;x\t4", "window of batch 3: 1 words, the text has 0"},
	} {
		out := t.TempDir()
		save(t, out, "counts", counts...)
		save(t, out, "window", strings.Split(c.windows, ";")...)
		got := ""
		if err := checkWindows(out, times, 100); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.windows, got, c.want)
		}
	}
}

func TestFilesOfTheSinkAreCounted(t *testing.T) {
	out := t.TempDir()
	for _, output := range outputs {
		save(t, out, output, "x\t1", "", "y\t2")
	}
	if err := checkParts(out, 3); err != nil {
		t.Error(err)
	}
	if err := checkParts(out, 4); err == nil {
		t.Error("a batch that is not there is not missed")
	}
	// A try that nobody cleans up.
	b := sink.Batch{App: application, Output: "counts", ID: 3, Time: 3, Epoch: 1, Try: 1}
	to := files.Text(out)
	if err := to.Begin(t.Context(), b, 1); err != nil {
		t.Fatal(err)
	}
	w, err := to.Part(t.Context(), b, 0, "left")
	if err == nil {
		err = w.Write([]string{"z"})
	}
	if err == nil {
		_, err = w.Finish(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := checkParts(out, 3); err == nil || !strings.Contains(err.Error(), "left over") {
		t.Errorf("a file that is left over: %v", err)
	}
}

// What a node's folder holds is stepped through; a batch that was not finished is noticed.
func TestAFolderIsReadToItsEnd(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "node")
	decide := func(kinds ...driverlog.Kind) {
		log, err := raftlog.Open(dir, raftlog.Options{})
		if err != nil {
			t.Fatal(err)
		}
		term, err := log.Lead(t.Context())
		for _, kind := range kinds {
			cmd := driverlog.Command{Kind: kind, Epoch: term.Epoch, App: application}
			if kind == driverlog.Begin {
				cmd.Time = 1
			}
			if err == nil {
				_, err = log.Propose(t.Context(), cmd)
			}
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	decide(driverlog.Begin)
	if _, _, err := new(group).readHistory(dir); err == nil || !strings.Contains(err.Error(), "not finished") {
		t.Errorf("readHistory = %v", err)
	}
	decide(driverlog.Prepared, driverlog.Committed)
	h, _, err := new(group).readHistory(dir)
	if err != nil || len(h.times) != 1 || h.epochs != 2 {
		t.Errorf("readHistory = %+v, %v", h, err)
	}
}

// A batch that two epochs say they have committed is one too many.
func TestABatchIsCommittedOnce(t *testing.T) {
	b := newBoard()
	for i, line := range []string{"standing by", "leading\t1", "committing\t0\t1", "batch\t0\t1", "leading\t9", "committing\t1\t9", "committing\t1\t1"} {
		b.line(i%2, time.Time{}, line)
	}
	if err := b.err(); err != nil || b.leader != 0 || b.committing != 1 {
		t.Errorf("%v, leader %d, committing %d", err, b.leader, b.committing)
	}
	b.line(0, time.Time{}, "batch\t0\t9")
	if err := b.err(); err == nil {
		t.Error("nobody noticed")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.await(ctx, "what never comes", func() bool { return false }); err == nil || !strings.HasPrefix(fmt.Sprint(err), "what never comes: ") {
		t.Errorf("await = %v", err)
	}
}
