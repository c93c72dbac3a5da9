package netns_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/leat-io/leat/streamingcontext/streamtest/proctest"
	"github.com/leat-io/leat/streamingcontext/streamtest/proctest/netns"
)

// The test binary is also the process that the tests put on a host: it answers each line with the same line.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "echo" {
		l, err := net.Listen("tcp", os.Args[2])
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("ready")
		for {
			c, err := l.Accept()
			if err != nil {
				os.Exit(1)
			}
			go func() {
				for lines := bufio.NewScanner(c); lines.Scan(); {
					fmt.Fprintln(c, lines.Text())
				}
			}()
		}
	}
	os.Exit(m.Run())
}

// lab returns a lab of two hosts with an echo on the first; nil where there is none, which must be said with a reason.
func lab(t *testing.T) *netns.Lab {
	l, err := netns.New(2)
	if unavailable := (*netns.UnavailableError)(nil); errors.As(err, &unavailable) {
		t.Log(err)
		if os.Geteuid() == 0 && unavailable.Reason == "they need the rights of root" || unavailable.Reason == "" {
			t.Error("which is wrong")
		}
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(l.Close(), l.Close()); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir("/run/netns"); len(left) > 0 && strings.HasPrefix(left[0].Name(), fmt.Sprintf("lt%dx", os.Getpid())) {
			t.Errorf("namespaces are left: %v", left)
		}
	})
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	p, err := proctest.Start(l.On(0, proctest.Options{Path: program, Args: []string{"echo", l.Address(0) + ":7000"}, Err: t.Output(),
		Line: func(_ time.Time, line string) { ready <- line }}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	if line := <-ready; line != "ready" {
		t.Fatal(line)
	}
	return l
}

func TestAHostIsUnplugged(t *testing.T) {
	l := lab(t)
	if l == nil {
		return
	}
	c := dial(t, l)
	say(t, c, "plugged in")
	if err := l.Unplug(0); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintln(c, "kept"); err != nil {
		t.Fatal("who sends is told that the cable is out:", err)
	}
	c.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
	if n, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%d bytes came through, %v", n, err)
	}
	if err := l.Plug(0); err != nil {
		t.Fatal(err)
	}
	c.SetReadDeadline(time.Now().Add(30 * time.Second))
	if line, err := bufio.NewReader(c).ReadString('\n'); line != "kept\n" {
		t.Fatalf("%q, %v: what was sent meanwhile is lost", line, err)
	}
}

// Whether a host can send to another is what its routes say.
func TestAHostHasNoWayToAnother(t *testing.T) {
	l := lab(t)
	if l == nil {
		return
	}
	for _, refused := range []bool{true, false} {
		if err := l.Refuse(1, 0, refused); err != nil {
			t.Fatal(err)
		}
		p, err := proctest.Start(l.On(1, proctest.Options{Path: "ip", Args: []string{"route", "get", l.Address(0)}}))
		if err != nil {
			t.Fatal(err)
		}
		err = p.Wait(t.Context())
		p.Kill()
		if (err != nil) != refused {
			t.Errorf("refused %t: the command ends with %v", refused, err)
		}
	}
	if err := l.Refuse(1, 0, false); err == nil {
		t.Error("a way is given back that is there")
	}
}

// What a process left that was killed goes with the next lab; what one has that runs stays.
func TestHostsOfAKilledProcess(t *testing.T) {
	first := lab(t)
	if first == nil {
		return
	}
	p, err := proctest.Start(proctest.Options{Path: "true"})
	if err != nil {
		t.Fatal(err)
	}
	p.Kill() // its number is nobody's now
	space := fmt.Sprintf("lt%dx1n0", p.Pid())
	if out, err := exec.Command("ip", "netns", "add", space).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	second, err := netns.New(1)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if _, err := os.Stat("/run/netns/" + space); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	say(t, dial(t, first), "still there")
}

func TestHostsOutOfRange(t *testing.T) {
	for _, n := range []int{-1, 0, 201} {
		if l, err := netns.New(n); err == nil {
			l.Close()
			t.Errorf("%d hosts are possible", n)
		}
	}
}

func dial(t *testing.T, l *netns.Lab) net.Conn {
	c, err := net.DialTimeout("tcp", l.Address(0)+":7000", 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func say(t *testing.T, c net.Conn, line string) {
	if _, err := fmt.Fprintln(c, line); err != nil {
		t.Fatal(err)
	}
	c.SetReadDeadline(time.Now().Add(10 * time.Second))
	got := make([]byte, len(line)+1)
	if _, err := c.Read(got); err != nil || string(got) != line+"\n" {
		t.Fatalf("%q, %v", got, err)
	}
}
