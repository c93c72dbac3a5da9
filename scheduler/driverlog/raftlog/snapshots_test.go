package raftlog

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/leat-io/leat/scheduler/driverlog"
)

func TestSnapshotFiles(t *testing.T) {
	logger := newHclogger(slog.New(slog.DiscardHandler))
	_, trans := raft.NewInmemTransport("n1")
	m := replay([]*raft.Log{{Index: 1, Data: envelope{kind: ClusterEntry, cluster: clusterID{1}}.append(nil)},
		entry(2, clusterID{1}, driverlog.Command{Kind: driverlog.LeaderStart, Node: "n1"})})
	snapshot := func(t *testing.T, s *snapshots, index uint64, spoil func(raft.SnapshotSink)) error {
		t.Helper()
		captured, err := m.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		defer captured.Release()
		k, err := s.Create(1, index, 1, raft.Configuration{}, 1, trans)
		if err != nil {
			t.Fatal(err)
		}
		spoil(k)
		return captured.Persist(k)
	}
	files := func(t *testing.T, s *snapshots) int {
		t.Helper()
		names, err := os.ReadDir(s.dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	t.Run("a_hundred_that_fail_leave_nothing_and_the_old_one_stays/R-07", func(t *testing.T) {
		stop := make(chan struct{})
		s, err := openSnapshots(t.TempDir(), stop, logger)
		if err != nil {
			t.Fatal(err)
		}
		if err := snapshot(t, s, 1, func(raft.SnapshotSink) {}); err != nil {
			t.Fatal(err)
		}
		close(stop) // as Close does, to those that are being written
		for i := range uint64(100) {
			if err := snapshot(t, s, i+2, func(raft.SnapshotSink) {}); err == nil {
				t.Fatal("a snapshot was written past the end")
			}
		}
		if n := files(t, s); n != 1 {
			t.Errorf("%d files, want the one snapshot", n)
		}
		list, err := s.List()
		if err != nil || len(list) != 1 || list[0].Index != 1 {
			t.Fatalf("snapshots %v, %v; want that of index 1", list, err)
		}
		if _, err := s.verify(list[0].ID); err != nil {
			t.Error(err)
		}
	})
	t.Run("one_that_does_not_read_as_it_should_is_removed/R-07", func(t *testing.T) {
		s, err := openSnapshots(t.TempDir(), nil, logger)
		if err != nil {
			t.Fatal(err)
		}
		told := uint64(0)
		s.written = func(index uint64) { told = index }
		err = snapshot(t, s, 1, func(k raft.SnapshotSink) { _, _ = k.Write([]byte("something in front")) })
		var corrupt *CorruptError
		if !errors.As(err, &corrupt) || told != 0 || files(t, s) != 0 {
			t.Errorf("%v, told of %d, %d files; want a CorruptError and nothing else", err, told, files(t, s))
		}
		if err := snapshot(t, s, 2, func(raft.SnapshotSink) {}); err != nil || told != 2 {
			t.Errorf("the next one: %v, told of %d", err, told)
		}
	})
	t.Run("one_that_cannot_be_read_is_told_once_the_node_runs/R-04", func(t *testing.T) {
		s, err := openSnapshots(t.TempDir(), nil, logger)
		if err != nil {
			t.Fatal(err)
		}
		if err := snapshot(t, s, 1, func(raft.SnapshotSink) {}); err != nil {
			t.Fatal(err)
		}
		list, _ := s.List()
		if err := os.WriteFile(filepath.Join(s.dir, list[0].ID, "state.bin"), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
		var told error
		s.failed = func(err error) { told = err }
		if _, _, err := s.Open(list[0].ID); err == nil || !errors.Is(told, err) {
			t.Errorf("Open = %v, told %v", err, told)
		}
		told = nil
		if _, _, err := s.Open("1-9-9"); err == nil || told != nil {
			t.Errorf("Open of one that is gone = %v, told %v; want an error and no word", err, told)
		}
	})
}
