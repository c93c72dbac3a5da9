package raftlog_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

func TestOffline(t *testing.T) {
	dir := t.TempDir()
	log := open(t, dir, raftlog.Options{Name: "n1", Trailing: 3})
	term, err := log.Lead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for id := range int64(10) {
		if _, err := log.Propose(t.Context(), begin(term.Epoch, id)); err != nil {
			t.Fatal(err)
		}
		if id == 5 {
			if err := log.Snapshot(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	state, err := log.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := state.Digest()
	t.Run("a_folder_in_use_is_not_read", func(t *testing.T) {
		var locked *raftlog.LockedError
		if _, err := raftlog.Verify(dir); !errors.As(err, &locked) {
			t.Errorf("Verify = %v, want a LockedError", err)
		}
		if _, err := raftlog.Recover(dir, raftlog.RecoverOptions{}); !errors.As(err, &locked) {
			t.Errorf("Recover = %v, want a LockedError", err)
		}
	})
	id, cluster := log.ID(), log.Cluster()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	t.Run("a_dump_has_every_entry_and_the_state_after_them", func(t *testing.T) {
		var commands []driverlog.Command
		last := uint64(0)
		info, err := raftlog.Dump(dir, func(e raftlog.Entry) error {
			if last > 0 && e.Index != last+1 {
				t.Errorf("entry %d follows %d", e.Index, last)
			}
			last = e.Index
			commands = append(commands, e.Commands...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(commands); n < 4 || commands[n-1].Kind != driverlog.Begin || commands[n-1].Batch != 9 {
			t.Errorf("commands %+v, want those up to the begin of batch 9", commands)
		}
		if info.ID != id || info.Cluster != cluster || info.Snapshots != 1 || info.Last != last || info.State.Digest() != want || info.Damaged != nil {
			t.Errorf("info %+v", info)
		}
		if len(info.Members) != 1 || info.Members[0].ID != id {
			t.Errorf("members %+v, want %s", info.Members, id)
		}
		stop := errors.New("enough")
		if _, err := raftlog.Dump(dir, func(raftlog.Entry) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("Dump = %v, want the caller's error", err)
		}
	})
	t.Run("damage_anywhere_in_the_entries_is_found", func(t *testing.T) {
		data, err := os.ReadFile(filepath.Join(dir, "raft.db"))
		if err != nil {
			t.Fatal(err)
		}
		at := strings.LastIndex(string(data), "counts")
		bad := t.TempDir()
		copyDir(t, dir, bad)
		found := 0
		for i := 0; i >= 0; {
			j := strings.Index(string(data[i:]), "counts")
			if j < 0 {
				break
			}
			data[i+j]++ // in every page, as some are old
			i += j + 1
			found++
		}
		if err := os.WriteFile(filepath.Join(bad, "raft.db"), data, 0o644); err != nil || at < 0 {
			t.Fatal(err)
		}
		var corrupt *raftlog.CorruptError
		if _, err := raftlog.Verify(bad); !errors.As(err, &corrupt) || corrupt.Entry == 0 {
			t.Errorf("Verify with %d places damaged = %v, want a CorruptError with an entry", found, err)
		}
		if _, err := raftlog.Recover(bad, raftlog.RecoverOptions{}); !errors.As(err, &corrupt) {
			t.Errorf("Recover = %v, want a CorruptError", err)
		}
	})
	t.Run("a_folder_of_no_node_is_named", func(t *testing.T) {
		if _, err := raftlog.Verify(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("Verify = %v, want os.ErrNotExist", err)
		}
	})
}

func TestRecover(t *testing.T) {
	t.Run("one_disk_of_three_becomes_the_cluster", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, 3, raftlog.Options{})
			log, term := c.lead(c.names...)
			for id := range int64(10) {
				if _, err := log.Propose(c.ctx(), begin(term.Epoch, id)); err != nil {
					t.Fatal(err)
				}
			}
			c.settle()
			survivor := c.others(log)[0]
			dir, cluster := c.dirs[survivor], log.Cluster()
			c.close()
			report, err := raftlog.Recover(dir, raftlog.RecoverOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Members) != 3 || report.Cluster != cluster || !strings.Contains(report.Warning, "other 2 members") {
				t.Errorf("report %+v", report)
			}
			alone := open(t, dir, raftlog.Options{Name: survivor})
			defer alone.Close()
			next, err := alone.Lead(t.Context())
			if err != nil || next.Epoch <= term.Epoch {
				t.Errorf("term %+v, %v; want one after %d", next, err, term.Epoch)
			}
			state, err := alone.State(t.Context())
			if a := state.App("counts"); err != nil || a.Next != 10 || alone.Cluster() != cluster || len(alone.Members()) != 1 {
				t.Errorf("%d batches, %v, members %v; want 10 of cluster %s", a.Next, err, alone.Members(), cluster)
			}
			if _, err := alone.Propose(t.Context(), begin(next.Epoch, 10)); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("a_member_of_three_does_not_start_without_a_network", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, 3, raftlog.Options{})
			c.close()
			if log, err := raftlog.Open(c.dirs["n1"], raftlog.Options{Name: "n1"}); err == nil {
				t.Errorf("Open = %+v", log.Status())
				_ = log.Close()
			}
		})
	})
}
