package cluster

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
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

// A build is a few words, also where nobody asks for it.
func TestBuildsOfOddLength(t *testing.T) {
	const most = 128
	for _, build := range []string{strings.Repeat("x", most+1), "\xff"} {
		if err := (Options{Build: build}).Validate(); err == nil {
			t.Errorf("a build of %d bytes is taken", len(build))
		}
	}
	if err := (Options{Build: strings.Repeat("x", most)}).Validate(); err != nil {
		t.Error(err)
	}
}
