package cluster_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/admin"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link/linktest"
	"github.com/leat-io/leat/streamingcontext/cluster"
)

// protocols are all that a node listens for.
var protocols = []string{"raft", link.Admin, "blocks"}

// Whoever asks for any of the protocols of a node without a certificate, with one of another authority, with another's name, or as a member of
// another cluster, is refused with the reason, and the node goes on. A node without certificates does not listen where others could reach it.
func TestStrangersAreRefusedByEveryListener_Toy15(t *testing.T) {
	ca, err := linktest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	other, err := linktest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	files := func(ca *linktest.CA, name string) *link.TLS {
		files, err := ca.Write(t.TempDir(), linktest.Certificate{Names: []string{name}})
		if err != nil {
			t.Fatal(err)
		}
		return &files
	}
	node, err := cluster.Open(t.TempDir(), cluster.Options{Name: "driver-1", Listen: "127.0.0.1:0", Bootstrap: true, TLS: files(ca, "driver-1")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- node.Serve(ctx, func(ctx context.Context) error { <-ctx.Done(); return nil }) }()
	defer func() {
		stop()
		if err := errors.Join(<-served, node.Close()); err != nil {
			t.Error(err)
		}
	}()
	if _, err := node.Log().Lead(t.Context()); err != nil {
		t.Fatal(err)
	}
	own := node.Log().Cluster()

	dialer := func(name string, tls *link.TLS, of string) *link.Dialer {
		d, err := link.NewDialer(link.Options{Name: name, TLS: tls, Cluster: func() string { return of }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		return d
	}
	member := dialer("driver-2", files(ca, "driver-2"), own)
	for _, stranger := range []struct {
		name   string
		dial   *link.Dialer
		reason link.Reason
		may    string // the protocol that it may ask for all the same
	}{
		{"without_certificate", dialer("driver-2", nil, own), link.BadTransport, ""},
		{"of_another_authority", dialer("driver-2", files(other, "driver-2"), own), link.BadCertificate, ""},
		{"of_another_cluster", dialer("driver-2", files(ca, "driver-2"), strings.Repeat("0a", 16)), link.WrongCluster, ""},
		{"of_no_cluster", dialer("driver-2", files(ca, "driver-2"), ""), link.NoCluster, link.Admin},
	} {
		for _, protocol := range protocols {
			t.Run(fmt.Sprint(stranger.name, "/", protocol), func(t *testing.T) {
				c, err := stranger.dial.DialContext(t.Context(), protocol, node.Addr())
				if err == nil {
					_ = c.Close()
				}
				refused, is := errors.AsType[*link.RefusedError](err)
				switch {
				case protocol == stranger.may:
					if err != nil {
						t.Errorf("it is refused: %v", err)
					}
				case !is || refused.Reason != stranger.reason:
					t.Errorf("Dial = %v, want a refusal for %v", err, stranger.reason)
				case !refused.Remote && stranger.reason == link.WrongCluster:
					t.Errorf("the node takes it, and its own side says %v", err)
				}
				serves(t, member, node)
			})
		}
	}
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:7000"} {
		t.Run("listens_on_"+address, func(t *testing.T) {
			n, err := cluster.Open(t.TempDir(), cluster.Options{Name: "driver-1", Listen: address, Bootstrap: true})
			if !errors.Is(err, link.ErrNotLoopback) {
				t.Errorf("Open = %v, %v, want ErrNotLoopback", n, err)
			}
		})
	}
	// Those who do not mind whom they talk to.
	certificate, key, err := other.Issue(linktest.Certificate{Names: []string{"driver-2"}})
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	for name, shown := range map[string][]tls.Certificate{"TLS_without_certificate": nil, "TLS_with_a_foreign_certificate": {foreign}} {
		t.Run(name, func(t *testing.T) {
			c, err := tls.Dial("tcp", node.Addr(), &tls.Config{InsecureSkipVerify: true, Certificates: shown, NextProtos: []string{"leat"}})
			if err != nil {
				t.Fatal(err) // in TLS 1.3 the server's alert comes after the client is done
			}
			defer func() { _ = c.Close() }()
			_ = c.SetDeadline(time.Now().Add(10 * time.Second))
			var alert *net.OpError
			if _, err := io.ReadAll(c); !errors.As(err, &alert) || !strings.Contains(err.Error(), "certificate") {
				t.Errorf("Read = %v, want an alert", err)
			}
			serves(t, member, node)
		})
	}
	t.Run("words_without_TLS", func(t *testing.T) {
		c, err := net.Dial("tcp", node.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if _, err := c.Write([]byte("GET /status HTTP/1.1\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		if answer, _ := io.ReadAll(c); strings.Contains(string(answer), own) || len(answer) > 1<<10 {
			t.Errorf("it is answered %q", answer)
		}
		serves(t, member, node)
	})
}

// serves checks that a node answers a member on all its protocols.
func serves(t *testing.T, member *link.Dialer, node *cluster.Node) {
	t.Helper()
	for _, protocol := range protocols {
		c, err := member.DialContext(t.Context(), protocol, node.Addr())
		if err != nil {
			t.Errorf("a member that asks for %s: %v", protocol, err)
			continue
		}
		_ = c.Close()
	}
	client := admin.Client{Dial: func(ctx context.Context, address string) (net.Conn, error) {
		return member.DialContext(ctx, link.Admin, address)
	}}
	if s, err := client.Status(t.Context(), node.Addr()); err != nil || s.ID != node.Log().ID() {
		t.Errorf("Status = %+v, %v", s, err)
	}
}
