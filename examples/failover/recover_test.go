package main

import (
	"strings"
	"testing"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

// All nodes but one lose their folders for good. What is left goes on alone, new nodes join it, and nothing is lost or counted twice.
func TestOneDiskIsEnough(t *testing.T) {
	out := exact(t, 1, "-mode", "recover")
	for _, want := range []string{"WARNING: ", " is the only member of cluster ", "are lost", " of the other 2 members", "entries on 3 nodes"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// A recovery cuts a log off. What was before is remembered and gone on from; a log whose beginning nobody knows is noticed.
func TestWhatARecoveryCutsOffIsRemembered(t *testing.T) {
	c := &group{settings: settings{dir: t.TempDir()}, board: newBoard(), pasts: map[uint64]past{}}
	n := new(node)
	batch := func(id int64) {
		t.Helper()
		log, err := raftlog.Open(c.raftFolder(n), raftlog.Options{})
		if err != nil {
			t.Fatal(err)
		}
		term, err := log.Lead(t.Context())
		for _, kind := range []driverlog.Kind{driverlog.Begin, driverlog.Prepared, driverlog.Committed} {
			cmd := driverlog.Command{Kind: kind, Epoch: term.Epoch, App: application, Batch: id}
			if kind == driverlog.Begin {
				cmd.Time = id + 1
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
	batch(0)
	last, err := lastEntry(c.raftFolder(n))
	c.board.batch = 1
	if c.remember(n, last) == nil {
		t.Error("a node that lacks a committed batch is gone on from")
	}
	c.board.batch = 0
	if err == nil {
		err = c.remember(n, last)
	}
	if err == nil {
		_, err = raftlog.Recover(c.raftFolder(n), raftlog.RecoverOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	batch(1)
	if h, _, err := c.readHistory(c.raftFolder(n)); err != nil || len(h.times) != 2 || h.epochs != 2 {
		t.Errorf("readHistory = %+v, %v", h, err)
	}
	clear(c.pasts)
	if _, _, err := c.readHistory(c.raftFolder(n)); err == nil || !strings.Contains(err.Error(), "begins with entry") {
		t.Errorf("readHistory = %v", err)
	}
}
