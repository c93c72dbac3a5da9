package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/internal/filelock"
)

// One has the lock; whoever comes second is told who it is, until it is given up.
func TestTheSecondIsToldOfTheFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := filelock.Take(path, "the log", 0)
	if err != nil {
		t.Fatal(err)
	}
	var locked *driverlog.LockedError
	if _, err := filelock.Take(path, "the log", 0); !errors.As(err, &locked) || locked.Path != "the log" || locked.Holder.PID != os.Getpid() {
		t.Fatalf("Take = %v, want a LockedError that names this process", err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	second, err := filelock.Take(path, "the log", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Abandon(); err != nil { // as a crash does: the name in the file counts no more
		t.Fatal(err)
	}
	third, err := filelock.Take(path, "the log", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := third.Release(); err != nil {
		t.Fatal(err)
	}
}
