package raftlog_test

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

func TestVotes(t *testing.T) {
	t.Run("a_voter_that_cannot_write_its_vote_stops_and_the_process_does_not", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, 3, raftlog.Options{})
			defer c.close()
			fault := &raftlog.Fault{}
			c.opts = raftlog.WithFault(raftlog.Options{}, fault)
			c.grow()
			c.opts = raftlog.Options{}
			c.grow()
			old := c.leader()
			if old == c.nodes["n4"] {
				if err := old.Transfer(c.ctx(), ""); err != nil {
					t.Fatal(err)
				}
				old = c.leader()
			}
			fault.Fail(errors.New("input/output error"))
			c.fabric.isolate(c.nameOf(old))
			next, term := c.lead(c.others(old)...)
			if _, err := next.Propose(c.ctx(), begin(term.Epoch, 0)); err != nil {
				t.Error(err)
			}
			var poison *raftlog.PoisonError
			if s := c.nodes["n4"].Status(); !errors.As(s.Poisoned, &poison) {
				t.Errorf("status of the voter %+v, want it poisoned", s)
			}
		})
	})
}

func TestSlowSnapshot(t *testing.T) {
	t.Run("a_stop_does_not_wait_for_it/R-08", func(t *testing.T) {
		dir := t.TempDir()
		log := open(t, dir, raftlog.Options{})
		term, err := log.Lead(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for id := range int64(driverlog.Window) {
			cmd := begin(term.Epoch, id)
			cmd.Inputs = []driverlog.Input{{Data: make([]byte, driverlog.MaxPayload)}}
			if _, err := log.Propose(t.Context(), cmd); err != nil {
				t.Fatal(err)
			}
		}
		done := make(chan error, 1)
		go func() { done <- log.Snapshot(t.Context()) }()
		if err := log.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := <-done; err != nil {
			t.Logf("the snapshot was given up: %v", err)
		}
		log = open(t, dir, raftlog.Options{})
		defer log.Close()
		state, err := log.State(t.Context())
		if a := state.App("counts"); err != nil || a.Next != driverlog.Window {
			t.Errorf("%d batches, %v; want %d", a.Next, err, driverlog.Window)
		}
	})
}

// envelope returns an entry as raftlog writes it, with its checksum.
func envelope(version, kind byte, cluster string, payload string) []byte {
	b := append([]byte{version, kind}, cluster...)
	b = append(b, payload...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

func TestEntriesThatDoNotDecode(t *testing.T) {
	for _, tt := range []struct {
		name  string
		entry []byte
	}{
		{"empty", nil},
		{"of_a_later_version", envelope(2, 1, "0123456789abcdef", "x")},
		{"of_another_cluster", envelope(1, 1, "0123456789abcdef", "x")},
		{"of_another_kind", envelope(1, 9, "0123456789abcdef", "x")},
		{"with_a_wrong_checksum", []byte("\x01\x010123456789abcdefxxxxxxx")},
	} {
		t.Run(tt.name+"_stop_every_node/R-04", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, 3, raftlog.Options{})
				defer c.close()
				log, term := c.lead(c.names...)
				if err := log.Bare(tt.entry); err != nil {
					t.Fatal(err)
				}
				<-term.Lost
				_, err := log.Propose(c.ctx(), begin(term.Epoch, 0))
				var corrupt *raftlog.CorruptError
				if !errors.Is(err, driverlog.ErrUnknown) || !errors.As(err, &corrupt) || corrupt.Entry == 0 {
					t.Errorf("Propose = %v, want ErrUnknown around a CorruptError", err)
				}
				// Another may lead, and finds it in its turn; nobody goes on without it.
				<-time.After(time.Minute)
				for _, n := range c.names {
					if s := c.nodes[n].Status(); s.Poisoned == nil && s.Applied >= corrupt.Entry {
						t.Errorf("%s has gone on: %+v", n, s)
					}
				}
				name := c.nameOf(log)
				c.close()
				c.nodes = map[string]*raftlog.Log{}
				for _, n := range c.names {
					c.start(n)
				}
				<-time.After(time.Minute)
				if s := c.nodes[name].Status(); s.Index > term.Epoch {
					t.Errorf("after a restart it was skipped: %+v", s)
				}
			})
		})
	}
}

// decide begins n batches in a term of the node.
func decide(t *testing.T, log *raftlog.Log, from, n int64) {
	t.Helper()
	term, err := log.Lead(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for id := from; id < from+n; id++ {
		if _, err := log.Propose(t.Context(), begin(term.Epoch, id)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSnapshots(t *testing.T) {
	list := func(t *testing.T, dir string) []string {
		names, err := filepath.Glob(filepath.Join(dir, "snapshots", "*"))
		if err != nil {
			t.Fatal(err)
		}
		// Names are of term, index and time: as text, 10 would come before 9.
		index := func(name string) (term, index int) {
			if _, err := fmt.Sscanf(filepath.Base(name), "%d-%d-", &term, &index); err != nil {
				return -1, -1 // one that was interrupted
			}
			return term, index
		}
		slices.SortFunc(names, func(a, b string) int {
			aTerm, aIndex := index(a)
			bTerm, bIndex := index(b)
			return cmp.Or(aTerm-bTerm, aIndex-bIndex)
		})
		return names
	}
	t.Run("three_stay_and_an_interrupted_one_leaves_nothing/R-07", func(t *testing.T) {
		dir := t.TempDir()
		log := open(t, dir, raftlog.Options{})
		for i := range int64(5) {
			decide(t, log, i, 1)
			if err := log.Snapshot(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		if n := len(list(t, dir)); n != 3 {
			t.Errorf("%d snapshots, want 3", n)
		}
		if err := os.MkdirAll(filepath.Join(dir, "snapshots", "9-9-9.tmp"), 0o755); err != nil {
			t.Fatal(err)
		}
		log = open(t, dir, raftlog.Options{})
		defer log.Close()
		if n := len(list(t, dir)); n != 3 {
			t.Errorf("%d snapshots after an interrupted one, want 3", n)
		}
	})
	t.Run("an_older_one_does_where_the_newest_is_damaged/R-07", func(t *testing.T) {
		dir := t.TempDir()
		log := open(t, dir, raftlog.Options{})
		for i := range int64(3) {
			decide(t, log, i, 1)
			if err := log.Snapshot(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		names := list(t, dir)
		flip(t, filepath.Join(names[len(names)-1], "state.bin"))
		log = open(t, dir, raftlog.Options{})
		defer log.Close()
		state, err := log.State(t.Context())
		if a := state.App("counts"); err != nil || a.Next != 3 {
			t.Errorf("%d batches, %v; want 3", a.Next, err)
		}
	})
	t.Run("entries_that_are_missing_behind_an_older_one_are_noticed", func(t *testing.T) {
		dir := t.TempDir()
		log := open(t, dir, raftlog.Options{Trailing: 1})
		for i := range int64(3) {
			decide(t, log, 5*i, 5)
			if err := log.Snapshot(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		names := list(t, dir)
		flip(t, filepath.Join(names[len(names)-1], "state.bin"))
		var corrupt *raftlog.CorruptError
		if log, err := raftlog.Open(dir, raftlog.Options{}); !errors.As(err, &corrupt) {
			t.Errorf("Open = %v, %v; want a CorruptError", log, err)
		}
	})
	t.Run("a_leader_that_cannot_read_its_own_gives_way/R-04", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, 3, raftlog.Options{SnapshotEvery: 1000, Trailing: 1})
			defer c.close()
			old := c.leader()
			gone := c.others(old)[0]
			if err := c.nodes[gone].Close(); err != nil {
				t.Fatal(err)
			}
			decide(t, old, 0, 20)
			if err := old.Snapshot(c.ctx()); err != nil {
				t.Fatal(err)
			}
			for _, s := range list(t, old.Dir()) {
				flip(t, filepath.Join(s, "state.bin"))
			}
			c.start(gone)
			next, _ := c.lead(c.others(old)...)
			var corrupt *raftlog.CorruptError
			if s := old.Status(); !errors.As(s.Poisoned, &corrupt) {
				t.Errorf("the leader that could not read its snapshot: %+v", s)
			}
			state, err := next.State(c.ctx())
			if a := state.App("counts"); err != nil || a.Next != 20 {
				t.Errorf("%d batches, %v; want 20", a.Next, err)
			}
		})
	})
	t.Run("a_log_without_its_entries_is_refused", func(t *testing.T) {
		dir := t.TempDir()
		log := open(t, dir, raftlog.Options{})
		decide(t, log, 0, 3)
		if err := errors.Join(log.Snapshot(t.Context()), log.Close(), os.Remove(filepath.Join(dir, "raft.db"))); err != nil {
			t.Fatal(err)
		}
		var corrupt *raftlog.CorruptError
		if _, err := raftlog.Open(dir, raftlog.Options{}); !errors.As(err, &corrupt) {
			t.Errorf("Open without the log = %v, want a CorruptError", err)
		}
		if err := os.RemoveAll(filepath.Join(dir, "snapshots")); err != nil {
			t.Fatal(err)
		}
		var identity *raftlog.IdentityError
		if _, err := raftlog.Open(dir, raftlog.Options{}); !errors.As(err, &identity) {
			t.Errorf("Open without log and snapshots = %v, want an IdentityError", err)
		}
	})
}

// flip changes the last byte but some of a file.
func flip(t testing.TB, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		data[len(data)-10]++
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestIdentity(t *testing.T) {
	dir := t.TempDir()
	log := open(t, dir, raftlog.Options{Name: "n1"})
	if _, err := log.Lead(t.Context()); err != nil {
		t.Fatal(err)
	}
	id, cluster := log.ID(), log.Cluster()
	if !strings.HasPrefix(id, "n1-") || len(id) != 19 || len(cluster) != 32 {
		t.Errorf("id %q, cluster %q", id, cluster)
	}
	t.Run("a_folder_in_use_names_its_owner", func(t *testing.T) {
		var locked *raftlog.LockedError
		if _, err := raftlog.Open(dir, raftlog.Options{Name: "n1"}); !errors.As(err, &locked) || locked.Holder.PID != os.Getpid() {
			t.Errorf("Open = %v, want a LockedError with this process", err)
		}
	})
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	t.Run("it_stays_the_same", func(t *testing.T) {
		log := open(t, dir, raftlog.Options{Name: "n1"})
		defer log.Close()
		if _, err := log.Lead(t.Context()); err != nil {
			t.Fatal(err)
		}
		if log.ID() != id || log.Cluster() != cluster {
			t.Errorf("id %q, cluster %q; want %q and %q", log.ID(), log.Cluster(), id, cluster)
		}
	})
	t.Run("another_name_is_refused", func(t *testing.T) {
		var identity *raftlog.IdentityError
		if _, err := raftlog.Open(dir, raftlog.Options{Name: "n2"}); !errors.As(err, &identity) {
			t.Errorf("Open = %v, want an IdentityError", err)
		}
	})
	t.Run("a_damaged_or_missing_one_is_refused", func(t *testing.T) {
		other := t.TempDir()
		copyDir(t, dir, other)
		path := filepath.Join(other, "identity")
		flip(t, path)
		var corrupt *raftlog.CorruptError
		if _, err := raftlog.Open(other, raftlog.Options{Name: "n1"}); !errors.As(err, &corrupt) {
			t.Errorf("Open = %v, want a CorruptError", err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		var identity *raftlog.IdentityError
		if _, err := raftlog.Open(other, raftlog.Options{Name: "n1"}); !errors.As(err, &identity) {
			t.Errorf("Open = %v, want an IdentityError", err)
		}
	})
	t.Run("that_of_another_node_is_refused", func(t *testing.T) {
		other, mixed := t.TempDir(), t.TempDir()
		log := open(t, other, raftlog.Options{Name: "n1"})
		if _, err := log.Lead(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		copyDir(t, dir, mixed)
		data, err := os.ReadFile(filepath.Join(other, "identity"))
		if err == nil {
			err = os.WriteFile(filepath.Join(mixed, "identity"), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		var identity *raftlog.IdentityError
		if log, err := raftlog.Open(mixed, raftlog.Options{Name: "n1"}); !errors.As(err, &identity) {
			t.Errorf("Open = %v, want an IdentityError", err)
			_ = log.Close()
		}
	})
}
