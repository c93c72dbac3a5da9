package link_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link/linktest"
)

// answering listens and gives each connection to answer, TLS with a config.
func answering(t *testing.T, config *tls.Config, answer func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer func() { _ = c.Close() }()
				_ = c.SetDeadline(time.Now().Add(30 * time.Second))
				if config == nil {
					answer(c)
					return
				}
				answer(tls.Server(c, config))
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
	})
	return l.Addr().String()
}

// saying reads the hello and answers.
func saying(answer []byte) func(net.Conn) {
	return func(c net.Conn) {
		if kind, _, err := readFrame(c); kind != 'H' || err != nil {
			return
		}
		_, _ = c.Write(answer)
		_, _ = told(c)
	}
}

func TestBadAnswersAreRefusedByTheDialler(t *testing.T) {
	ca, other := authority(t), authority(t)
	now := time.Now()
	with := func(ca *linktest.CA, c linktest.Certificate) *tls.Config {
		if c.Names == nil {
			c.Names = []string{"driver-1"}
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(ca.PEM())
		return &tls.Config{Certificates: []tls.Certificate{pair(t, ca, c)}, NextProtos: []string{"leat"}, ClientAuth: tls.RequireAnyClientCert}
	}
	changed := func(change func(*tls.Config)) *tls.Config {
		c := with(ca, linktest.Certificate{})
		change(c)
		return c
	}
	const idOf1 = "driver-1-0123456789abcdef"
	good := hello("raft", cluster, idOf1, "")
	secure, err := link.NewDialer(link.Options{Cluster: ofCluster, TLS: files(t, ca, named("driver-2"))})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := link.NewDialer(link.Options{Cluster: ofCluster})
	if err != nil {
		t.Fatal(err)
	}
	hangUp := func(c net.Conn) { _, _, _ = readFrame(c) }
	for _, tt := range []struct {
		name   string
		config *tls.Config // nil: no TLS on either side
		answer func(net.Conn)
		want   link.Reason
		remote bool
		cause  any // a target for errors.As
	}{
		{"other_authority", with(other, linktest.Certificate{}), saying(good), link.BadCertificate, false, new(x509.UnknownAuthorityError)},
		{"expired", with(ca, linktest.Certificate{From: now.AddDate(0, 0, -2), To: now.Add(-time.Minute)}), saying(good), link.BadCertificate, false, new(x509.CertificateInvalidError)},
		{"not_yet_valid", with(ca, linktest.Certificate{From: now.Add(time.Hour)}), saying(good), link.BadCertificate, false, new(x509.CertificateInvalidError)},
		{"for_clients_only", with(ca, linktest.Certificate{Usages: forClients}), saying(good), link.BadCertificate, false, new(x509.CertificateInvalidError)},
		{"another_name", with(ca, named("driver-9")), saying(good), link.WrongName, false, nil},
		{"pattern", with(ca, named("*")), saying(good), link.WrongName, false, nil},
		{"tls_1.2", changed(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 }), saying(good), link.BadTransport, true, nil},
		{"no_application_protocol", changed(func(c *tls.Config) { c.NextProtos = nil }), saying(good), link.BadTransport, false, nil},
		{"other_cluster_tls", with(ca, linktest.Certificate{}), saying(hello("raft", foreign, idOf1, "")), link.WrongCluster, false, nil},
		{"other_cluster", nil, saying(hello("raft", foreign, idOf1, "")), link.WrongCluster, false, nil},
		{"other_protocol", nil, saying(hello("admin", cluster, idOf1, "")), link.Malformed, false, nil},
		{"no_node", nil, saying(hello("raft", cluster, "driver-1", "")), link.Malformed, false, nil},
		{"oversized", nil, saying(frame('H', 1, 1016, "")), link.Oversized, false, nil},
		{"version_2", nil, saying(frame('H', 2, 0, "")), link.WrongVersion, false, nil},
		{"garbled", nil, saying([]byte("SSH-2.0-OpenSSH_9")), link.Malformed, false, nil},
		{"go", nil, saying(frame('G', 1, 0, "")), link.Malformed, false, nil},
		{"hangs_up", nil, hangUp, link.HungUp, false, nil},
		{"half_an_answer", nil, func(c net.Conn) { _, _, _ = readFrame(c); _, _ = c.Write(good[:12]) }, link.HungUp, false, nil},
		{"refusal", nil, saying(frame('R', 1, 5, "\x0bfull")), link.Busy, true, nil},
		{"refusal_of_version_2", nil, saying(frame('R', 2, 5, "\x04old!")), link.WrongVersion, true, nil},
		{"refusal_too_long", nil, saying(append(frame('R', 1, 1000, "\x04"), make([]byte, 999)...)), link.Malformed, false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := plain
			if tt.config != nil {
				d = secure
			}
			address := answering(t, tt.config, tt.answer)
			_, err := d.DialContext(t.Context(), "raft", address)
			e := (*link.RefusedError)(nil)
			if !errors.As(err, &e) || e.Reason != tt.want || e.Remote != tt.remote || e.Peer.Address != address {
				t.Fatalf("DialContext returns %v, want %v, remote %t", err, tt.want, tt.remote)
			}
			if tt.cause != nil && !errors.As(err, tt.cause) {
				t.Errorf("%v is not a %T", err, tt.cause)
			}
		})
	}
	t.Run("plain_server", func(t *testing.T) {
		_, err := secure.DialContext(t.Context(), "raft", answering(t, nil, func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n")
			_, _ = io.Copy(io.Discard, c)
		}))
		if e := (*link.RefusedError)(nil); !errors.As(err, &e) || e.Reason != link.BadTransport || e.Remote {
			t.Errorf("DialContext returns %v", err)
		}
	})
}

func TestTheOtherEndLearnsWhyItIsRefused(t *testing.T) {
	ca := authority(t)
	l := running(t, link.Options{Name: "driver-1", Cluster: ofCluster, TLS: files(t, ca, named("driver-1")), HandshakeTimeout: time.Minute}, "raft", "admin")
	own := files(t, ca, named("driver-2"))
	for _, tt := range []struct {
		name, protocol string
		cluster        string
		files          *link.TLS
		want           link.Reason
		remote         bool
	}{
		{"cluster", "raft", foreign, own, link.WrongCluster, true},
		{"cluster_admin", "admin", foreign, own, link.WrongCluster, true},
		{"protocol", "blocks", cluster, own, link.UnknownProtocol, true},
		{"no_cluster", "raft", "", own, link.NoCluster, false},
		{"authority", "raft", cluster, files(t, authority(t), named("driver-2")), link.BadCertificate, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := link.NewDialer(link.Options{TLS: tt.files, Cluster: func() string { return tt.cluster }})
			if err != nil {
				t.Fatal(err)
			}
			_, err = d.DialContext(t.Context(), tt.protocol, l.Addr().String())
			if e := (*link.RefusedError)(nil); !errors.As(err, &e) || e.Reason != tt.want || e.Remote != tt.remote {
				t.Errorf("DialContext returns %v, want %v", err, tt.want)
			}
		})
	}
	d, err := link.NewDialer(link.Options{TLS: own})
	if err != nil {
		t.Fatal(err)
	}
	checkServes(t, d, "admin", l.Addr().String()) // whoever has no cluster may ask for that
}

func TestThoseWithoutAClusterAreJoinedByThoseThatHaveOne(t *testing.T) {
	fresh := running(t, link.Options{Name: "driver-2"}, "raft", "admin")
	member := running(t, link.Options{Name: "driver-1", Cluster: ofCluster, Build: "wordcount 1.2"}, "raft")
	got := make(chan link.Peer, 1)
	p := fresh.Protocol("blocks")
	t.Cleanup(func() { _ = p.Close() })
	c, err := member.DialContext(t.Context(), "blocks", fresh.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	accepted, err := p.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = accepted.Close() }()
	got <- accepted.(*link.Conn).Peer()
	if peer := <-got; peer.ID != member.ID() || peer.Name != "driver-1" || peer.Cluster != cluster || peer.Build != "wordcount 1.2" {
		t.Errorf("the peer is %+v", peer)
	}
	if peer := c.(*link.Conn).Peer(); peer.ID != fresh.ID() || peer.Cluster != "" || peer.Address != fresh.Addr().String() {
		t.Errorf("the peer is %+v", peer)
	}
	if _, err := fresh.DialContext(t.Context(), "raft", member.Addr().String()); err == nil {
		t.Error("a node without a cluster may ask for raft")
	}
}

func TestDialEndsWithItsContextAndItsDialer(t *testing.T) {
	reached := make(chan struct{}, 2)
	address := answering(t, nil, func(c net.Conn) {
		reached <- struct{}{}
		_, _ = io.Copy(io.Discard, c)
	})
	d, err := link.NewDialer(link.Options{Cluster: ofCluster, DialTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-reached; cancel() }()
	if _, err := d.DialContext(ctx, "raft", address); !errors.Is(err, context.Canceled) {
		t.Errorf("DialContext returns %v", err)
	}
	closed := make(chan error)
	go func() { <-reached; closed <- d.Close() }()
	if _, err := d.DialContext(t.Context(), "raft", address); !errors.Is(err, link.ErrClosed) {
		t.Errorf("DialContext returns %v", err)
	}
	if err := errors.Join(<-closed, d.Close()); err != nil {
		t.Error(err)
	}
	if _, err := d.DialContext(t.Context(), "raft", address); !errors.Is(err, link.ErrClosed) {
		t.Errorf("DialContext after Close returns %v", err)
	}
}
