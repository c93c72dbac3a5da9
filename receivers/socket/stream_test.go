package socket_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/leat-io/leat/receivers"
	"github.com/leat-io/leat/receivers/receiverstest"
	"github.com/leat-io/leat/receivers/socket"
)

// numbers16 decodes big-endian numbers of two bytes.
func numbers16(r io.Reader) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		var b [2]byte
		for {
			if _, err := io.ReadFull(r, b[:]); err == io.EOF {
				return
			} else if err != nil {
				yield(0, err)
				return
			}
			if !yield(int(binary.BigEndian.Uint16(b[:])), nil) {
				return
			}
		}
	}
}

func ExampleStream() {
	server, _ := net.Listen("tcp", "127.0.0.1:0")
	defer server.Close()
	served := make(chan struct{})
	go func() {
		defer close(served)
		if conn, err := server.Accept(); err == nil {
			fmt.Fprint(conn, "to;be;or;not;to;be")
			conn.Close()
		}
	}()
	words := func(r io.Reader) iter.Seq2[string, error] {
		return func(yield func(string, error) bool) {
			text, err := io.ReadAll(io.LimitReader(r, 1<<20))
			if err != nil {
				yield("", err)
				return
			}
			for word := range strings.SplitSeq(string(text), ";") {
				if !yield(word, nil) {
					return
				}
			}
		}
	}
	var sink receiverstest.Sink[string]
	err := socket.Stream(server.Addr().String(), words, socket.Options{}).Receive(context.Background(), &sink)
	<-served
	fmt.Println(sink.Records(), errors.Is(err, io.EOF))
	// Output: [to be or not to be] true
}

func TestStream(t *testing.T) {
	receiverstest.Run(t, func(t *testing.T) receiverstest.Source[int] {
		var sent atomic.Int64
		return receiverstest.Source[int]{
			Want: []int{0, 1, 2, 3, 4, 5, 6, 7},
			Read: func() int { return int(sent.Load()) },
			Receiver: socket.Stream("server", numbers16, socket.Options{Dial: func(context.Context, string) (net.Conn, error) {
				client, server := net.Pipe()
				go func() { // ends with the client's side of the pipe
					for i := 0; ; i++ {
						if _, err := server.Write(binary.BigEndian.AppendUint16(nil, uint16(i))); err != nil {
							return
						}
						sent.Add(1)
					}
				}()
				return client, nil
			}}),
		}
	})
}

func TestStream_says_where_decoding_failed(t *testing.T) {
	addr := listen(t, func(conn net.Conn) { _, _ = conn.Write([]byte{0, 1, 0, 2, 0}) })
	var sink receiverstest.Sink[int]
	err := socket.Stream(addr, numbers16, socket.Options{}).Receive(t.Context(), &sink)
	if want := "read " + addr + " at byte 5: unexpected EOF"; err == nil || err.Error() != want || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Receive = %v, want %s", err, want)
	}
	if diff := cmp.Diff([]int{1, 2}, sink.Records()); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func TestStream_refuses_a_missing_function(t *testing.T) {
	r := socket.Stream[int]("a:1", nil, socket.Options{})
	if option, ok := errors.AsType[*receivers.OptionError](r.Receive(t.Context(), nil)); !ok || option.Option != "decode" {
		t.Errorf("Receive = %v", option)
	}
}
