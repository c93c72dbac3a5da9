package streamingcontext_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/httpin"
	"github.com/leat-io/leat/receivers/socket"
	"github.com/leat-io/leat/streamingcontext"
	"github.com/leat-io/leat/streamingcontext/streamtest"
)

// server serves each connection with serve and counts them.
type server struct {
	addr    string
	serving sync.WaitGroup
	mu      sync.Mutex // guards conns
	conns   int
}

func newServer(t *testing.T, serve func(net.Conn)) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{addr: l.Addr().String()}
	s.serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns++
			s.mu.Unlock()
			s.serving.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		s.serving.Wait()
	})
	return s
}

func (s *server) accepted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns
}

// received runs batches of what stream makes until n records have come, and returns them.
func received[T any](t *testing.T, n int64, stream func(ssc *streamingcontext.Context) *dstream.DStream[T]) []T {
	t.Helper()
	counts := make(chan int64, 1)
	kit := streamtest.New(t, streamtest.Options{Configure: func(o *streamingcontext.Options) {
		o.RestartDelay = time.Hour // one attempt
		o.BlockInterval = 100 * time.Millisecond
		o.Listeners = []streamingcontext.Listener{{BatchCompleted: func(b streamingcontext.BatchInfo) { counts <- b.Records() }}}
	}})
	out := streamtest.Collect(kit, stream(kit.Context()))
	for n > 0 {
		kit.Advance(1)
		n -= <-counts
	}
	var got []T
	for _, b := range out.Batches() {
		got = append(got, b...)
	}
	return got
}

// untilGone waits until the other side closes.
func untilGone(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// Shows SO-02.
func TestSocketTextConnectsOnce_SO02(t *testing.T) {
	s := newServer(t, func(conn net.Conn) {
		_, _ = io.WriteString(conn, "1\n2\n3\n")
		untilGone(conn)
	})
	got := received(t, 3, func(ssc *streamingcontext.Context) *dstream.DStream[string] {
		lines := ssc.SocketText(s.addr)
		if n := s.accepted(); n != 0 {
			t.Errorf("%d connections of a declaration", n)
		}
		return lines
	})
	if diff := cmp.Diff([]string{"1", "2", "3"}, got); diff != "" || s.accepted() != 1 {
		t.Errorf("%d connections, lines (-want +got):\n%s", s.accepted(), diff)
	}
}

func TestSocketStream(t *testing.T) {
	s := newServer(t, func(conn net.Conn) { _, _ = io.WriteString(conn, "to be or not") })
	got := received(t, 4, func(ssc *streamingcontext.Context) *dstream.DStream[string] {
		return streamingcontext.SocketStream(ssc, s.addr, words)
	})
	if diff := cmp.Diff([]string{"to", "be", "or", "not"}, got); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
}

func TestRawSocket(t *testing.T) {
	rows, err := codec.For[int]()
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, func(conn net.Conn) {
		for i := range 3 {
			payload, err := rows.Append(nil, []int{10 * i, 10*i + 1})
			if err == nil {
				err = socket.WriteFrame(conn, payload)
			}
			if err != nil {
				t.Error(err)
			}
		}
		untilGone(conn)
	})
	blocks := received(t, 6, func(ssc *streamingcontext.Context) *dstream.DStream[[]int] {
		return dstream.Glom(streamingcontext.RawSocket[int](ssc, s.addr))
	})
	if diff := cmp.Diff([][]int{{0, 1}, {10, 11}, {20, 21}}, blocks); diff != "" {
		t.Errorf("partitions (-want +got):\n%s", diff)
	}
}

func TestReaderText(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close() // never ends, and is silent after the last line
	if _, err := io.WriteString(out, "to be\nor not\n"); err != nil {
		t.Fatal(err)
	}
	got := received(t, 2, func(ssc *streamingcontext.Context) *dstream.DStream[string] { return ssc.ReaderText(in) })
	if diff := cmp.Diff([]string{"to be", "or not"}, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// A request in flight has a context of its own: it must not be told that its records are stored when they are dropped.
func TestReceiveStopsAtOnceWithoutAcknowledgement(t *testing.T) {
	ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Clock: &streamingcontext.ManualClock{}, MaxPendingRecords: 1})
	full, late := make(chan struct{}), make(chan error, 1)
	discard(streamingcontext.Receive(ssc, receivers.Func[int](func(ctx context.Context, sink receivers.Sink[int]) error {
		if err := sink.StoreBlock(ctx, []int{1}); err != nil {
			return err
		}
		close(full)
		late <- sink.StoreBlock(context.WithoutCancel(ctx), []int{2}) // waits for room
		return ctx.Err()
	})))
	if err := ssc.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-full
	stop(t, ssc)
	wantErr(t, "the block that waited", <-late, receivers.ErrDropped)
}

func TestInputsThatCanNeverWorkAreRefusedByStart(t *testing.T) {
	for name, declare := range map[string]func(ssc *streamingcontext.Context){
		"socketText":   func(ssc *streamingcontext.Context) { discard(ssc.SocketText("nowhere")) },
		"socketStream": func(ssc *streamingcontext.Context) { discard(streamingcontext.SocketStream[int](ssc, "a:1", nil)) },
		"rawSocket":    func(ssc *streamingcontext.Context) { discard(streamingcontext.RawSocket[func()](ssc, "a:1")) },
		"readerText":   func(ssc *streamingcontext.Context) { discard(ssc.ReaderText(nil)) },
		"textFiles":    func(ssc *streamingcontext.Context) { discard(ssc.TextFiles("[")) },
		"receiver": func(ssc *streamingcontext.Context) {
			discard(streamingcontext.Receive(ssc, httpin.Lines(":80", httpin.Options{})))
		},
	} {
		ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second})
		declare(ssc)
		err := ssc.Start(t.Context())
		b, ok := errors.AsType[*dstream.BuildError](err)
		if !ok || b.Op != name || !strings.Contains(b.Site, "sockets_test.go:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
