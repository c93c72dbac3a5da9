package raftlog_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"maps"
	"math"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-msgpack/v2/codec"
	"github.com/hashicorp/raft"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
)

// What another member sends as calls of raft, and is none, or a much too large one, ends its connection or is answered with an error. The
// node does not set aside memory for what is only announced, and goes on.
func TestBadFramesOfRaft_E7(t *testing.T) {
	const (
		appendEntries   = 0
		requestVote     = 1
		installSnapshot = 2
	)
	encoded := func(kind byte, v any) []byte {
		b := bytes.NewBuffer([]byte{kind})
		if err := codec.NewEncoder(b, &codec.MsgpackHandle{}).Encode(v); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	length := func(code byte, n uint32) string { return string(binary.BigEndian.AppendUint32([]byte{code}, n)) }
	const (
		bytes32, string32, array32, map32, ext32 = 0xc6, 0xdb, 0xdd, 0xdf, 0xc9
		most                                     = math.MaxUint32
	)
	named := func(name string) string { return string([]byte{0xa0 | byte(len(name))}) + name }
	head := raft.RPCHeader{ProtocolVersion: 3, ID: []byte("n2"), Addr: []byte("n2")}
	cases := map[string][]byte{
		"unknown_kind":      {200},
		"a_text":            []byte("GET / HTTP/1.1\r\n\r\n"),
		"zeros":             make([]byte, 4096),
		"entries_announced": []byte("\x00\x81" + named("Entries") + length(array32, most)),
		"entries_of_nil":    []byte("\x00\x81" + named("Entries") + length(array32, 1<<16) + strings.Repeat("\xc0", 1<<16)),
		"data_announced":    []byte("\x00\x81" + named("Entries") + "\x91\x81" + named("Data") + length(bytes32, most)),
		"leader_announced":  []byte("\x00\x81" + named("Leader") + length(bytes32, most)),
		"leader_as_string":  []byte("\x00\x81" + named("Leader") + length(string32, most)),
		"term_as_string":    []byte("\x00\x81" + named("Term") + length(string32, most)),
		"term_as_extension": []byte("\x00\x81" + named("Term") + length(ext32, most) + "\x05"),
		"peers_announced":   []byte("\x02\x81" + named("Peers") + length(bytes32, most)),
		"unknown_field":     []byte("\x00\x81" + named("Else") + length(bytes32, most)),
		"key_announced":     []byte("\x00\x81" + length(string32, most)),
		"nested_arrays":     []byte("\x00\x81" + named("Else") + strings.Repeat("\x91", 1<<20)),
		"nested_maps":       []byte("\x01\x81" + named("Else") + strings.Repeat("\x81\xa1a", 1<<19)),
		"snapshot_of_less":  encoded(installSnapshot, &raft.InstallSnapshotRequest{RPCHeader: head, SnapshotVersion: 1, Term: 1 << 40, Size: -1}),
		"snapshot_without_end": append(encoded(installSnapshot, &raft.InstallSnapshotRequest{RPCHeader: head, SnapshotVersion: 1, Term: 1,
			Size: math.MaxInt64}), make([]byte, 1<<20)...),
		"snapshot_without_members": encoded(installSnapshot, &raft.InstallSnapshotRequest{RPCHeader: head, SnapshotVersion: 1, Term: 1,
			Configuration: []byte("none"), Size: 0}),
		"entry_of_unknown_type": encoded(appendEntries, &raft.AppendEntriesRequest{RPCHeader: head, Term: 1,
			Entries: []*raft.Log{{Index: 1, Term: 1, Type: 77}}}),
		"entry_of_no_members": encoded(appendEntries, &raft.AppendEntriesRequest{RPCHeader: head, Term: 1,
			Entries: []*raft.Log{{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: []byte("none")}}}),
	}
	for kind, name := range []string{"append", "vote", "snapshot", "timeout", "prevote"} {
		cases[name+"_of_noise"] = append([]byte{byte(kind)}, "\xc1\xc1\xc1\xc1 noise"...)
		cases[name+"_announced"] = []byte(string(byte(kind)) + length(map32, most))
		cases[name+"_as_array"] = []byte(string(byte(kind)) + length(array32, most))
		cases[name+"_cut"] = encoded(byte(kind), &raft.RequestVoteRequest{RPCHeader: head, Term: 1})[:9]
	}
	t.Logf("%d cases", len(cases))
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, 1, raftlog.Options{Timeouts: raftlog.Fast()})
		defer c.close()
		from := c.fabric.listen("n2")
		connect := func() (conn net.Conn, answer chan []byte) {
			conn, err := from.Dial("n1", time.Second)
			if err != nil {
				t.Fatal(err)
			}
			answer = make(chan []byte, 1)
			go func() {
				b, _ := io.ReadAll(conn) // until either end closes it
				answer <- b
			}()
			return conn, answer
		}
		asked := encoded(requestVote, &raft.RequestVoteRequest{RPCHeader: head, Term: 1})
		for _, name := range slices.Sorted(maps.Keys(cases)) {
			before := allocated()
			conn, answer := connect()
			sent := make(chan struct{})
			go func() {
				defer close(sent)
				_, _ = conn.Write(cases[name]) // the node may end the connection before all was sent
			}()
			time.Sleep(time.Minute)
			grown := allocated() - before
			if grown > 32<<20 {
				t.Errorf("%s: %d MiB were set aside for it", name, grown>>20)
			}
			// Others are answered meanwhile.
			other, answered := connect()
			if _, err := other.Write(asked); err != nil {
				t.Errorf("%s: ask meanwhile: %v", name, err)
			}
			time.Sleep(time.Second)
			_ = other.Close()
			if b := <-answered; !bytes.Contains(b, []byte("Granted")) {
				t.Errorf("%s: others are answered %q", name, b)
			}
			_ = conn.Close()
			<-sent
			t.Logf("%-26s %6d KiB, answer %q", name, grown>>10, <-answer)
			if s := c.nodes["n1"].Status(); s.Poisoned != nil || s.Role != "leader" || s.Term != 2 {
				t.Errorf("%s: the node is %+v", name, s)
			}
		}
	})
}

func allocated() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.TotalAlloc)
}
