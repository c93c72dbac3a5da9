package raftlog

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/hashicorp/raft"
	"pgregory.net/rapid"

	"github.com/leat-io/leat/scheduler/driverlog"
)

// history returns entries that a log may hold, drawn by t: a cluster's id, then commands of which some are refused.
func history(t *rapid.T) []*raft.Log {
	id := clusterID{1}
	logs := []*raft.Log{{Index: 1, Data: envelope{kind: ClusterEntry, cluster: id}.append(nil)}}
	epoch, next := uint64(0), int64(0)
	accepted := uint64(0)
	n := rapid.IntRange(1, 40).Draw(t, "entries")
	for range n {
		var cmds []driverlog.Command
		for range rapid.IntRange(1, 3).Draw(t, "commands") {
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				accepted++
				epoch = accepted
				cmds = append(cmds, driverlog.Command{Kind: driverlog.LeaderStart, Node: "n1"})
			case 1:
				cmds = append(cmds, driverlog.Command{Kind: driverlog.Begin, Epoch: max(epoch, 1), App: "a", Batch: next, Time: next})
				next++
			default:
				b := rapid.Int64Range(0, max(next, 1)).Draw(t, "batch")
				kind := rapid.SampledFrom([]driverlog.Kind{driverlog.Prepared, driverlog.Committed}).Draw(t, "decision")
				cmds = append(cmds, driverlog.Command{Kind: kind, Epoch: max(epoch, 1), App: "a", Batch: b})
			}
		}
		logs = append(logs, entry(uint64(len(logs)+1), id, cmds...))
		m := replay(logs)
		accepted, epoch = m.state.Index, m.state.Epoch
		a := m.state.App("a")
		next = a.Next
	}
	return logs
}

func entry(index uint64, id clusterID, cmds ...driverlog.Command) *raft.Log {
	return &raft.Log{Index: index, Data: envelope{kind: CommandsEntry, cluster: id, payload: appendCommands(nil, cmds)}.append(nil)}
}

func replay(logs []*raft.Log) *machine {
	m := &machine{every: 4}
	m.ApplyBatch(logs)
	return m
}

// A sink is a snapshot in memory.
type sink struct {
	bytes.Buffer
	cancelled bool
}

func (*sink) ID() string      { return "memory" }
func (*sink) Close() error    { return nil }
func (s *sink) Cancel() error { s.cancelled = true; return nil }

func TestMachine(t *testing.T) {
	t.Run("a_snapshot_at_any_entry_and_the_rest_come_to_the_same/R-13,I9", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			logs := history(t)
			want := replay(logs)
			if want.broken != nil {
				t.Fatal(want.broken)
			}
			at := rapid.IntRange(0, len(logs)).Draw(t, "at")
			snap, err := replay(logs[:at]).Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			var s sink
			if err := snap.Persist(&s); err != nil {
				t.Fatal(err)
			}
			// What the replica held before is gone.
			m := replay([]*raft.Log{logs[0], entry(2, clusterID{1}, driverlog.Command{Kind: driverlog.LeaderStart, Node: "old"})})
			if at == 0 {
				m = &machine{every: 4}
			}
			if err := m.Restore(io.NopCloser(&s)); err != nil {
				t.Fatal(err)
			}
			m.ApplyBatch(logs[at:])
			if m.broken != nil || m.state.Digest() != want.state.Digest() || m.applied != want.applied || m.index != want.index || m.cluster != want.cluster {
				t.Fatalf("%+v after a snapshot at %d, want %+v", m, at, want)
			}
		})
	})
	t.Run("another_digest_than_the_leaders_stops_the_replica/I9", func(t *testing.T) {
		id := clusterID{1}
		logs := []*raft.Log{{Index: 1, Data: envelope{kind: ClusterEntry, cluster: id}.append(nil)}}
		for i := range 4 {
			logs = append(logs, entry(uint64(i+2), id, driverlog.Command{Kind: driverlog.LeaderStart, Node: "n1"}))
		}
		m := replay(logs)
		p := m.points[0]
		same := &raft.Log{Index: 6, Data: envelope{kind: DigestEntry, cluster: id, payload: p.append(nil)}.append(nil)}
		if a := m.apply(same); a.err != nil {
			t.Errorf("the same digest: %v", a.err)
		}
		var told error
		m.hooks.broken = func(err error) { told = err }
		p.digest[0]++
		other := &raft.Log{Index: 7, Data: envelope{kind: DigestEntry, cluster: id, payload: p.append(nil)}.append(nil)}
		var diverged *DivergedError
		if a := m.apply(other); !errors.As(a.err, &diverged) || diverged.Applied != 4 || !errors.Is(told, a.err) {
			t.Errorf("another digest: %v, told %v; want a DivergedError", a.err, told)
		}
		before := m.state.Digest()
		m.apply(entry(8, id, driverlog.Command{Kind: driverlog.LeaderStart, Node: "n1"}))
		if m.state.Digest() != before {
			t.Error("a replica that has stopped applied an entry")
		}
		if _, err := m.Snapshot(); err == nil {
			t.Error("a replica that has stopped made a snapshot")
		}
	})
	t.Run("an_entry_is_not_applied_twice/R-04", func(t *testing.T) {
		id := clusterID{1}
		logs := []*raft.Log{{Index: 1, Data: envelope{kind: ClusterEntry, cluster: id}.append(nil)}, entry(2, id, driverlog.Command{Kind: driverlog.LeaderStart, Node: "n1"})}
		m := replay(logs)
		var corrupt *CorruptError
		if a := m.apply(logs[1]); !errors.As(a.err, &corrupt) || m.state.Index != 1 {
			t.Errorf("entry 2 again: %v at index %d, want a CorruptError at 1", a.err, m.state.Index)
		}
	})
	t.Run("a_stream_is_read_to_its_end_and_what_is_wrong_refused/R-06", func(t *testing.T) {
		m := replay([]*raft.Log{{Index: 1, Data: envelope{kind: ClusterEntry, cluster: clusterID{1}}.append(nil)}})
		snap, _ := m.Snapshot()
		var s sink
		if err := snap.Persist(&s); err != nil {
			t.Fatal(err)
		}
		whole := s.Bytes()
		for i := range whole {
			bad := bytes.Clone(whole)
			bad[i] ^= 1
			r := bytes.NewReader(append(bad, "and more"...))
			m := &machine{every: 4}
			if err := m.Restore(io.NopCloser(r)); err == nil {
				t.Errorf("a snapshot with bit %d flipped was taken", 8*i)
			}
			if r.Len() != 0 {
				t.Errorf("%d bytes were left behind a snapshot that is wrong at %d", r.Len(), i)
			}
		}
		for n := range len(whole) {
			if _, err := readImage(bytes.NewReader(whole[:n])); err == nil {
				t.Errorf("a snapshot of %d of %d bytes was taken", n, len(whole))
			}
		}
		if _, err := readImage(bytes.NewReader(append(bytes.Clone(whole), 0))); err == nil {
			t.Error("a snapshot with a byte more was taken")
		}
	})
}

func TestEnvelope(t *testing.T) {
	whole := entry(1, clusterID{1}, driverlog.Command{Kind: driverlog.LeaderStart, Node: "n1"}).Data
	t.Run("every_flipped_bit_and_every_cut_is_refused", func(t *testing.T) {
		for i := range 8 * len(whole) {
			bad := bytes.Clone(whole)
			bad[i/8] ^= 1 << (i % 8)
			if _, err := decodeEnvelope(bad); err == nil {
				t.Errorf("an entry with bit %d flipped was taken", i)
			}
		}
		for n := range len(whole) {
			if _, err := decodeEnvelope(whole[:n]); err == nil {
				t.Errorf("an entry of %d of %d bytes was taken", n, len(whole))
			}
		}
	})
	t.Run("commands_with_bounds_that_lie_are_refused", func(t *testing.T) {
		for _, data := range []string{"", "\x00", "\x02", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x01\xff\xff\x03", "\x01\x01\x02", "\x01\x00"} {
			if cmds, err := decodeCommands([]byte(data)); err == nil {
				t.Errorf("%q was taken for %v", data, cmds)
			}
		}
	})
}

// FuzzEntries feeds a machine with anything: it must refuse or apply, and never end the process.
func FuzzEntries(f *testing.F) {
	f.Add(entry(2, clusterID{1}, driverlog.Command{Kind: driverlog.LeaderStart, Node: "n1"}).Data)
	f.Fuzz(func(t *testing.T, data []byte) {
		m := replay([]*raft.Log{{Index: 1, Data: envelope{kind: ClusterEntry, cluster: clusterID{1}}.append(nil)}})
		m.apply(&raft.Log{Index: 2, Data: data})
		m.apply(&raft.Log{Index: 3, Data: envelope{kind: CommandsEntry, cluster: clusterID{1}, payload: data}.append(nil)})
		_, _ = readImage(bytes.NewReader(data))
	})
}

func TestDecidedEntries(t *testing.T) {
	t.Run("a_call_decides_no_entry_that_it_does_not_show", func(t *testing.T) {
		for _, tt := range []struct{ prev, entries, commit, want uint64 }{
			{10, 0, 14, 10}, {10, 2, 14, 12}, {10, 4, 14, 14}, {10, 4, 11, 11}, {0, 3, 9, 3}, {0, 0, 0, 0},
		} {
			c := &raft.AppendEntriesRequest{PrevLogEntry: tt.prev, Entries: make([]*raft.Log, tt.entries), LeaderCommitIndex: tt.commit}
			clamp(raft.RPC{Command: c})
			if c.LeaderCommitIndex != tt.want {
				t.Errorf("entry %d and %d more, %d decided: %d, want %d", tt.prev, tt.entries, tt.commit, c.LeaderCommitIndex, tt.want)
			}
		}
	})
}

func TestHostileCalls(t *testing.T) {
	t.Run("configurations_that_do_not_decode_are_refused/R-10", func(t *testing.T) {
		good := raft.EncodeConfiguration(raft.Configuration{Servers: []raft.Server{{ID: "n1", Address: "n1"}}})
		for _, tt := range []struct {
			name string
			cmd  any
			ok   bool
		}{
			{"whole entry", &raft.AppendEntriesRequest{Entries: []*raft.Log{{Type: raft.LogConfiguration, Data: good}}}, true},
			{"random entry", &raft.AppendEntriesRequest{Entries: []*raft.Log{{Type: raft.LogConfiguration, Data: []byte("\xc1\xff\x00\x93")}}}, false},
			{"old peers", &raft.AppendEntriesRequest{Entries: []*raft.Log{{Type: raft.LogAddPeerDeprecated, Data: good}}}, false},
			{"unknown type", &raft.AppendEntriesRequest{Entries: []*raft.Log{{Type: 77, Data: good}}}, false},
			{"no entry", &raft.AppendEntriesRequest{Entries: []*raft.Log{nil}}, false},
			{"whole snapshot", &raft.InstallSnapshotRequest{SnapshotVersion: 1, Configuration: good}, true},
			{"random snapshot", &raft.InstallSnapshotRequest{SnapshotVersion: 1, Configuration: []byte("\xc1\xff")}, false},
			{"old snapshot", &raft.InstallSnapshotRequest{Peers: []byte("\xc1\xff")}, false},
		} {
			if err := check(raft.RPC{Command: tt.cmd}); (err == nil) != tt.ok {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
	})
}
