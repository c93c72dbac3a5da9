package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/admin"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link/linktest"
	"github.com/leat-io/leat/streamingcontext/streamtest/proctest"
)

const ofTest = "00112233445566778899aabbccddeeff"

// testNode is a node that notes what it is asked.
type testNode struct {
	mu     sync.Mutex
	status admin.Status
	asked  []string
	err    error
}

func (n *testNode) Status() admin.Status {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.status
}

func (n *testNode) note(what ...string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, strings.Join(what, " "))
	return n.err
}

func (n *testNode) Join(_ context.Context, m admin.Member) error {
	return n.note("join", m.ID, m.Address)
}
func (n *testNode) Remove(_ context.Context, id string) error   { return n.note("remove", id) }
func (n *testNode) Transfer(_ context.Context, id string) error { return n.note("transfer", id) }
func (n *testNode) Snapshot(context.Context) error              { return n.note("snapshot") }
func (n *testNode) SetStatus(_ context.Context, app string, status driverlog.Status) error {
	return n.note(app, status.String())
}

// startNode serves a node until the test ends and returns where.
func startNode(t *testing.T, n *testNode, opts link.Options) string {
	t.Helper()
	opts.ID, opts.Cluster = n.status.ID, func() string { return n.Status().Cluster }
	l, err := link.Listen(opts)
	if err != nil {
		t.Fatal(err)
	}
	p := l.Protocol(link.Admin)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var all sync.WaitGroup
	for _, run := range []func() error{func() error { return l.Run(ctx) }, func() error { return admin.Serve(ctx, p, n) }} {
		all.Go(func() {
			if err := run(); err != nil && !errors.Is(err, net.ErrClosed) {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() {
		cancel()
		all.Wait()
	})
	return l.Addr().String()
}

// fails runs a command line that must fail and returns what it prints and the error.
func fails(t *testing.T, args ...string) (stdout string, err error) {
	t.Helper()
	var out bytes.Buffer
	if err = run(t.Context(), args, &out, new(bytes.Buffer)); err == nil {
		t.Errorf("leat %q is accepted", args)
	}
	return out.String(), err
}

func TestCluster(t *testing.T) {
	const id1, id2, id3 = "d-1-0000000000000001", "d-2-0000000000000002", "d-3-0000000000000003"
	leader := &testNode{status: admin.Status{ID: id1, Name: "d-1", Cluster: ofTest, Role: admin.Leader, Build: "counts 2", Term: 2, Epoch: 3, Index: 4, Applied: 5}}
	at := startNode(t, leader, link.Options{})
	one := admin.Member{ID: id1, Name: "d-1", Address: at, Voter: true}
	leader.status.Leader, leader.status.Members = one, []admin.Member{one, {ID: id2, Name: "d-2", Address: "127.0.0.1:9"}}
	follower := &testNode{status: admin.Status{ID: id2, Name: "d-2", Cluster: ofTest, Role: "follower", Leader: one, LastContact: 5 * time.Millisecond, Poisoned: "disk full"}}
	second := startNode(t, follower, link.Options{})
	fresh := &testNode{status: admin.Status{ID: id3, Name: "d-3", Role: "follower"}}
	third := startNode(t, fresh, link.Options{})
	gone := goneAddress(t)

	want := id1 + "\tleader\tcluster " + ofTest + "\tterm 2\tepoch 3\tindex 4\tapplied 5\tbuild counts 2\n" +
		"\t" + id1 + "\t" + at + "\tvoter\tleads\n\t" + id2 + "\t127.0.0.1:9\tno vote yet\n" +
		id2 + "\tfollower\tcluster " + ofTest + "\tterm 0\tepoch 0\tindex 0\tapplied 0\tleader " + id1 + ", heard of 5ms ago\tstorage: disk full\n" +
		id3 + "\tfollower\tcluster none yet\tterm 0\tepoch 0\tindex 0\tapplied 0\tno leader is known\n"
	if got := leat(t, "cluster", "status", "-addr", at+","+second, "-addr", third); got != want {
		t.Errorf("status prints\n%s\nwant\n%s", got, want)
	}
	var status admin.Status
	if err := json.Unmarshal([]byte(leat(t, "cluster", "status", "-addr", second, "-o", "json")), &status); err != nil || status.Leader != one {
		t.Errorf("status prints %+v, %v", status, err)
	}
	if out, err := fails(t, "cluster", "status", "-addr", gone+","+third); !strings.HasPrefix(out, id3) || !strings.Contains(err.Error(), gone) {
		t.Errorf("status of one that is gone prints %q, %v", out, err)
	}

	for _, tt := range []struct {
		args        []string
		asked, text string
	}{
		{[]string{"join", third, "-addr", at}, "join " + id3 + " " + third, "join " + id3 + " at " + third + ": done\n"},
		{[]string{"remove", id2, "-addr", at}, "remove " + id2, "remove " + id2 + ": done\n"},
		{[]string{"transfer", id2, "-addr", at}, "transfer " + id2, "transfer " + id2 + ": done\n"},
		{[]string{"transfer", "-addr", at}, "transfer ", "transfer: done\n"},
		{[]string{"pause", "counts", "-addr", at}, "counts paused", "pause counts: done\n"},
		{[]string{"resume", "counts", "-addr", at}, "counts running", "resume counts: done\n"},
		{[]string{"stop", "counts", "-addr", at}, "counts stopped", "stop counts: done\n"},
		{[]string{"snapshot", "-addr", gone + "," + at, "-o", "json"}, "snapshot", `{"Request":"snapshot"}` + "\n"},
		{[]string{"snapshot", "-addr", second}, "snapshot", "leat: " + second + " does not lead, asking " + one.String() + "\nsnapshot: done\n"},
		{[]string{"snapshot", "-addr", third + "," + second}, "snapshot", "leat: " + second + " does not lead, asking " + one.String() + "\nsnapshot: done\n"},
	} {
		if got := leat(t, append([]string{"cluster"}, tt.args...)...); got != tt.text {
			t.Errorf("leat cluster %q prints %q, want %q", tt.args, got, tt.text)
		}
		if !slices.Equal(leader.asked, []string{tt.asked}) {
			t.Errorf("leat cluster %q asks to %q, want %q", tt.args, leader.asked, tt.asked)
		}
		leader.asked = nil
	}

	leader.err = errors.New("it is not caught up")
	if _, err := fails(t, "cluster", "snapshot", "-addr", at+","+second); !strings.Contains(err.Error(), "not caught up") || len(leader.asked) != 1 {
		t.Errorf("%v, asked to %q", err, leader.asked)
	}
	leader.asked = nil
	fresh.status.Cluster = strings.Repeat("f", 32)
	for _, args := range [][]string{
		{"join", third, "-addr", at}, {"join", gone, "-addr", at}, {"join", third}, {"join", "-addr", at}, {"status"}, {"status", "-addr", gone}, {"remove", "-addr", at},
		{"remove", "d-2", "-addr", at}, {"transfer", "d-2", "-addr", at}, {"snapshot", "-addr", at, "-ca", "ca.pem"}, {"snapshot", "-addr", "192.0.2.1:7000"},
		{"snapshot", "-addr", third, "-timeout", "300ms"}, {},
	} {
		_, _ = fails(t, append([]string{"cluster"}, args...)...)
	}
	if len(leader.asked)+len(follower.asked)+len(fresh.asked) > 0 {
		t.Errorf("asked to %q, %q, %q", leader.asked, follower.asked, fresh.asked)
	}
}

func TestClusterWithCertificates(t *testing.T) {
	ca, err := linktest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	own, err := ca.Write(t.TempDir(), linktest.Certificate{Names: []string{"d-1"}})
	if err != nil {
		t.Fatal(err)
	}
	ops, err := ca.Write(t.TempDir(), linktest.Certificate{Names: []string{"ops"}, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	if err != nil {
		t.Fatal(err)
	}
	node := &testNode{status: admin.Status{ID: "d-1-0000000000000001", Role: admin.Leader, Cluster: ofTest}}
	at := startNode(t, node, link.Options{Address: ":0", TLS: &own})
	_, port, err := net.SplitHostPort(at)
	if err != nil {
		t.Fatal(err)
	}
	address := net.JoinHostPort("127.0.0.1", port)
	if got := leat(t, "cluster", "snapshot", "-addr", address, "-ca", ops.CA, "-cert", ops.Certificate, "-key", ops.Key); got != "snapshot: done\n" {
		t.Errorf("snapshot prints %q", got)
	}
	if _, err := fails(t, "cluster", "snapshot", "-addr", address); !strings.Contains(err.Error(), link.BadTransport.String()) {
		t.Errorf("without certificates: %v", err)
	}
}

// goneAddress returns an address where nobody listens.
func goneAddress(t *testing.T) string {
	t.Helper()
	address, err := proctest.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func TestInitAndRecover(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "driver")
	do := func(args ...string) (stdout, stderr string, err error) {
		var out, errs bytes.Buffer
		err = run(t.Context(), append([]string{"cluster"}, args...), &out, &errs)
		return strings.ReplaceAll(out.String(), dir, "DIR"), errs.String(), err
	}
	if out, _, err := do("init", dir, "-name", "d-1"); err != nil || !regexp.MustCompile("^DIR: driver d-1-[0-9a-f]{16} of the new cluster [0-9a-f]{32}\n$").MatchString(out) {
		t.Errorf("init prints %q, %v", out, err)
	}
	if _, _, err := do("init", dir, "-name", "d-2"); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("init of a driver's folder returns %v", err)
	}
	out, errs, err := do("recover", dir)
	if err == nil || !strings.HasPrefix(errs, "WARNING: ") || !regexp.MustCompile(`would be the only member; the log ends with entry \d+ of term 2: command 1, epoch 1; members no more: nobody\n`).MatchString(out) {
		t.Errorf("recover prints %q, %q, %v", out, errs, err)
	}
	out, errs, err = do("recover", dir, "-accept-loss", "-address", "127.0.0.1:1")
	if err != nil || !strings.HasPrefix(errs, "WARNING: ") || !regexp.MustCompile(`is now the only member; the log ends with entry \d+ of term 2: command 1, epoch 1; members no more: nobody\n`).MatchString(out) {
		t.Errorf("recover prints %q, %q, %v", out, errs, err)
	}
	for _, command := range []string{"init", "recover"} {
		log, err := raftlog.Open(filepath.Join(dir, "raft"), raftlog.Options{Name: "d-1"})
		if err != nil {
			t.Fatal(err)
		}
		var locked *raftlog.LockedError
		if _, _, err := do(command, dir); !errors.As(err, &locked) {
			t.Errorf("%s of a folder in use returns %v", command, err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, what := range []string{"verify", "dump"} {
		out := leat(t, "log", what, dir)
		for _, want := range []string{"driver d-1-", "members", "127.0.0.1:1\tvoter"} {
			if !strings.Contains(out, want) {
				t.Errorf("log %s prints no %q: %q", what, want, out)
			}
		}
	}
	if _, _, err := do("recover", t.TempDir(), "-accept-loss"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("recover of an empty folder returns %v", err)
	}
}
