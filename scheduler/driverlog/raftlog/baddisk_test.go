package raftlog_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
	"github.com/leat-io/leat/streamingcontext/streamtest/faultdisk"
)

// badSnapshots returns a node whose snapshots are on a disk that can go bad. Its log is not: that is mapped into memory, and this process serves the disk.
func badSnapshots(t *testing.T, opts raftlog.Options) (dir string, disk *faultdisk.Disk, ok bool) {
	t.Helper()
	dir = t.TempDir()
	if err := open(t, dir, opts).Close(); err != nil {
		t.Fatal(err)
	}
	disk, err := faultdisk.Mount(filepath.Join(dir, "snapshots"), t.TempDir())
	var unavailable *faultdisk.UnavailableError
	switch {
	case errors.As(err, &unavailable):
		t.Log("not tested:", err)
		return "", nil, false
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := disk.Close(); err != nil {
			t.Error(err)
		}
	})
	return dir, disk, true
}

func TestSnapshotsOnABadDisk(t *testing.T) {
	for name, fault := range map[string]faultdisk.Fault{
		"a_flush_fails": faultdisk.FlushErrors(), "a_write_fails": faultdisk.WriteErrors(), "the_disk_is_full": faultdisk.Full(),
	} {
		t.Run(name+"_and_the_node_goes_on_without_it/R-07", func(t *testing.T) {
			dir, disk, ok := badSnapshots(t, raftlog.Options{})
			if !ok {
				return
			}
			log := open(t, dir, raftlog.Options{})
			decide(t, log, 0, 3)
			if err := log.Snapshot(t.Context()); err != nil {
				t.Fatal(err)
			}
			decide(t, log, 3, 3)
			disk.Set(fault)
			err := log.Snapshot(t.Context())
			if !errors.Is(err, syscall.EIO) && !errors.Is(err, syscall.ENOSPC) && (err == nil || !strings.Contains(err.Error(), fault.Err.Error())) {
				t.Errorf("Snapshot = %v, want the disk's error", err)
			}
			decide(t, log, 6, 3)
			if s := log.Status(); s.Poisoned != nil || s.Role != "leader" {
				t.Errorf("status %+v, want a node that leads", s)
			}
			if n := snapshotsIn(t, dir); n != 1 {
				t.Errorf("%d snapshots, want the one before", n)
			}
			disk.Set(faultdisk.Fault{})
			if err := log.Snapshot(t.Context()); err != nil {
				t.Errorf("Snapshot when the disk is mended = %v", err)
			}
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
			log = open(t, dir, raftlog.Options{})
			defer log.Close()
			decide(t, log, 9, 1)
			if n := snapshotsIn(t, dir); n != 2 {
				t.Errorf("%d snapshots, want 2 and nothing left over", n)
			}
		})
	}
	t.Run("a_snapshot_hangs_and_the_node_stops", func(t *testing.T) {
		opts := raftlog.Options{Stall: 100 * time.Millisecond}
		dir, disk, ok := badSnapshots(t, opts)
		if !ok {
			return
		}
		log := open(t, dir, opts)
		decide(t, log, 0, 3)
		disk.Set(faultdisk.Hung())
		done := make(chan error, 1)
		go func() { done <- log.Snapshot(t.Context()) }()
		<-log.Failed()
		var stall *raftlog.StallError
		if err := log.Status().Poisoned; !errors.As(err, &stall) {
			t.Errorf("it has stopped for %v, want a StallError", err)
		}
		if err := <-done; err == nil {
			t.Error("the snapshot that hangs has no error")
		}
		disk.Set(faultdisk.Fault{})
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		log = open(t, dir, opts)
		defer log.Close()
		decide(t, log, 3, 1)
	})
}

// snapshotsIn returns how many snapshots are in the folder of a node. Nothing else may be there.
func snapshotsIn(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "snapshots"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".tmp") {
			t.Errorf("%s is left over", e.Name())
		}
	}
	return len(entries)
}
