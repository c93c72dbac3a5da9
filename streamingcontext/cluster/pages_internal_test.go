package cluster

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link/linktest"
)

// piped is a listener of one connection.
type piped struct {
	conn   chan net.Conn
	closed chan struct{}
}

func (p *piped) Accept() (net.Conn, error) {
	select {
	case c := <-p.conn:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *piped) Close() error {
	select {
	case <-p.closed:
	default:
		close(p.closed)
	}
	return nil
}

func (p *piped) Addr() net.Addr { return &net.TCPAddr{} }

// Clients that send slowly, take nothing or go to sleep do not keep a connection, whatever they have sent.
func TestSlowClientsAreHungUpOn(t *testing.T) {
	for _, c := range []struct {
		name, sent string
		reads      bool
		within     time.Duration
	}{
		{"that_says_nothing", "", true, requestTimeout},
		{"that_is_in_the_middle_of_a_header", "GET /healthz HTTP/1.1\r\nHost: a\r\nX: ", true, requestTimeout},
		{"that_owes_a_body", "GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n", true, requestTimeout},
		{"that_takes_no_answer", "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", false, answerTimeout},
		{"that_asks_for_nothing_more", "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", true, idleTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &piped{make(chan net.Conn, 1), make(chan struct{})}
				handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					_, _ = io.WriteString(w, strings.Repeat("word ", 1<<12))
				})
				p := &pages{Listener: l, server: newServer(handler, slog.New(slog.DiscardHandler))}
				ctx, stop := context.WithCancel(t.Context())
				ran := make(chan error, 1)
				go func() { ran <- p.run(ctx) }()
				ours, theirs := net.Pipe()
				gone := make(chan struct{})
				l.conn <- &ending{Conn: theirs, closed: gone}
				begin := time.Now()
				go func() {
					if _, err := io.WriteString(ours, c.sent); err == nil && c.reads {
						_, _ = io.Copy(io.Discard, bufio.NewReader(ours))
					}
				}()
				select {
				case <-gone:
				case <-time.After(time.Hour):
					t.Error("its connection is kept")
				}
				if took := time.Since(begin); took > c.within+time.Second {
					t.Errorf("its connection is kept for %s, want %s", took, c.within)
				}
				_ = ours.Close()
				stop()
				if err := <-ran; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// ending is a connection that tells when it is closed.
type ending struct {
	net.Conn
	closed chan struct{}
	once   sync.Once
}

func (e *ending) Close() error {
	e.once.Do(func() { close(e.closed) })
	return e.Conn.Close()
}

// While certificates are being replaced, one file after the other, those before stay in use.
func TestPagesWhileCertificatesAreReplaced(t *testing.T) {
	ca, err := linktest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	dir, next := t.TempDir(), t.TempDir()
	files, err := ca.Write(dir, linktest.Certificate{Names: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := ca.Write(next, linktest.Certificate{Names: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	shown, err := readCertificates(files, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	first := shown.current()
	read := func(path string) []byte {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, step := range []struct {
		what, path string
		text       []byte
	}{
		{"a certificate whose key is to come", files.Certificate, read(fresh.Certificate)},
		{"half a certificate", files.Certificate, read(fresh.Certificate)[:100]},
		{"an empty authority", files.CA, nil},
		{"a file without end", files.CA, make([]byte, maxPEM+1)},
	} {
		if err := os.WriteFile(step.path, step.text, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := shown.current(); got == nil || string(got.Certificates[0].Certificate[0]) != string(first.Certificates[0].Certificate[0]) {
			t.Errorf("%s: what was there before is not in use", step.what)
		}
	}
	if err := os.Remove(files.Key); err != nil {
		t.Fatal(err)
	}
	if shown.current() == nil {
		t.Error("without a key: what was there before is not in use")
	}
	for _, name := range []string{files.CA, files.Certificate, files.Key} {
		if err := os.Rename(filepath.Join(next, filepath.Base(name)), name); err != nil {
			t.Fatal(err)
		}
	}
	if got := shown.current(); string(got.Certificates[0].Certificate[0]) == string(first.Certificates[0].Certificate[0]) {
		t.Error("the new certificate is not in use")
	}
	if _, err := readCertificates(files, slog.New(slog.DiscardHandler)); err != nil {
		t.Error(err)
	}
}

// A build is a few words, also where nobody asks for it.
func TestBuildsOfOddLength(t *testing.T) {
	for _, build := range []string{strings.Repeat("x", maxBuild+1), "\xff"} {
		if err := (Options{Build: build}).Validate(); err == nil {
			t.Errorf("a build of %d bytes is taken", len(build))
		}
	}
	if err := (Options{Build: strings.Repeat("x", maxBuild)}).Validate(); err != nil {
		t.Error(err)
	}
}
