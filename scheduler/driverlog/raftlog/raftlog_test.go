package raftlog_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/logtest"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// factory opens clusters of one, which take a snapshot every few entries.
type factory struct{ every uint64 }

func (f factory) options() raftlog.Options {
	return raftlog.Options{Name: "n1", SnapshotEvery: f.every, Trailing: f.every}
}

func (f factory) Open(t *testing.T) driverlog.Log { return open(t, t.TempDir(), f.options()) }

func (f factory) Reopen(t *testing.T, log driverlog.Log) driverlog.Log {
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, log.(*raftlog.Log).Dir(), f.options())
}

// Crash leaves the files as they are while the node runs, and goes on with them.
func (f factory) Crash(t *testing.T, log driverlog.Log) driverlog.Log {
	dir := t.TempDir()
	log.(*raftlog.Log).Still(func(from string) { copyDir(t, from, dir) })
	if err := log.Close(); err != nil { // the files are no longer looked at
		t.Fatal(err)
	}
	return open(t, dir, f.options())
}

func (factory) Depose(t *testing.T, log driverlog.Log) {
	if _, err := log.Propose(t.Context(), driverlog.Command{Kind: driverlog.LeaderStart, Node: "other"}); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, dir string, opts raftlog.Options) *raftlog.Log {
	t.Helper()
	log, err := raftlog.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// copyDir copies a folder, but for its lock and for snapshots that are being made or removed.
func copyDir(t testing.TB, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(from, path)
		passing := strings.HasPrefix(rel, "snapshots"+string(filepath.Separator))
		switch {
		case passing && errors.Is(err, os.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && strings.HasSuffix(rel, ".tmp"):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case rel == "lock":
			return nil
		}
		data, err := os.ReadFile(path)
		if passing && errors.Is(err, os.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o644)
	})
	if err != nil {
		t.Error(err) // not Fatal: it may be another goroutine's
	}
}

func TestConformance(t *testing.T) {
	for _, every := range []uint64{16, 4096} {
		t.Run(fmt.Sprintf("snapshot_every_%d/R-12,R-13", every), func(t *testing.T) { logtest.Run(t, factory{every}) })
	}
}

func TestStart(t *testing.T) {
	t.Run("a_cluster_of_one_decides_its_first_command_in_200_ms", func(t *testing.T) {
		best := time.Hour
		for range 3 {
			start := time.Now()
			log := open(t, t.TempDir(), raftlog.Options{})
			if _, err := log.Lead(t.Context()); err != nil {
				t.Fatal(err)
			}
			best = min(best, time.Since(start))
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%s", best)
		if best > 200*time.Millisecond {
			t.Errorf("first command after %s, want at most 200 ms", best)
		}
	})
}
