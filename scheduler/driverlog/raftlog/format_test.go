package raftlog

import (
	"bytes"
	"encoding/hex"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/leat-io/leat/scheduler/driverlog"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew; only right before a format is released")

// golden compares data with a file, or writes that.
func golden(t *testing.T, name string, data []byte) []byte {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, []byte(hex.Dump(data)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.Dump(data); got != string(want) {
		t.Errorf("%s is\n%swant\n%s", name, got, want)
	}
	return data
}

// TestFormat compares what is written with what version 1 wrote, and reads that.
func TestFormat(t *testing.T) {
	id := clusterID([]byte("0123456789abcdef"))
	logs := []*raft.Log{
		{Index: 2, Data: golden(t, "cluster.v1.hex", envelope{kind: ClusterEntry, cluster: id}.append(nil))},
		{Index: 3, Data: golden(t, "commands.v1.hex", entry(3, id,
			driverlog.Command{Kind: driverlog.LeaderStart, Node: "n1"},
			driverlog.Command{Kind: driverlog.Begin, Epoch: 1, App: "counts", Time: 1000, Inputs: []driverlog.Input{{Stream: 1, Data: []byte("0-10")}}}).Data)},
		{Index: 4, Data: golden(t, "digest.v1.hex", envelope{kind: DigestEntry, cluster: id, payload: point{applied: 300, digest: Digest{1, 2, 3}}.append(nil)}.append(nil))},
	}
	m := &machine{every: digestEvery}
	for _, log := range logs {
		if a := m.apply(log); a.err != nil || a.refused != nil {
			t.Fatalf("entry %d: %+v", log.Index, a)
		}
	}
	snap, err := m.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	var s sink
	if err := snap.Persist(&s); err != nil {
		t.Fatal(err)
	}
	img, err := readImage(bytes.NewReader(golden(t, "snapshot.v1.hex", s.Bytes())))
	if err != nil || img.state.Digest() != m.state.Digest() || img.index != 4 || img.applied != 1 || img.cluster != id {
		t.Errorf("snapshot %+v, %v", img, err)
	}
	if err := new(machine).Restore(io.NopCloser(bytes.NewReader(s.Bytes()))); err != nil {
		t.Error(err)
	}

	dir := t.TempDir()
	own := identity{Format: 1, ID: "n1-0123456789abcdef", Cluster: id.String()}
	if err := own.write(dir); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(identityPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "identity.v1.hex", data)
	if got, err := readIdentity(dir); err != nil || got != own {
		t.Errorf("identity %+v, %v; want %+v", got, err, own)
	}
	for _, bad := range []string{"", "{}", strings.Replace(string(data), "n1", "n2", 1), string(data) + "x", string(data[:len(data)-2])} {
		if err := os.WriteFile(identityPath(dir), []byte(bad), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := readIdentity(dir); err == nil {
			t.Errorf("identity %q was taken for %+v", bad, got)
		}
	}
}
