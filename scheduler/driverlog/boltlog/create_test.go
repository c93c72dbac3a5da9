package boltlog_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/boltlog"
)

func TestALogCanBeginWithAState(t *testing.T) {
	var state driverlog.State
	for i, cmd := range []driverlog.Command{
		{Kind: driverlog.LeaderStart, Node: "n"}, {Kind: driverlog.Application, Epoch: 1, App: "app", Time: 5},
		{Kind: driverlog.Begin, Epoch: 1, App: "app", Time: 6},
	} {
		if _, err := driverlog.Step(&state, uint64(i+1), cmd); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "driver.db")
	if _, err := boltlog.Hold(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("hold of no log: %v", err)
	}
	if err := boltlog.Create(path, state); err != nil {
		t.Fatal(err)
	}
	if err := boltlog.Create(path, state); !errors.Is(err, os.ErrExist) {
		t.Errorf("over another: %v", err)
	}
	if info, err := boltlog.Verify(path); err != nil || info.Snapshot != 3 || !bytes.Equal(info.State.Append(nil), state.Append(nil)) {
		t.Errorf("%+v, %v", info, err)
	}
	l, err := boltlog.Open(path, boltlog.Options{Node: "next"})
	if err != nil {
		t.Fatal(err)
	}
	term, err := l.Lead(t.Context())
	if err != nil || term.Epoch != 4 {
		t.Errorf("term %+v, %v", term, err)
	}
	var locked *boltlog.LockedError
	if _, err := boltlog.Hold(path); !errors.As(err, &locked) || locked.Holder.PID != os.Getpid() {
		t.Errorf("hold beside an owner: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	release, err := boltlog.Hold(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := boltlog.Open(path, boltlog.Options{Node: "next"}); !errors.As(err, &locked) {
		t.Errorf("open of a log that is held: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if l, err = boltlog.Open(path, boltlog.Options{Node: "next"}); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
