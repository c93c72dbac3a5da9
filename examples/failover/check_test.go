package main

import (
	"context"
	"errors"
	"fmt"
	"os"
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
func save(t *testing.T, out, output string, times []int64, batches ...string) {
	t.Helper()
	to := files.Text(out)
	ctx := t.Context()
	for id, rows := range batches {
		b := sink.Batch{App: application, Output: output, ID: int64(id), Time: times[id], Epoch: 1, Try: 1}
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

// Every batch is compared with those before it and with the text, also where it is looked at when the next ones are not there yet.
func TestBatchesAreCompared(t *testing.T) {
	times := []int64{100, 200, 500, 1000}
	counts := []string{"x\t1", "x\t2,y\t1", "x\t4", ""}
	totals := []string{"x\t1", "x\t3,y\t1", "x\t7,y\t1", "x\t7,y\t1"}
	for name, c := range map[string]struct {
		totals, windows, texts, want string
	}{
		"as they are":       {"", "x\t1;x\t3,y\t1;x\t7,y\t1;", "x;x x y;x x x x", ""},
		"a window":          {"", "x\t1;x\t3,y\t1;x\t6,y\t1;", "x;x x y;x x x x", "batch 2: window: x has 6, the text 7"},
		"no window":         {"", "x\t1;x\t3,y\t1;;", "x;x x y;x x x x", "batch 2: window: nothing is there, the text has 2 words"},
		"a window too many": {"", "x\t1;x\t3,y\t1;x\t7,y\t1;x\t4", "x;x x y;x x x x", "batch 3: window: 1 words, the text has 0"},
		"a total":           {"x\t1;x\t3,y\t2;x\t7,y\t1;x\t7,y\t1", "x\t1;x\t3,y\t1;x\t7,y\t1;", "x;x x y;x x x x", "batch 1: running totals: y has 2, the text 1"},
		"another text":      {"", "x\t1;x\t3,y\t1;x\t7,y\t1;", "x;x y y;x x x x", "batch 1: batches 1 to 1: x has 2, the text 1"},
		"less text":         {"", "x\t1;x\t3,y\t1;x\t7,y\t1;", "x;x x y;x", "batch 2: the sink shows 3 words more than the text has in 3 files: "},
		"files in between":  {"", "x\t1;x\t3,y\t1;x\t7,y\t1;", "x x x y;x x x x", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for i, text := range strings.Split(c.texts, ";") {
				if err := os.WriteFile(filepath.Join(dir, fileName(i)), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			out := filepath.Join(dir, "out")
			save(t, out, "counts", times, counts...)
			all := totals
			if c.totals != "" {
				all = strings.Split(c.totals, ";")
			}
			save(t, out, "totals", times, all...)
			save(t, out, "window", times, strings.Split(c.windows, ";")...)
			k, at := newChecker(out, 100), newChecker(out, 100)
			k.times, at.times, k.text = times, times, newReader(dir)
			err := k.advance(0)
			if err == nil {
				err = k.advance(int64(len(times)) - 1)
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if err := errors.Join(err, at.advance(int64(len(times))-1)); err == nil && k.sum() != at.sum() {
				t.Error("the digest depends on how far it went at a time")
			}
			if err := k.text.forget(1); err != nil || err == nil && c.want == "" && k.text.there() != 1 {
				t.Errorf("%v, %d files are there", err, k.text.there())
			}
		})
	}
}

// Nodes that hold another state at the same index are noticed, however late.
func TestWhatNodesHoldIsCompared(t *testing.T) {
	b := newBoard()
	for _, line := range []string{"state\t7\taa", "uses\t20\t4096", "state\t8\tbb"} {
		b.line(0, time.Time{}, line)
	}
	b.line(1, time.Time{}, "state\t8\tbb")
	if b.err() != nil || b.agreed.compared != 1 || b.uses[0] != (uses{20, 4096}) {
		t.Errorf("%v, %d compared, %+v", b.err(), b.agreed.compared, b.uses)
	}
	b.line(2, time.Time{}, "state\t7\tab")
	if err := b.err(); err == nil || !strings.Contains(err.Error(), "at index 7 node 2 holds ab, node 0 held aa") {
		t.Errorf("err = %v", err)
	}
}

func TestFilesOfTheSinkAreCounted(t *testing.T) {
	out := t.TempDir()
	for _, output := range outputs {
		save(t, out, output, []int64{1, 2, 3}, "x\t1", "", "y\t2")
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
