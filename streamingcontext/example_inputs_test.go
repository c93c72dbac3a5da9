package streamingcontext_test

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/leat-io/leat/dstream"
	"github.com/leat-io/leat/rdd"
	"github.com/leat-io/leat/rdd/codec"
	"github.com/leat-io/leat/receivers/httpin"
	"github.com/leat-io/leat/receivers/socket"
	"github.com/leat-io/leat/streamingcontext"
)

// appears makes a file appear in dir, whole, with a modification time.
func appears(dir, name, text string, ms int64) {
	path := filepath.Join(dir, name)
	_ = os.WriteFile(path, []byte(text), 0o600)
	_ = os.Chtimes(path, time.UnixMilli(ms), time.UnixMilli(ms))
}

func ExampleContext_BinaryRecords() {
	dir, _ := os.MkdirTemp("", "records")
	defer os.RemoveAll(dir)
	clock := &streamingcontext.ManualClock{}
	ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Clock: clock})
	show(dstream.Map(ssc.BinaryRecords(dir, 2), func(r []byte) string { return string(r) }))
	appears(dir, "a", "to", 500)
	appears(dir, "b", "beor", 600)
	run(ssc, clock, 2)
	// Output:
	// 1000 ms [to be or]
	// 2000 ms []
}

func ExampleFileStream() {
	dir, _ := os.MkdirTemp("", "words")
	defer os.RemoveAll(dir)
	clock := &streamingcontext.ManualClock{}
	ssc := streamingcontext.New(streamingcontext.Options{Interval: time.Second, Clock: clock})
	words := func(r io.Reader) iter.Seq2[string, error] {
		return func(yield func(string, error) bool) {
			in := bufio.NewScanner(r)
			in.Split(bufio.ScanWords)
			for in.Scan() {
				if !yield(in.Text(), nil) {
					return
				}
			}
			if err := in.Err(); err != nil {
				yield("", err)
			}
		}
	}
	show(streamingcontext.FileStream(ssc, dir, words))
	appears(dir, "a", "to be\nor not", 500)
	run(ssc, clock, 1)
	// Output: 1000 ms [to be or not]
}

// serveOnce sends what write writes to the first who connects.
func serveOnce(write func(conn net.Conn)) (addr string, served <-chan struct{}) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := l.Accept()
		_ = l.Close()
		if err == nil {
			write(conn)
			_ = conn.Close()
		}
	}()
	return l.Addr().String(), done
}

// runUntil runs batches on ssc until n records of s were seen, and prints them.
func runUntil[T any](ssc *streamingcontext.Context, s *dstream.DStream[T], n int) {
	var seen []T
	ctx, stop := signalAfter(n)
	dstream.ForeachRDD(s, collectInto(&seen, stop))
	if err := ssc.Run(ctx); err != nil {
		fmt.Println(err)
	}
	fmt.Println(seen)
}

func ExampleRawSocket() {
	addr, served := serveOnce(func(conn net.Conn) {
		rows, _ := codec.For[rdd.Pair[string, int]]()
		payload, _ := rows.Append(nil, []rdd.Pair[string, int]{{Key: "a", Value: 1}, {Key: "b", Value: 2}})
		_ = socket.WriteFrame(conn, payload)
	})
	ssc := streamingcontext.New(streamingcontext.Options{Interval: 10 * time.Millisecond})
	runUntil(ssc, streamingcontext.RawSocket[rdd.Pair[string, int]](ssc, addr), 2)
	<-served
	// Output: [(a,1) (b,2)]
}

func ExampleSocketStream() {
	addr, served := serveOnce(func(conn net.Conn) { fmt.Fprint(conn, "to be or not to be") })
	words := func(r io.Reader) iter.Seq2[string, error] {
		return func(yield func(string, error) bool) {
			in := bufio.NewScanner(r)
			in.Split(bufio.ScanWords)
			for in.Scan() && yield(in.Text(), nil) {
			}
		}
	}
	ssc := streamingcontext.New(streamingcontext.Options{Interval: 10 * time.Millisecond})
	runUntil(ssc, streamingcontext.SocketStream(ssc, addr, words), 6)
	<-served
	// Output: [to be or not to be]
}

func ExampleContext_ReaderText() {
	input := strings.NewReader("to be\nor not to be\n") // or os.Stdin
	ssc := streamingcontext.New(streamingcontext.Options{Interval: 10 * time.Millisecond})
	runUntil(ssc, dstream.FlatMap(ssc.ReaderText(input), strings.Fields), 6)
	// Output: [to be or not to be]
}

func ExampleReceive_http() {
	posted := make(chan error, 1)
	clicks := httpin.Lines("localhost:0", httpin.Options{Listening: func(addr net.Addr) {
		go func() { posted <- post("http://"+addr.String(), "home\nabout\n") }()
	}})
	ssc := streamingcontext.New(streamingcontext.Options{Interval: 10 * time.Millisecond})
	runUntil(ssc, streamingcontext.Receive(ssc, clicks), 2)
	fmt.Println(<-posted)
	// Output:
	// [home about]
	// <nil>
}
