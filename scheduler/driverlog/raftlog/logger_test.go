package raftlog

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
)

func TestLogger(t *testing.T) {
	var b bytes.Buffer
	h := newHclogger(slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug})))
	var l hclog.Logger = h
	l.Named("net").With("peer", "n2").Error("it failed", "why", hclog.Fmt("%d of %d", 1, 2), "odd")
	l.StandardLogger(nil).Print("a line")
	for _, want := range []string{"level=DEBUG", `msg="it failed"`, "from=raft.net", "peer=n2", `why="1 of 2"`, `msg="a line"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in %s", want, b.String())
		}
	}
	b.Reset()
	l = newHclogger(slog.New(slog.NewTextHandler(&b, nil))) // at Info
	l.Error("it failed")
	if b.Len() != 0 || l.IsError() || l.GetLevel() != hclog.Off {
		t.Errorf("%q was passed on, level %s", b.String(), l.GetLevel())
	}
}
