package socket_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/receiverstest"
	"github.com/leat-io/leat/receivers/socket"
)

// supervise runs r until the returned function is called.
func supervise[T any](t *testing.T, r receivers.Receiver[T], blocks *receiverstest.Blocks[T], opts receivers.Options) (stop func()) {
	t.Helper()
	sup, err := receivers.NewSupervisor(0, r, blocks, opts)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- sup.Run(ctx) }()
	return sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// A socket cannot be read again: a program that is started again begins with what the server sends then.
// Shows SO-01.
func TestText_SO01_starts_afresh(t *testing.T) {
	text := make(chan string, 2)
	addr := listen(t, func(conn net.Conn) { fmt.Fprint(conn, <-text) })
	text <- "1\n2\n3\n4\n5\n"
	text <- "6\n7\n8\n"
	for i, want := range [][]string{{"1", "2", "3", "4", "5"}, {"6", "7", "8"}} {
		var sink receiverstest.Sink[string]
		if err := socket.Text(addr, socket.Options{}).Receive(t.Context(), &sink); !errors.Is(err, io.EOF) {
			t.Errorf("run %d: Receive = %v", i, err)
		}
		if diff := cmp.Diff(want, sink.Records()); diff != "" {
			t.Errorf("run %d: records (-want +got):\n%s", i, diff)
		}
	}
}

// A server that accepts one client in its life serves this one.
// Shows SO-02.
func TestText_SO02_makes_one_connection_a_start(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	release := make(chan struct{})
	serving.Go(func() {
		conn, err := l.Accept()
		l.Close()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprintln(conn, "1")
		<-release
	})
	var dials atomic.Int64
	lines := socket.Text(l.Addr().String(), socket.Options{Dial: func(ctx context.Context, addr string) (net.Conn, error) {
		dials.Add(1)
		var d net.Dialer
		return d.DialContext(ctx, "tcp", addr)
	}})
	if n := dials.Load(); n != 0 {
		t.Errorf("%d connections before the start", n)
	}
	stored := make(chan struct{})
	blocks := receiverstest.Blocks[string]{Before: func(context.Context, receivers.Block[string]) error {
		close(stored)
		return nil
	}}
	stop := supervise(t, lines, &blocks, receivers.Options{})
	<-stored
	stop()
	close(release)
	serving.Wait()
	if n := dials.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

// A server drops every connection, a thousand times: nothing stays open but the last one.
// Shows SO-04.
func TestText_SO04_leaves_no_descriptor_open(t *testing.T) {
	const drops = 1000
	var accepted atomic.Int64
	enough := make(chan struct{})
	addr := listen(t, func(conn net.Conn) {
		conn.Close()
		if accepted.Add(1) == drops {
			close(enough)
		}
	})
	before, ok := receiverstest.Descriptors()
	if !ok {
		before = -1 // this platform does not say: what follows still must not fail
	}
	var most atomic.Int64
	stop := supervise(t, socket.Text(addr, socket.Options{}), &receiverstest.Blocks[string]{}, receivers.Options{
		RestartDelay: time.Millisecond,
		Listener: receivers.Listener{Stopped: func(int32, int, error) {
			if now, ok := receiverstest.Descriptors(); ok {
				most.Store(max(most.Load(), int64(now)))
			}
		}},
	})
	<-enough
	stop()
	if before < 0 {
		return
	}
	// One of the receiver, and up to two that the test's server has not closed yet, beside what the runtime polls with.
	if grew := most.Load() - int64(before); grew > 6 {
		t.Errorf("%d descriptors more than before were open after %d dropped connections", grew, drops)
	}
}

// Bytes that are not UTF-8 do not stop the source, and are not changed.
// Shows SO-05.
func TestText_SO05_keeps_bytes_that_are_not_UTF8(t *testing.T) {
	addr := listen(t, func(conn net.Conn) { fmt.Fprint(conn, "1\n\xff\xfe\xc3\n2\n") })
	var sink receiverstest.Sink[string]
	if err := socket.Text(addr, socket.Options{}).Receive(t.Context(), &sink); !errors.Is(err, io.EOF) {
		t.Errorf("Receive = %v", err)
	}
	if diff := cmp.Diff([]string{"1", "\xff\xfe\xc3", "2"}, sink.Records()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// A line longer than the usual scanner takes is a line like others.
// Shows F-13.
func TestText_F13_takes_long_lines(t *testing.T) {
	long := make([]byte, 70_000)
	for i := range long {
		long[i] = 'x'
	}
	addr := listen(t, func(conn net.Conn) { fmt.Fprintf(conn, "ok\n%s\nlast\n", long) })
	var sink receiverstest.Sink[string]
	if err := socket.Text(addr, socket.Options{}).Receive(t.Context(), &sink); !errors.Is(err, io.EOF) {
		t.Errorf("Receive = %v", err)
	}
	if diff := cmp.Diff([]string{"ok", string(long), "last"}, sink.Records()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}
