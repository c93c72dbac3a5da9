package link_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link/linktest"
)

const (
	cluster = "00112233445566778899aabbccddeeff"
	foreign = "ffeeddccbbaa99887766554433221100"
	idOf2   = "driver-2-0123456789abcdef"
)

func ofCluster() string { return cluster }

// authority returns a new authority.
func authority(t *testing.T) *linktest.CA {
	t.Helper()
	ca, err := linktest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

// files writes a certificate.
func files(t *testing.T, ca *linktest.CA, c linktest.Certificate) *link.TLS {
	t.Helper()
	f, err := ca.Write(t.TempDir(), c)
	if err != nil {
		t.Fatal(err)
	}
	return &f
}

func named(names ...string) linktest.Certificate { return linktest.Certificate{Names: names} }

// pair makes a certificate for crypto/tls.
func pair(t *testing.T, ca *linktest.CA, c linktest.Certificate) tls.Certificate {
	t.Helper()
	certificate, key, err := ca.Issue(c)
	if err != nil {
		t.Fatal(err)
	}
	p, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// clientConfig is what a peer of the tests uses: it believes everything.
func clientConfig(certificates ...tls.Certificate) *tls.Config {
	return &tls.Config{Certificates: certificates, InsecureSkipVerify: true, NextProtos: []string{"leat"}}
}

// running starts a link and returns it; each of its protocols echoes. It ends with the test.
func running(t *testing.T, opts link.Options, protocols ...string) *link.Link {
	t.Helper()
	l, err := link.Listen(opts)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, name := range protocols {
		p := l.Protocol(name)
		all.Go(func() { echo(p) })
	}
	all.Go(func() {
		if err := l.Run(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("Run returns %v", err)
		}
	})
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
	})
	return l
}

func echo(p *link.Protocol) {
	var all sync.WaitGroup
	defer all.Wait()
	for {
		c, err := p.Accept()
		if err != nil {
			return
		}
		all.Go(func() {
			_, _ = io.Copy(c, c)
			_ = c.Close()
		})
	}
}

// checkServes sends something there and back through a protocol.
func checkServes(t *testing.T, d interface {
	DialContext(ctx context.Context, protocol, address string) (net.Conn, error)
}, protocol, address string) {
	t.Helper()
	c, err := d.DialContext(t.Context(), protocol, address)
	if err != nil {
		t.Fatalf("a good node is not served: %v", err)
	}
	checkEchoes(t, c)
}

func checkEchoes(t *testing.T, c net.Conn) {
	t.Helper()
	const text = "there and back"
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(text))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != text {
		t.Fatalf("%q came back, %v", got, err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// counted returns how often the link refused for a reason, and for all.
func counted(l *link.Link, r link.Reason) (n, all uint64) {
	for _, c := range l.Counts().Refused {
		if all += c.Count; c.Reason == r {
			n = c.Count
		}
	}
	return n, all
}

// frame builds a frame, right or wrong.
func frame(kind byte, version, size int, body string) []byte {
	b := append([]byte("LEAT"), kind)
	b = binary.BigEndian.AppendUint16(b, uint16(version))
	b = binary.BigEndian.AppendUint16(b, uint16(size))
	return append(b, body...)
}

func helloBody(fields ...string) string {
	var b bytes.Buffer
	for _, f := range fields {
		b.WriteByte(byte(len(f)))
		b.WriteString(f)
	}
	return b.String()
}

func hello(fields ...string) []byte {
	body := helloBody(fields...)
	return frame('H', 1, len(body), body)
}

var goodHello = hello("raft", cluster, idOf2, "test")

// readFrame reads a frame and returns its kind and body.
func readFrame(r io.Reader) (kind byte, body []byte, err error) {
	header := make([]byte, 9)
	if _, err := io.ReadFull(r, header); err != nil {
		return 0, nil, err
	}
	if string(header[:4]) != "LEAT" {
		return 0, nil, errors.New("no frame")
	}
	body = make([]byte, binary.BigEndian.Uint16(header[7:]))
	_, err = io.ReadFull(r, body)
	return header[4], body, err
}

// told reads frames until the end and returns the reason of a refusal, 0 if there is none, and how the connection ended.
func told(c io.Reader) (link.Reason, error) {
	for {
		kind, body, err := readFrame(c)
		if err != nil {
			return 0, err
		}
		if kind == 'R' {
			_, err := io.Copy(io.Discard, c)
			return link.Reason(body[0]), err
		}
	}
}

func closeWrite(c net.Conn) { _ = c.(interface{ CloseWrite() error }).CloseWrite() }

func dialTCP(t *testing.T, l *link.Link) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// logged is a logger that keeps its lines.
func logged() (*slog.Logger, *lines) {
	w := new(lines)
	return slog.New(slog.NewTextHandler(w, nil)), w
}

type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var (
	forServers = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	forClients = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
)
