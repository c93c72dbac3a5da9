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
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/receiverstest"
	"github.com/leat-io/leat/receivers/socket"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listen returns a server on loopback that answers each connection with serve, until the test ends.
func listen(t *testing.T, serve func(conn net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
	})
	return l.Addr().String()
}

func ExampleText() {
	server, _ := net.Listen("tcp", "127.0.0.1:0")
	defer server.Close()
	served := make(chan struct{})
	go func() {
		defer close(served)
		conn, err := server.Accept()
		if err == nil {
			fmt.Fprint(conn, "to be\r\nor not to be")
			conn.Close()
		}
	}()
	lines := socket.Text(server.Addr().String(), socket.Options{})
	var sink receiverstest.Sink[string]
	err := lines.Receive(context.Background(), &sink)
	<-served
	fmt.Printf("%q %v\n", sink.Records(), errors.Is(err, io.EOF))
	// Output: ["to be" "or not to be"] true
}

// endless sends the numbers from 0, a line each, and counts them.
func endless(conn net.Conn, sent *atomic.Int64) {
	for i := 0; ; i++ {
		if _, err := fmt.Fprintf(conn, "%d\n", i); err != nil {
			return
		}
		sent.Add(1)
	}
}

var numbers = []string{"0", "1", "2", "3", "4", "5", "6", "7"}

func TestText(t *testing.T) {
	t.Run("over a pipe", func(t *testing.T) {
		receiverstest.Run(t, func(t *testing.T) receiverstest.Source[string] {
			var sent atomic.Int64
			return receiverstest.Source[string]{
				Want: numbers,
				Read: func() int { return int(sent.Load()) },
				Receiver: socket.Text("server", socket.Options{Dial: func(context.Context, string) (net.Conn, error) {
					client, server := net.Pipe()
					go endless(server, &sent) // ends with the client's side of the pipe
					return client, nil
				}}),
			}
		})
	})
	t.Run("over TCP", func(t *testing.T) {
		receiverstest.RunReal(t, func(t *testing.T) receiverstest.Source[string] {
			var sent atomic.Int64
			addr := listen(t, func(conn net.Conn) { endless(conn, &sent) })
			return receiverstest.Source[string]{Want: numbers, Receiver: socket.Text(addr, socket.Options{})}
		})
	})
}

// A server that goes away and comes back is followed, on the same address, through refused connections.
func TestText_follows_a_server_that_comes_back(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	serve := func(text string) {
		conn, err := l.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		l.Close()
		fmt.Fprint(conn, text)
		conn.Close()
	}
	ctx, cancel := context.WithCancel(t.Context())
	ends := make(chan error) // unbuffered, so the receiver starts again only once the test has seen the end before
	var blocks receiverstest.Blocks[string]
	sup, err := receivers.NewSupervisor(0, socket.Text(addr, socket.Options{}), &blocks, receivers.Options{
		RestartDelay: time.Millisecond,
		Listener: receivers.Listener{Stopped: func(_ int32, _ int, err error) {
			select {
			case ends <- err:
			case <-ctx.Done():
			}
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	var serving sync.WaitGroup
	serving.Go(func() { serve("1\n2") })
	go func() { ended <- sup.Run(ctx) }()
	serving.Wait()
	if err := <-ends; !errors.Is(err, io.EOF) {
		t.Errorf("first connection ended with %v", err)
	}
	if _, ok := errors.AsType[*net.OpError](<-ends); !ok {
		t.Error("want refused connections while there is no server")
	}
	if l, err = net.Listen("tcp", addr); err != nil {
		t.Fatal(err)
	}
	serving.Go(func() { serve("3\n") })
	for !errors.Is(<-ends, io.EOF) {
	}
	serving.Wait()
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Run = %v", err)
	}
	if diff := cmp.Diff([]string{"1", "2", "3"}, blocks.Records()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// countedConn counts connections that are open.
type countedConn struct {
	net.Conn
	close func()
}

func (c *countedConn) Close() error {
	c.close()
	return c.Conn.Close()
}

// Shows SO-04.
func TestText_SO04_keeps_one_connection_over_a_thousand_reconnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const dials = 1000
		var open, most, made atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var serving sync.WaitGroup
		lines := socket.Text("server", socket.Options{Dial: func(context.Context, string) (net.Conn, error) {
			client, server := net.Pipe()
			serving.Go(func() {
				fmt.Fprintln(server, "x")
				server.Close()
			})
			most.Store(max(most.Load(), open.Add(1)))
			if made.Add(1) == dials {
				cancel()
			}
			return &countedConn{client, sync.OnceFunc(func() { open.Add(-1) })}, nil
		}})
		var blocks receiverstest.Blocks[string]
		sup, err := receivers.NewSupervisor(0, lines, &blocks, receivers.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := sup.Run(ctx); err != nil {
			t.Errorf("Run = %v", err)
		}
		serving.Wait()
		if made.Load() != dials || most.Load() != 1 || open.Load() != 0 {
			t.Errorf("%d connections made, %d open at a time, %d left open", made.Load(), most.Load(), open.Load())
		}
		if got := len(blocks.Records()); got < dials-1 {
			t.Errorf("%d lines from %d connections", got, dials)
		}
	})
}

func TestText_names_address_and_offset_of_a_line_that_is_too_long(t *testing.T) {
	addr := listen(t, func(conn net.Conn) { fmt.Fprint(conn, "ok\nfar too long\n") })
	var sink receiverstest.Sink[string]
	err := socket.Text(addr, socket.Options{MaxLine: 5}).Receive(t.Context(), &sink)
	tooLong, ok := errors.AsType[*socket.LineTooLongError](err)
	if !ok || *tooLong != (socket.LineTooLongError{Addr: addr, Offset: 3, Limit: 5}) {
		t.Errorf("Receive = %v", err)
	}
	if diff := cmp.Diff([]string{"ok"}, sink.Records()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func TestText_ends_with_its_context_while_the_server_is_silent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		defer server.Close()
		lines := socket.Text("server", socket.Options{Dial: func(context.Context, string) (net.Conn, error) { return client, nil }})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- lines.Receive(ctx, &receiverstest.Sink[string]{}) }()
		synctest.Wait()
		cancel()
		if err := <-ended; err != context.Canceled {
			t.Errorf("Receive = %v, want the context's error", err)
		}
	})
}

func TestText_gives_up_a_connection_that_is_not_made(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := socket.Text("nowhere:1", socket.Options{DialTimeout: time.Minute, Dial: func(ctx context.Context, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		began := time.Now()
		err := lines.Receive(t.Context(), &receiverstest.Sink[string]{})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Minute {
			t.Errorf("Receive = %v after %v", err, time.Since(began))
		}
	})
}

func TestText_refuses_options_that_cannot_be_used(t *testing.T) {
	err := socket.Text("a:1", socket.Options{MaxLine: -1, DialTimeout: -1}).Receive(t.Context(), nil)
	if _, ok := errors.AsType[*receivers.OptionError](err); !ok {
		t.Errorf("Receive = %v, want an OptionError", err)
	}
}
