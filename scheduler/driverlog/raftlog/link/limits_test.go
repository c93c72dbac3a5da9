package link_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link"
	"github.com/leat-io/leat/scheduler/driverlog/raftlog/link/linktest"
)

// inMemory starts a link at "one" and returns a dialer of the same network.
func inMemory(t *testing.T, opts link.Options, protocols ...string) (*link.Link, *link.Dialer, *linktest.Network) {
	t.Helper()
	n := new(linktest.Network)
	opts.Address, opts.Network, opts.Cluster = "one", n, ofCluster
	l := running(t, opts, protocols...)
	d, err := link.NewDialer(link.Options{Network: n.From("two"), Cluster: ofCluster})
	if err != nil {
		t.Fatal(err)
	}
	return l, d, n
}

func dialPipe(t *testing.T, n *linktest.Network) net.Conn {
	t.Helper()
	c, err := n.From("bad").DialContext(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// refusal reads frames until a refusal, closes the connection and returns the reason; 0 if it ends before.
func refusal(c net.Conn) link.Reason {
	defer func() { _ = c.Close() }()
	for {
		kind, body, err := readFrame(c)
		if err != nil {
			return 0
		}
		if kind == 'R' {
			return link.Reason(body[0])
		}
	}
}

func TestWhoeverSaysNothingIsRefusedInTime(t *testing.T) {
	for name, say := range map[string][]byte{"nothing": nil, "half_a_header": goodHello[:4], "half_a_hello": goodHello[:30], "no_go": goodHello} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, d, n := inMemory(t, link.Options{HandshakeTimeout: 3 * time.Second}, "raft")
				c := dialPipe(t, n)
				begin := time.Now()
				if _, err := c.Write(say); err != nil {
					t.Fatal(err)
				}
				if reason := refusal(c); reason != link.Late {
					t.Errorf("the peer is told %v", reason)
				}
				if took := time.Since(begin); took != 3*time.Second {
					t.Errorf("refused after %s", took)
				}
				if n, _ := counted(l, link.Late); n != 1 {
					t.Errorf("%d refusals", n)
				}
				checkServes(t, d, "raft", "one")
			})
		})
	}
}

func TestADiallerWaitsNoLongerThanItSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &linktest.Network{Cut: func(from, to string) bool { return to == "gone" }}
		silent, err := n.Listen("silent")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = silent.Close() }()
		l, err := link.Listen(link.Options{Address: "one", Network: n, Cluster: ofCluster})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		go func() {
			for {
				c, err := silent.Accept()
				if err != nil {
					return
				}
				defer func() { _ = c.Close() }()
			}
		}()
		for _, address := range []string{"silent", "gone"} {
			begin := time.Now()
			_, err = l.Protocol("raft").Dial(address, 200*time.Millisecond)
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 200*time.Millisecond {
				t.Errorf("Dial to %s returns %v after %s", address, err, time.Since(begin))
			}
		}
		begin := time.Now()
		if _, err = l.Protocol("raft").Dial("silent", 0); err == nil || time.Since(begin) != link.DefaultDialTimeout {
			t.Errorf("Dial returns %v after %s", err, time.Since(begin))
		}
	})
}

func TestSilentEndsKeepNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, d, n := inMemory(t, link.Options{HandshakeTimeout: time.Hour}, "raft")
		for range 200 {
			dialPipe(t, n)
			synctest.Wait()
			if c := l.Counts(); c.Handshakes > 64 {
				t.Fatalf("%d handshakes", c.Handshakes)
			}
		}
		begin := time.Now()
		checkServes(t, d, "raft", "one")
		synctest.Wait()
		if took := time.Since(begin); took > time.Second {
			t.Errorf("a good node is served after %s", took)
		}
		if n, _ := counted(l, link.Busy); n != 200+1-64 {
			t.Errorf("%d gave way", n)
		}
	})
}

func TestTooManyConnectionsAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, d, _ := inMemory(t, link.Options{MaxConns: 3}, "raft")
		var open []net.Conn
		for range 3 {
			c, err := d.DialContext(t.Context(), "raft", "one")
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, c)
		}
		for range 10 {
			_, err := d.DialContext(t.Context(), "raft", "one")
			if e := (*link.RefusedError)(nil); !errors.As(err, &e) || e.Reason != link.Busy || !e.Remote {
				t.Fatalf("DialContext returns %v", err)
			}
		}
		synctest.Wait()
		if c := l.Counts(); c.Open != 3 || c.Accepted != 3 {
			t.Errorf("counts %+v", c)
		}
		for _, c := range open {
			checkEchoes(t, c)
		}
		synctest.Wait()
		checkServes(t, d, "raft", "one")
		synctest.Wait()
		if c := l.Counts(); c.Open != 0 || c.Accepted != 4 {
			t.Errorf("counts %+v", c)
		}
	})
}

func TestConnectionsThatNobodyAcceptsAreBoundedAndClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, d, _ := inMemory(t, link.Options{HandshakeTimeout: 7 * time.Second}, "admin")
		p := l.Protocol("raft")
		var waiting []net.Conn
		for range 16 {
			c, err := d.DialContext(t.Context(), "raft", "one")
			if err != nil {
				t.Fatal(err)
			}
			waiting = append(waiting, c)
		}
		if _, err := d.DialContext(t.Context(), "raft", "one"); err == nil || !strings.Contains(err.Error(), "16 wait for raft") {
			t.Errorf("DialContext returns %v", err)
		}
		checkServes(t, d, "admin", "one") // another protocol has its own
		begin := time.Now()
		for _, c := range waiting {
			if _, err := c.Read(make([]byte, 1)); err != io.EOF {
				t.Errorf("Read returns %v", err)
			}
		}
		if took := time.Since(begin); took != 7*time.Second {
			t.Errorf("they are closed after %s", took)
		}
		synctest.Wait()
		if c := l.Counts(); c.Open != 0 {
			t.Errorf("counts %+v", c)
		}
		go echo(p)
		checkServes(t, d, "raft", "one")
	})
}

func TestCloseEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, d, n := inMemory(t, link.Options{}, "raft")
		open, err := d.DialContext(t.Context(), "raft", "one")
		if err != nil {
			t.Fatal(err)
		}
		silent := dialPipe(t, n)
		unclaimed := l.Protocol("blocks")
		waiting, err := d.DialContext(t.Context(), "blocks", "one")
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		begin := time.Now()
		for range 2 {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(begin); took > 0 {
			t.Errorf("Close took %s", took)
		}
		for _, c := range []net.Conn{open, silent, waiting} {
			if _, err := c.Read(make([]byte, 1)); err == nil {
				t.Error("a connection is open")
			}
		}
		for _, p := range []*link.Protocol{unclaimed, l.Protocol("raft"), l.Protocol("new")} {
			if _, err := p.Accept(); !errors.Is(err, link.ErrClosed) {
				t.Errorf("Accept returns %v", err)
			}
			if _, err := p.Dial("one", time.Second); !errors.Is(err, link.ErrClosed) {
				t.Errorf("Dial returns %v", err)
			}
			if err := errors.Join(p.Close(), p.Close()); err != nil {
				t.Error(err)
			}
		}
		if err := l.Run(t.Context()); !errors.Is(err, link.ErrClosed) {
			t.Errorf("Run returns %v", err)
		}
		if c := l.Counts(); len(c.Refused) > 0 {
			t.Errorf("what Close closes counts as refused: %+v", c)
		}
	})
}

func TestRunEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := link.Listen(link.Options{Address: "one", Network: new(linktest.Network)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- l.Run(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if _, err := l.Protocol("raft").Accept(); !errors.Is(err, link.ErrClosed) {
			t.Errorf("Accept returns %v", err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestAClosedProtocolIsRefusedAndCanBeMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, d, _ := inMemory(t, link.Options{}, "raft")
		p := l.Protocol("raft")
		open, err := d.DialContext(t.Context(), "raft", "one")
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // until it is accepted
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		checkEchoes(t, open) // it was accepted before
		_, err = d.DialContext(t.Context(), "raft", "one")
		if e := (*link.RefusedError)(nil); !errors.As(err, &e) || e.Reason != link.UnknownProtocol {
			t.Errorf("DialContext returns %v", err)
		}
		again := l.Protocol("raft")
		if again == p {
			t.Fatal("the protocol stays closed")
		}
		go echo(again)
		checkServes(t, d, "raft", "one")
	})
}

// failing is a listener that gives no connections n times.
type failing struct {
	net.Listener
	n int
}

func (f *failing) Accept() (net.Conn, error) {
	if f.n--; f.n >= 0 {
		return nil, errors.New("too many open files")
	}
	return f.Listener.Accept()
}

type failingNetwork struct{ *linktest.Network }

func (n failingNetwork) Listen(address string) (net.Listener, error) {
	l, err := n.Network.Listen(address)
	return &failing{l, 20}, err
}

func TestRunGoesOnWhereTheSystemGivesNoConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, lines := logged()
		n := failingNetwork{new(linktest.Network)}
		running(t, link.Options{Address: "one", Network: n, Cluster: ofCluster, Logger: logger}, "raft")
		d, err := link.NewDialer(link.Options{Network: n, Cluster: ofCluster, DialTimeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		checkServes(t, d, "raft", "one")
		if got := strings.Count(lines.String(), "too many open files"); got != 1 {
			t.Errorf("it is logged %d times", got)
		}
	})
}

func TestRefusalsAreLoggedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, lines := logged()
		l, _, n := inMemory(t, link.Options{Logger: logger}, "raft")
		refuse := func(say []byte) {
			c := dialPipe(t, n)
			if _, err := c.Write(say); err != nil {
				t.Fatal(err)
			}
			refusal(c)
		}
		for range 100 {
			refuse(hello("raft", foreign, idOf2, ""))
		}
		refuse(hello("blocks", cluster, idOf2, ""))
		if got := strings.Count(lines.String(), "connection refused"); got != 2 {
			t.Errorf("%d lines: %s", got, lines)
		}
		<-time.After(time.Minute) // of the fake clock
		refuse(hello("raft", foreign, idOf2, ""))
		if got := lines.String(); strings.Count(got, "connection refused") != 3 || !strings.Contains(got, "since=99") {
			t.Errorf("lines: %s", got)
		}
		if n, _ := counted(l, link.WrongCluster); n != 101 {
			t.Errorf("%d refusals", n)
		}
	})
}
