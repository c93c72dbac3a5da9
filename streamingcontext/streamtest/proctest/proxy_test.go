package proctest_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/leat-io/leat/streamingcontext/streamtest/proctest"
)

func TestMain(m *testing.M) {
	if os.Getenv("PROCTEST_CHILD") != "" {
		child()
		return
	}
	goleak.VerifyTestMain(m)
}

// echo answers each line with the same.
func echo(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-ended })
	return l.Addr().String()
}

// A caller is a connection through a proxy.
type caller struct {
	*testing.T
	conn net.Conn
	in   *bufio.Reader
}

func call(t *testing.T, p *proctest.Proxy) *caller {
	t.Helper()
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &caller{t, conn, bufio.NewReader(conn)}
}

func (c *caller) say(line string) {
	c.Helper()
	if _, err := io.WriteString(c.conn, line+"\n"); err != nil {
		c.Fatal(err)
	}
}

func (c *caller) hear(want string) {
	c.Helper()
	if got, err := c.in.ReadString('\n'); got != want+"\n" {
		c.Fatalf("got %q, %v, want %q", got, err, want)
	}
}

// silent checks that nothing comes for a moment.
func (c *caller) silent() {
	c.Helper()
	_ = c.conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if got, err := c.in.ReadString('\n'); !errors.Is(err, os.ErrDeadlineExceeded) {
		c.Fatalf("got %q, %v, want silence", got, err)
	}
	_ = c.conn.SetReadDeadline(time.Time{})
}

func proxy(t *testing.T) *proctest.Proxy {
	t.Helper()
	p, err := proctest.StartProxy(echo(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func TestACutIsSilentAndNothingIsLostOverIt(t *testing.T) {
	for _, cut := range []struct {
		name     string
		to, from bool
	}{{"both", true, true}, {"to", true, false}, {"from", false, true}} {
		t.Run(cut.name, func(t *testing.T) {
			p := proxy(t)
			old := call(t, p)
			old.say("before")
			old.hear("before")
			p.Cut(cut.to, cut.from)
			old.say("during")
			old.silent()
			late := call(t, p) // is taken, and hears nothing
			late.say("late")
			late.silent()
			p.Heal()
			old.hear("during")
			late.hear("late")
		})
	}
}

func TestResetIsNoticed(t *testing.T) {
	p := proxy(t)
	c := call(t, p)
	c.say("a")
	c.hear("a")
	p.Reset()
	if got, err := c.in.ReadString('\n'); err == nil {
		t.Errorf("got %q after a reset", got)
	}
	again := call(t, p)
	again.say("b")
	again.hear("b")
}

func TestCloseEndsWhatIsHeldUp(t *testing.T) {
	p := proxy(t)
	c := call(t, p)
	c.say("a")
	c.hear("a")
	p.Cut(true, true)
	c.say("b")
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}
